//! The secret behind the hashes of fields and members.
//!
//! Large collections are ordered by hash, so whoever can make hashes collide can make them slow: a
//! server sets a random seed before its first command. What must stay true: the seed never changes
//! once something was hashed, for trees are ordered by it.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};
use std::sync::OnceLock;

/// Sets the seed of this process. Call it once, before any collection exists. False when a seed
/// was set or used before: then that one stays.
pub fn set(seed: u64) -> bool {
    SECRETS.set(RapidSecrets::seed(seed)).is_ok()
}

/// The hash that large collections are ordered by. 32 bits: a million members share one some
/// hundred times, which comparing them then decides.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u32 {
    let secrets = SECRETS.get_or_init(|| RapidSecrets::seed(SEED_DEFAULT));
    (rapidhash_v3_seeded(bytes, secrets) >> 32) as u32
}

static SECRETS: OnceLock<RapidSecrets> = OnceLock::new();

/// The seed of tests and tools that set none.
const SEED_DEFAULT: u64 = 0x9e37_79b9_7f4a_7c15;
