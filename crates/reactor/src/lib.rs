//! Event loops over io_uring and epoll: sockets in, readiness and bytes out.
//!
//! The lowest stone of a request's path: [`Acceptor`] waits for new connections and signals on the
//! main thread; each worker thread owns one [`Reactor`], which tells which of its connections have
//! input, receives it straight into the connection's buffer, and sends replies. The crate knows
//! nothing of protocols, commands or configuration.
//!
//! What must stay true:
//! * a reactor belongs to one thread; only its [`Waker`] crosses threads;
//! * nothing here blocks but [`Reactor::turn`] and [`Acceptor::turn`], and nothing spins;
//! * an idle connection costs one small slot and no buffer;
//! * `unsafe` stands in `signals`, `ring` and `ticks` only, one operation a block.

mod acceptor;
mod epoll;
mod event;
mod process;
mod reactor;
mod ring;
mod signals;
mod slots;
mod socket;
mod ticks;
mod uring;
mod waker;

pub use acceptor::{Acceptor, Arrival};
pub use event::{Event, Received, Token};
pub use process::{files_max, notify_supervisor, raise_files_max, terminate_self};
pub use reactor::{Backend, Kind, Reactor};
pub use signals::{Signal, Signals};
pub use socket::{Keepalive, Listener, Peer, Socket};
pub use ticks::nanos;
pub use waker::Waker;

#[cfg(test)]
mod tests;
