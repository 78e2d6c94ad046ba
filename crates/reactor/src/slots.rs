//! The connections of one reactor, indexed by their owner's token.
//!
//! Used by both back ends on every event. A slot is 16 bytes or so: ten thousand idle connections
//! cost a reactor as much as one page of input.

use crate::{Socket, Token};

/// Connections by token.
#[derive(Debug)]
pub(crate) struct Slots<S> {
    slots: Vec<Option<Slot<S>>>,
    live: usize,
}

/// One connection, and what its back end keeps about it.
#[derive(Debug)]
pub(crate) struct Slot<S> {
    pub(crate) socket: Socket,
    pub(crate) state: S,
}

impl<S> Slots<S> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), live: 0 }
    }

    /// How many connections there are.
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    /// Whether a connection has this token.
    #[inline]
    pub(crate) fn has(&self, token: Token) -> bool {
        self.slots.get(token.index()).is_some_and(Option::is_some)
    }

    /// Takes a connection in. The token must be free.
    pub(crate) fn insert(&mut self, token: Token, socket: Socket, state: S) {
        if self.slots.len() <= token.index() {
            self.slots.resize_with(token.index() + 1, || None);
        }
        let slot = &mut self.slots[token.index()];
        assert!(slot.is_none(), "a token names one connection at a time");
        *slot = Some(Slot { socket, state });
        self.live += 1;
    }

    /// Takes a connection out.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Slot<S>> {
        let slot = self.slots.get_mut(token.index())?.take();
        self.live -= usize::from(slot.is_some());
        slot
    }

    /// A connection; none if it was detached.
    #[inline]
    pub(crate) fn find(&mut self, token: Token) -> Option<&mut Slot<S>> {
        self.slots.get_mut(token.index())?.as_mut()
    }

    /// A connection that the owner says is attached.
    #[inline]
    pub(crate) fn expect(&mut self, token: Token) -> &mut Slot<S> {
        self.find(token).expect("the owner names attached connections only")
    }
}
