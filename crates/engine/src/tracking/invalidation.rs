//! The message that keys have changed: a push in RESP3, a message of a channel to a subscriber in
//! RESP2 to whom another connection redirects.

use caudal_wire::{Output, Protocol, Reply};

/// Keys that changed, encoded; or everything.
pub(crate) struct Invalidation {
    /// The array of keys; empty for everything.
    keys: Vec<u8>,
}

impl Invalidation {
    /// Some keys changed.
    pub(crate) fn of<'k>(keys: impl ExactSizeIterator<Item = &'k [u8]>) -> Invalidation {
        let mut output = Output::new();
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.array(keys.len());
        keys.for_each(|key| reply.bulk(key));
        Invalidation { keys: std::mem::take(output.tail()) }
    }

    /// Everything is gone.
    pub(crate) const EVERYTHING: Invalidation = Invalidation { keys: Vec::new() };

    /// Memory that it keeps, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.len()
    }

    /// Appends it. In RESP2 it says nothing to a connection that is not `is_channel`: a subscriber
    /// to whom another redirects.
    pub(super) fn append_to(&self, output: &mut Output, protocol: Protocol, is_channel: bool) {
        let mut reply = Reply::new(output, protocol);
        match protocol {
            Protocol::Resp3 => {
                reply.push(2);
                reply.bulk(b"invalidate");
            }
            Protocol::Resp2 if is_channel => {
                reply.push(3);
                reply.bulk(b"message");
                reply.bulk(b"__redis__:invalidate");
            }
            Protocol::Resp2 => return,
        }
        if self.keys.is_empty() {
            reply.null();
        } else {
            reply.raw(&self.keys);
        }
    }
}

/// Tells a connection that the one it redirects to is gone.
pub(super) fn append_broken(output: &mut Output, protocol: Protocol, target: u64) {
    if protocol == Protocol::Resp3 {
        let mut reply = Reply::new(output, protocol);
        reply.push(2);
        reply.bulk(b"tracking-redir-broken");
        reply.integer(i64::try_from(target).unwrap_or(i64::MAX));
    }
}
