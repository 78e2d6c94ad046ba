//! The worker threads: started together, stopped together.
//!
//! Between `startup`, which has them started, and the acceptor's loop, which gives them
//! connections. What must stay true: a worker that ends without having been told to is noticed,
//! whatever ended it, because its connections are gone and the slots it held may be locked for
//! ever.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use caudal_engine::Engine;
use caudal_reactor::{Backend, Reactor, Waker};

use crate::inbox::{Inbox, Newcomer};
use crate::tls::Keeper;
use crate::worker::Worker;

/// All workers of the process.
pub(crate) struct Crew {
    members: Vec<Member>,
}

struct Member {
    inbox: Arc<Inbox>,
    ended: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<()>>,
}

impl Crew {
    /// Starts `count` workers. Each wakes `watcher` when it ends.
    ///
    /// # Errors
    /// A thread or its reactor could not be made.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        count: usize,
        backend: Backend,
        keeper: Option<&Arc<Keeper>>,
        watcher: &Waker,
    ) -> io::Result<Self> {
        let mut crew = Self { members: Vec::with_capacity(count) };
        for id in 0..count {
            match Member::start(engine, id, backend, keeper, watcher) {
                Ok(member) => crew.members.push(member),
                Err(error) => {
                    crew.stop();
                    return Err(error);
                }
            }
        }
        Ok(crew)
    }

    /// Hands a connection to the worker that has fewest.
    pub(crate) fn give(&self, newcomer: Newcomer) {
        let idlest = self.members.iter().min_by_key(|member| member.inbox.load());
        idlest.expect("there is at least one worker").inbox.give(newcomer);
    }

    /// Tells all workers to stop. They finish their turn first.
    pub(crate) fn stop(&self) {
        self.members.iter().for_each(|member| member.inbox.stop());
    }

    /// Whether some worker has ended.
    pub(crate) fn has_loss(&self) -> bool {
        self.members.iter().any(Member::has_ended)
    }

    /// Whether all workers have ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.members.iter().all(Member::has_ended)
    }

    /// Waits for all workers, and says what the first one that failed died of.
    pub(crate) fn join(self) -> Result<(), String> {
        let mut outcome = Ok(());
        for (id, member) in self.members.into_iter().enumerate() {
            let died = match member.thread.join() {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => format!("Worker {id} failed: {error}"),
                Err(_) => format!("Worker {id} panicked"),
            };
            outcome = outcome.and(Err(died));
        }
        outcome
    }
}

impl Member {
    fn start(
        engine: &Arc<Engine>,
        id: usize,
        backend: Backend,
        keeper: Option<&Arc<Keeper>>,
        watcher: &Waker,
    ) -> io::Result<Self> {
        let keeper = keeper.map(Arc::clone);
        let (report, reported) = mpsc::sync_channel(1);
        let ended = Arc::new(AtomicBool::new(false));
        let farewell = Farewell { ended: Arc::clone(&ended), watcher: watcher.clone() };
        let engine = Arc::clone(engine);
        let body = move || {
            let _farewell = farewell;
            // A reactor is made on its own thread: a ring knows its thread.
            let (reactor, inbox) = match Reactor::new(backend) {
                Err(error) => {
                    let kind = error.kind();
                    // Whoever starts a worker waits for this report.
                    let _ = report.send(Err(error));
                    return Err(kind.into());
                }
                Ok(reactor) => {
                    let inbox = Arc::new(Inbox::new(reactor.waker()));
                    (reactor, inbox)
                }
            };
            let waker = reactor.waker();
            let worker = engine.worker(id, move || waker.wake());
            let _ = report.send(Ok(Arc::clone(&inbox)));
            Worker::new(engine, worker, reactor, inbox, keeper).run()
        };
        let thread = thread::Builder::new().name(format!("worker-{id}")).spawn(body)?;
        match reported.recv() {
            Ok(Ok(inbox)) => Ok(Self { inbox, ended, thread }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(io::Error::other("a worker ended before it began")),
        }
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }
}

/// Tells of a thread's end, by a return or by a panic.
struct Farewell {
    ended: Arc<AtomicBool>,
    watcher: Waker,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        self.watcher.wake();
    }
}
