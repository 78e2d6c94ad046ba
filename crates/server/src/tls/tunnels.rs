//! A worker's encrypted connections, and whose handshake goes on in this turn.
//!
//! The worker asks here whether a connection is encrypted: a look into a table that is empty as
//! long as no connection is. A step of a handshake may cost a millisecond where a command costs a
//! microsecond, so only so many are taken in a turn; the others wait, paused, first come first
//! served. What must stay true: whoever waits is called; a handshake that does not end in time is
//! told by [`Tunnels::next_late`], once.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use caudal_engine::Token;
use caudal_engine::config::Tls;

use super::{Keeper, Tunnel};

/// The encrypted connections of one worker.
#[derive(Default)]
pub(crate) struct Tunnels {
    keeper: Option<Arc<Keeper>>,
    by_token: Vec<Option<Box<Place>>>,
    /// Monotonic microseconds at which a handshake must be over, and whose it is.
    deadlines: BTreeSet<(u64, Token)>,
    /// Whose handshake waits for a turn; may hold connections that are gone.
    waiting: VecDeque<Token>,
    steps_per_turn: u32,
    /// Steps that newcomers may take in this turn. <= steps_per_turn
    steps_left: u32,
}

struct Place {
    tunnel: Tunnel,
    deadline_us: u64,
    turn: Turn,
}

/// Where a handshake stands in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nowhere.
    Outside,
    /// It waits.
    Waiting,
    /// It may take its step.
    Called,
}

impl Tunnels {
    /// Without connections. Without a keeper there never is one.
    pub(crate) fn new(keeper: Option<Arc<Keeper>>) -> Self {
        Self { keeper, ..Self::default() }
    }

    /// The connection's tunnel, if it is encrypted.
    #[inline]
    pub(crate) fn find(&mut self, token: Token) -> Option<&mut Tunnel> {
        Some(&mut self.by_token.get_mut(token)?.as_mut()?.tunnel)
    }

    /// Encrypts a new connection.
    ///
    /// # Errors
    /// It cannot be: close it.
    pub(crate) fn add(
        &mut self,
        token: Token,
        settings: &Tls,
        now_us: u64,
    ) -> Result<(), rustls::Error> {
        let keeper = self.keeper.as_ref().expect("who listens for TLS has a keeper");
        let tunnel = Tunnel::new(keeper.config())?;
        let deadline_us = now_us + u64::from(settings.handshake_seconds_max) * 1_000_000;
        self.steps_per_turn = settings.handshakes_per_turn;
        self.insert(token, tunnel, deadline_us);
        Ok(())
    }

    fn insert(&mut self, token: Token, tunnel: Tunnel, deadline_us: u64) {
        if self.deadlines.is_empty() {
            self.steps_left = self.steps_per_turn;
        }
        self.deadlines.insert((deadline_us, token));
        if self.by_token.len() <= token {
            self.by_token.resize_with(token + 1, || None);
        }
        let place = Place { tunnel, deadline_us, turn: Turn::Outside };
        self.by_token[token] = Some(Box::new(place));
    }

    /// Takes a connection out, if it is encrypted.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Tunnel> {
        let place = self.by_token.get_mut(token)?.take()?;
        self.deadlines.remove(&(place.deadline_us, token));
        Some(place.tunnel)
    }

    /// Whether a connection may take a step of its handshake now. If not, it waits: pause it until
    /// [`Self::call`] names it.
    pub(crate) fn may_step(&mut self, token: Token) -> bool {
        let Some(Some(place)) = self.by_token.get_mut(token) else { return true };
        match place.turn {
            Turn::Called => place.turn = Turn::Outside,
            Turn::Waiting => return false,
            Turn::Outside if self.waiting.is_empty() && self.steps_left > 0 => self.steps_left -= 1,
            Turn::Outside => {
                place.turn = Turn::Waiting;
                self.waiting.push_back(token);
                return false;
            }
        }
        true
    }

    /// A handshake is over.
    pub(crate) fn on_handshake(&mut self, token: Token) {
        if let Some(Some(place)) = self.by_token.get(token) {
            self.deadlines.remove(&(place.deadline_us, token));
        }
    }

    /// At the end of a turn: names those whose step comes in the next one.
    pub(crate) fn call(&mut self, mut resume: impl FnMut(Token)) {
        let mut called = 0;
        while called < self.steps_per_turn {
            let Some(token) = self.waiting.pop_front() else { break };
            // It may be gone, and another one may have its token.
            if let Some(Some(place)) = self.by_token.get_mut(token)
                && place.turn == Turn::Waiting
            {
                place.turn = Turn::Called;
                called += 1;
                resume(token);
            }
        }
        self.steps_left = self.steps_per_turn - called;
    }

    /// A connection whose handshake is not over in time: close it.
    pub(crate) fn next_late(&mut self, now_us: u64) -> Option<Token> {
        let &(deadline_us, token) = self.deadlines.first()?;
        (deadline_us <= now_us).then(|| {
            self.deadlines.pop_first();
            token
        })
    }

    /// Monotonic microseconds at which [`Self::next_late`] may have something to tell.
    pub(crate) fn next_deadline_us(&self) -> Option<u64> {
        self.deadlines.first().map(|(deadline_us, _)| *deadline_us)
    }

    /// Tells of a connection that could not be encrypted.
    pub(crate) fn tell_failure(&self, peer: &str, reason: &dyn std::fmt::Display) {
        if let Some(keeper) = &self.keeper {
            keeper.tell_failure(peer, reason);
        }
    }
}

#[cfg(test)]
mod tests;
