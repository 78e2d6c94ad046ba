//! A store, and a second one that is made of the first one's effects.

use super::store;
use caudal_engine::local::{Client, Local, encode};

/// Draws numbers below a bound, from a seed. (xorshift64)
pub(crate) fn draws(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    move |bound| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).expect("31 bits") % bound
    }
}

/// The two stores, each with a client.
pub(crate) struct Pair {
    first: (Local, Client),
    second: (Local, Client),
    /// How far the second one's clock is behind.
    behind_ms: u64,
}

impl Pair {
    pub(crate) fn new() -> Pair {
        let (mut local, client) = store();
        local.worker(0).listen_to_effects();
        Pair { first: (local, client), second: store(), behind_ms: 0 }
    }

    /// Lets time pass for the first one: what happens to the second one follows from the effects.
    pub(crate) fn pass(&mut self, ms: u64) {
        self.first.0.advance_ms(ms);
        self.behind_ms += ms;
    }

    /// Runs a command in the first store, waits for its reply, and gives its effects to the second.
    /// Returns them.
    pub(crate) fn run(&mut self, command: &str, wait_ms: u64) -> String {
        let client = self.first.1;
        let words = caudal_text::words::split(command.as_bytes()).expect("quotes");
        self.first.0.send(client, &encode(&words));
        if wait_ms > 0 {
            self.pass(wait_ms);
        }
        self.first.0.receive(client);
        let effects = self.first.0.worker(0).take_effects();
        let (second, replay) = &mut self.second;
        second.send(*replay, &effects);
        let replies = String::from_utf8_lossy(&second.receive(*replay)).into_owned();
        assert!(!replies.contains("-ERR"), "{command}: {replies}");
        String::from_utf8_lossy(&effects).into_owned()
    }

    /// Sets the second one's clock as far as the first one's.
    pub(crate) fn catch_up(&mut self) {
        self.second.0.advance_ms(std::mem::take(&mut self.behind_ms));
    }

    /// Asserts that `look` finds the same in both.
    pub(crate) fn compare<R: PartialEq + std::fmt::Debug>(
        &mut self,
        after: &str,
        mut look: impl FnMut(&mut Local, Client) -> R,
    ) {
        let (first, second) = (&mut self.first, &mut self.second);
        assert_eq!(look(&mut first.0, first.1), look(&mut second.0, second.1), "{after}");
    }
}
