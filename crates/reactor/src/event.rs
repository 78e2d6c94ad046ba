//! What a reactor tells its owner.
//!
//! Produced by `Reactor::turn`, consumed by the worker's loop in the same turn.

use std::io;

/// Names one connection of one reactor. The owner chooses it, as an index that it also uses for its
/// own table, so that neither side needs a map; it may be used again once detached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u32);

impl Token {
    /// The token as an index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something that happened to a connection.
#[derive(Debug)]
pub enum Event {
    /// There is input, or the peer closed: answer with one `receive`, or with `pause`.
    Readable(Token),
    /// A send that was short can be continued.
    Writable(Token),
    /// The connection broke outside of a call to `receive` or `send`: answer with `detach`.
    Failed(Token, io::Error),
}

impl Event {
    /// The connection that it happened to.
    pub fn token(&self) -> Token {
        match self {
            Self::Readable(token) | Self::Writable(token) | Self::Failed(token, _) => *token,
        }
    }
}

/// What one `receive` brought.
#[derive(Debug)]
pub enum Received {
    /// So many bytes were appended; never 0.
    Bytes(usize),
    /// Nothing there after all. An event will come when that changes.
    Nothing,
    /// The peer will send no more.
    Closed,
    /// The connection broke: answer with `detach`.
    Failed(io::Error),
}
