//! Event loops over io_uring and epoll: sockets, timers, mailboxes.
