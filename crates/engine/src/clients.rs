//! What all workers may know of a connection: CLIENT LIST, KILL, UNBLOCK read it without asking its
//! worker.

use crate::connection::Peer;
use crate::pubsub::TOPICS;
use caudal_keyspace::Waiter;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The public face of one connection. Its worker writes, everybody reads.
#[derive(Debug)]
pub(crate) struct ClientInfo {
    pub(crate) id: u64,
    pub(crate) worker: u16,
    pub(crate) peer: Peer,
    /// Unix milliseconds.
    pub(crate) opened_ms: u64,
    /// Unix milliseconds of the last turn in which it was heard.
    pub(crate) heard_ms: AtomicU64,
    pub(crate) database: AtomicU8,
    /// 2 or 3.
    pub(crate) protocol: AtomicU8,
    /// Index of its last command in the catalog plus one; zero: none yet.
    pub(crate) command: AtomicU16,
    pub(crate) commands: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    /// Bytes received and not yet executed.
    pub(crate) input: AtomicU64,
    /// Bytes of replies not yet sent.
    pub(crate) output: AtomicU64,
    /// Commands queued by MULTI plus one; zero: not in a transaction.
    pub(crate) queued: AtomicU32,
    /// Keys watched.
    pub(crate) watched: AtomicU32,
    /// Names subscribed to, by topic.
    pub(crate) subscriptions: [AtomicU32; TOPICS],
    /// How it tracks: bits of [`crate::tracking::face`].
    pub(crate) tracking: AtomicU8,
    /// The connection that it redirects invalidations to; 0: none.
    pub(crate) redirection: AtomicU64,
    /// MONITOR.
    pub(crate) is_monitor: AtomicBool,
    pub(crate) no_evict: AtomicBool,
    pub(crate) no_touch: AtomicBool,
    /// CLIENT CAPA: the client follows redirections.
    pub(crate) follows_redirections: AtomicBool,
    /// CLIENT PAUSE holds its next command.
    pub(crate) paused: AtomicBool,
    /// CLIENT KILL marked it.
    pub(crate) killed: AtomicBool,
    pub(crate) text: Mutex<ClientText>,
}

/// The parts of a connection's face that are words.
#[derive(Debug, Default)]
pub(crate) struct ClientText {
    pub(crate) name: Vec<u8>,
    pub(crate) user: Vec<u8>,
    pub(crate) library_name: Vec<u8>,
    pub(crate) library_version: Vec<u8>,
    /// The blocking command that it waits in.
    pub(crate) waiter: Option<Arc<Waiter>>,
    /// Whether that wait ends by itself.
    pub(crate) waits_for_a_time: bool,
}

impl ClientInfo {
    /// The face of a new connection.
    pub(crate) fn new(id: u64, worker: u16, peer: Peer, now_ms: u64) -> ClientInfo {
        ClientInfo {
            id,
            worker,
            peer,
            opened_ms: now_ms,
            heard_ms: AtomicU64::new(now_ms),
            database: AtomicU8::new(0),
            protocol: AtomicU8::new(2),
            command: AtomicU16::new(0),
            commands: AtomicU64::new(0),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            input: AtomicU64::new(0),
            output: AtomicU64::new(0),
            queued: AtomicU32::new(0),
            watched: AtomicU32::new(0),
            subscriptions: Default::default(),
            tracking: AtomicU8::new(0),
            redirection: AtomicU64::new(0),
            is_monitor: AtomicBool::new(false),
            no_evict: AtomicBool::new(false),
            no_touch: AtomicBool::new(false),
            follows_redirections: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            killed: AtomicBool::new(false),
            text: Mutex::default(),
        }
    }

    /// Whether it waits for a key or for the end of a pause.
    pub(crate) fn is_blocked(&self) -> bool {
        self.paused.load(Relaxed) || self.text().waiter.is_some()
    }

    /// Whether it subscribes to anything.
    pub(crate) fn is_subscriber(&self) -> bool {
        self.subscriptions.iter().any(|names| names.load(Relaxed) > 0)
    }

    /// The words, for a moment.
    pub(crate) fn text(&self) -> MutexGuard<'_, ClientText> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All connections of the process, by id.
#[derive(Default)]
pub(crate) struct Clients {
    all: Mutex<BTreeMap<u64, Arc<ClientInfo>>>,
    next_id: AtomicU64,
}

impl Clients {
    /// A fresh id: ids only grow.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Relaxed) + 1
    }

    /// Adds a connection.
    pub(crate) fn add(&self, info: Arc<ClientInfo>) {
        self.lock().insert(info.id, info);
    }

    /// Removes one.
    pub(crate) fn remove(&self, id: u64) {
        self.lock().remove(&id);
    }

    /// The connection with this id.
    pub(crate) fn find(&self, id: u64) -> Option<Arc<ClientInfo>> {
        self.lock().get(&id).cloned()
    }

    /// All connections that nobody has killed, by id.
    pub(crate) fn list(&self) -> Vec<Arc<ClientInfo>> {
        self.lock().values().filter(|info| !info.killed.load(Relaxed)).cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<ClientInfo>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
