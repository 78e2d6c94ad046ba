//! The Caudal server.
#![forbid(unsafe_code)]
mod inbox;
#[path = "stub.rs"]
mod engine;
mod worker;
use caudal_reactor::*;
use std::sync::Arc;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let port: u16 = args[1].parse().expect("port");
    let backend = match args[2].as_str() { "io_uring" => Backend::IoUring, "epoll" => Backend::Epoll, _ => Backend::Auto };
    let threads: usize = args[3].parse().expect("threads");
    let l = Listener::tcp(([127, 0, 0, 1], port).into(), 511).expect("listen");
    let mut boxes = Vec::new();
    for _ in 0..threads {
        let (tx, rx) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let r = Reactor::new(backend).expect("reactor");
            let inbox = Arc::new(inbox::Inbox::new(r.waker()));
            tx.send(Arc::clone(&inbox)).expect("send");
            worker::Worker::new(engine::Worker::default(), r, inbox, None).run().expect("run");
        });
        boxes.push(rx.recv().expect("recv"));
    }
    let mut a = Acceptor::new(vec![l], None).expect("acceptor");
    let mut arr = Vec::new();
    loop {
        a.turn(None, &mut arr).expect("turn");
        for x in arr.drain(..) {
            if let Arrival::Connection(s, p) = x { boxes.iter().min_by_key(|b| b.load()).expect("some").give(s, p); }
        }
    }
}
