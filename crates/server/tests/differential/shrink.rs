//! From a long run that fails to a few steps that fail in the same way.

use crate::Step;
use crate::compare;
use crate::peers::{Divergence, Peers};
use std::fmt;
use std::time::{Duration, Instant};

/// A person waits for it.
const SHRINK_MAX: Duration = Duration::from_secs(60);

/// Shown if there is no shrinking.
const LAST_STEPS: usize = 20;

/// A failure, and all that leads to it.
pub(crate) struct Story {
    steps: Vec<Step>,
    divergence: Box<Divergence>,
}

/// Leaves out whatever is not needed for a difference. A server that is gone, or busy for ever, is
/// not asked again.
pub(crate) fn shrink(
    peers: &Peers,
    mut steps: Vec<Step>,
    divergence: Box<Divergence>,
) -> (Vec<Step>, Story) {
    steps.truncate(divergence.step + 1);
    let mut story = Story { steps: steps.clone(), divergence };
    if story.divergence.is_end() {
        story.steps.drain(..story.steps.len().saturating_sub(LAST_STEPS));
        return (steps, story);
    }
    let begin = Instant::now();
    let mut size = steps.len().div_ceil(2);
    while size > 0 && begin.elapsed() < SHRINK_MAX {
        let mut at = 0;
        while at < steps.len() && begin.elapsed() < SHRINK_MAX {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            match peers.run(&fewer) {
                Ok(()) => at += size,
                Err(divergence) => {
                    fewer.truncate(divergence.step + 1);
                    story = Story { steps: fewer.clone(), divergence };
                    steps = fewer;
                }
            }
        }
        size /= 2;
    }
    (steps, story)
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let protocol = if step.is_resp3 { "RESP3" } else { "RESP2" };
            for command in &step.commands {
                writeln!(f, "{protocol}> {}", compare::spell(command))?;
            }
        }
        write!(f, "{}", self.divergence)
    }
}
