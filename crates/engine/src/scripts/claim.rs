//! What a script has been found to need beside its declared keys.

use crate::atomic::{Claim, Trouble};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Kept beside a script or a function: one that had to begin again once has from then on what it
/// needs before it starts.
#[derive(Debug, Default)]
pub(crate) struct Learned(AtomicU8);

impl Learned {
    /// What to begin with.
    pub(crate) fn claim(&self) -> Claim {
        match self.0.load(Relaxed) {
            0 => Claim::Keys,
            1 => Claim::Token,
            _ => Claim::Gate,
        }
    }

    /// A run had to begin again.
    pub(crate) fn learn(&self, trouble: Trouble) {
        let needs = match trouble {
            Trouble::Busy(_) => 1,
            Trouble::Gate => 2,
        };
        self.0.fetch_max(needs, Relaxed);
    }
}
