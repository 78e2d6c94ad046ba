//! Messages between workers. Sending never waits; the receiver reads its mail once a turn.

use crate::pubsub::{Floods, Post, Postbox};
use caudal_wire::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What one worker tells another about one of its connections, or about the gate.
pub(crate) enum Mail {
    /// A busy slot was unlocked: the connection's command runs again.
    Unparked { connection: u64 },
    /// The connection's blocking command was served; with this reply.
    Served { connection: u64, reply: Output },
    /// CLIENT UNBLOCK claimed the connection's waiter.
    Unblocked { connection: u64, with_error: bool },
    /// CLIENT KILL marked the connection.
    Killed { connection: u64 },
    /// The gate that this worker closed is complete, or one that it waited for has opened.
    Gate,
    /// This worker was handed the token.
    Token,
    /// A script has run too long: what waits for it is told so.
    Busy,
    /// SCRIPT FLUSH: compiled scripts go.
    ScriptsFlushed,
    /// CLIENT UNPAUSE: connections that were set aside go on.
    Unpaused,
    /// The users changed.
    Users,
    /// No worker is flooded with post any more.
    Drained,
}

/// Wakes the thread that runs a worker.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;

/// One worker's mail.
#[derive(Default)]
pub(crate) struct Mailbox {
    mail: Mutex<Vec<Mail>>,
    /// Whether `mail` may hold something: read each turn without the lock.
    full: AtomicBool,
    /// Messages for the worker's connections.
    postbox: Postbox,
    wake: OnceLock<Wake>,
}

impl Mailbox {
    /// How the receiver is woken.
    pub(crate) fn set_wake(&self, wake: Wake) {
        assert!(self.wake.set(wake).is_ok(), "a worker is taken once");
    }

    /// Leaves a message.
    pub(crate) fn send(&self, mail: Mail) {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).push(mail);
        // Only the first message of a turn wakes: the receiver clears the mark before it reads.
        if !self.full.swap(true, Ordering::AcqRel) {
            self.wake();
        }
    }

    /// Leaves a message for connections of the worker.
    pub(crate) fn post(&self, post: Post, floods: &Floods) {
        if self.postbox.leave(post, floods) {
            self.wake();
        }
    }

    /// Where such messages wait.
    pub(crate) fn postbox(&self) -> &Postbox {
        &self.postbox
    }

    fn wake(&self) {
        if let Some(wake) = self.wake.get() {
            wake();
        }
    }

    /// Takes all messages.
    pub(crate) fn take(&self) -> Vec<Mail> {
        if !self.full.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        std::mem::take(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is something to take.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire) || self.postbox.is_full()
    }
}
