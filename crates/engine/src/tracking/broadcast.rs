//! Broadcast mode: the changes of a batch, sorted by the prefixes that somebody wants.

use super::Invalidation;
use crate::connection::Connection;
use crate::pubsub::Post;
use crate::worker::Worker;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Keys with a prefix that changed.
pub(crate) struct Broadcast {
    pub(crate) prefix: Arc<[u8]>,
    /// Each key once, with the connection that changed it last; 0: none did.
    keys: Vec<(Box<[u8]>, u64)>,
    /// For those who want all of them.
    all: Arc<Invalidation>,
}

impl Broadcast {
    /// Memory that it keeps, roughly.
    pub(crate) fn bytes(&self) -> usize {
        2 * self.all.bytes()
    }

    /// What it says to a connection; nothing if all changes are its own and it does not want these.
    fn for_connection(&self, id: u64, skips_own: bool) -> Option<Arc<Invalidation>> {
        if !skips_own || self.keys.iter().all(|(_, author)| *author != id) {
            return Some(Arc::clone(&self.all));
        }
        let others = self.keys.iter().filter(|(_, author)| *author != id);
        let others: Vec<&[u8]> = others.map(|(key, _)| &**key).collect();
        (!others.is_empty()).then(|| Arc::new(Invalidation::of(others.into_iter())))
    }
}

impl Worker {
    /// Posts what this worker's commands changed since it last did to those who want all changes.
    pub(crate) fn broadcast_changes(&mut self) {
        let changes = self.effects.news.take_changes();
        if changes.is_empty() {
            return;
        }
        let pubsub = &self.engine.pubsub;
        let Some(prefixes) = pubsub.prefixes() else { return };
        let lengths: BTreeSet<usize> = prefixes.keys().map(|prefix| prefix.len()).collect();
        let mut by_prefix: HashMap<&Arc<[u8]>, HashMap<&[u8], u64>> = HashMap::new();
        for (key, author) in &changes {
            for length in lengths.range(..=key.len()) {
                if let Some((prefix, _)) = prefixes.get_key_value(&key[..*length]) {
                    by_prefix.entry(prefix).or_default().insert(key, *author);
                }
            }
        }
        for (prefix, keys) in by_prefix {
            let mut keys: Vec<(Box<[u8]>, u64)> =
                keys.into_iter().map(|(key, author)| (key.into(), author)).collect();
            keys.sort_unstable();
            let all = Arc::new(Invalidation::of(keys.iter().map(|(key, _)| &**key)));
            let broadcast = Arc::new(Broadcast { prefix: Arc::clone(prefix), keys, all });
            for (worker, _) in &prefixes[prefix] {
                pubsub.post_to(*worker, Post::Broadcast(Arc::clone(&broadcast)));
            }
        }
    }

    /// Tells a connection that wants all changes of the prefix.
    pub(crate) fn hear_broadcast(&mut self, connection: &mut Connection, broadcast: &Broadcast) {
        let Some(tracking) = &connection.tracking else { return };
        let what = broadcast.for_connection(connection.info.id, tracking.skips_own());
        if let Some(what) = what {
            self.invalidate(connection, &what);
        }
    }
}
