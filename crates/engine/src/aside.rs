//! While a script runs too long: the program looks at its sockets in the middle of a turn.
//!
//! What the other connections say meanwhile `batch.rs` runs, or answers with BUSY. What must stay
//! true: for the script, time stands still.

use crate::worker::{Token, Worker};

/// What the program does while a script runs too long.
pub(crate) type Interlude = Box<dyn FnMut(&mut Worker)>;

impl Worker {
    /// Has `look` called again and again while a script runs too long: it receives what is there,
    /// calls [`Worker::run_aside`], and sends.
    pub fn set_interlude(&mut self, look: impl FnMut(&mut Worker) + 'static) {
        self.interlude = Some(Box::new(look));
    }

    /// Lets the program look at its sockets in the middle of a turn.
    pub(crate) fn look_aside(&mut self) {
        let Some(mut interlude) = self.interlude.take() else { return };
        let now = self.now;
        self.is_busy = true;
        interlude(self);
        self.is_busy = false;
        self.now = now;
        self.interlude = Some(interlude);
    }

    /// Whether a connection is at hand: the one whose script runs is not, nor are those whose
    /// commands came with it.
    pub fn is_at_hand(&self, token: Token) -> bool {
        self.connections[token].is_some()
    }
}
