//! The token: one a keyspace, for commands that wait for slots while they hold others.
//!
//! A worker takes it for such a command and gives it back with the end of its batch. What must stay
//! true: one worker has it at most; who found it taken is handed it, in order, and told; whoever
//! has it gives it back without waiting for anybody but those who hold a slot, and they wait for
//! nobody. `tests/token_loom.rs` explores all interleavings of small cases.

#[cfg(loom)]
use loom::sync::Mutex;
#[cfg(not(loom))]
use std::sync::Mutex;

use std::collections::VecDeque;
use std::sync::PoisonError;

/// The token of a keyspace.
#[derive(Debug, Default)]
pub struct Token {
    line: Mutex<Line>,
}

/// Who has it, and who comes next.
#[derive(Debug, Default)]
struct Line {
    holder: Option<u16>,
    /// Workers that found it taken, each once, without the holder.
    waiting: VecDeque<u16>,
}

impl Token {
    /// A token that nobody has.
    pub fn new() -> Token {
        Token { line: Mutex::new(Line::default()) }
    }

    /// Takes it for `worker`, which may have it already. False: another worker has it, and `worker`
    /// stands in line until [`Token::give_back`] names it.
    #[must_use]
    pub fn take(&self, worker: u16) -> bool {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        match line.holder {
            None => line.holder = Some(worker),
            Some(holder) if holder == worker => {}
            Some(_) => {
                if !line.waiting.contains(&worker) {
                    line.waiting.push_back(worker);
                }
                return false;
            }
        }
        true
    }

    /// Takes it from `worker`, which has it. The worker that stands in line longest has it now, and
    /// is to be told.
    #[must_use]
    pub fn give_back(&self, worker: u16) -> Option<u16> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        debug_assert_eq!(line.holder, Some(worker), "who gives it back has it");
        line.holder = line.waiting.pop_front();
        line.holder
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn it_is_handed_on_in_order() {
        let token = Token::new();
        assert!(token.take(0) && token.take(0));
        assert!(!token.take(2) && !token.take(1) && !token.take(2));
        assert_eq!(token.give_back(0), Some(2));
        assert!(!token.take(0));
        assert!(token.take(2));
        assert_eq!(token.give_back(2), Some(1));
        assert_eq!(token.give_back(1), Some(0));
        assert_eq!(token.give_back(0), None);
        assert!(token.take(1));
    }
}
