//! Members with their scores in a reply: flat in RESP2, in pairs in RESP3.

use crate::context::reply_item;
use caudal_value::Item;
use caudal_wire::{Protocol, Reply};

/// How a list of members is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scored {
    /// Members alone.
    Bare,
    /// Member, score, member, score; each pair in an array of its own in RESP3.
    WithScores,
    /// Each pair in an array of its own in either protocol.
    InPairs,
    /// Member and score as parts of an array that is already open.
    Inside,
}

impl Scored {
    /// With or without scores.
    pub(super) fn with(scores: bool) -> Scored {
        if scores { Scored::WithScores } else { Scored::Bare }
    }

    /// Begins a list of `len` members.
    pub(super) fn open(self, reply: &mut Reply<'_>, len: usize) {
        if self == Scored::Inside {
            return;
        }
        let flat = self == Scored::WithScores && reply.protocol() == Protocol::Resp2;
        reply.array(if flat { 2 * len } else { len });
    }

    /// Writes one of them.
    #[inline]
    pub(super) fn member(self, reply: &mut Reply<'_>, member: Item<'_>, score: f64) {
        match self {
            Scored::Bare => return reply_item(reply, member),
            Scored::Inside => {}
            Scored::WithScores if reply.protocol() == Protocol::Resp2 => {}
            Scored::WithScores | Scored::InPairs => reply.array(2),
        }
        reply_item(reply, member);
        reply.double(score);
    }
}
