//! Random elements of a collection: SRANDMEMBER, HRANDFIELD, ZRANDMEMBER.
//!
//! A positive count asks for different elements, a negative one for that many draws, each from the
//! whole collection. What must stay true: every element is equally likely, and no count makes the
//! server write a reply without bound.

use crate::context::Random;
use crate::{Args, Error};
use std::collections::BTreeSet;

/// Draws may repeat an element any number of times, so the reply is limited by itself: 1 GiB,
/// twice the longest string.
const DRAWN_BYTES_MAX: usize = 1 << 30;
/// Bytes of a reply around an element, and the element when it is short.
const ELEMENT_BYTES: usize = 16;
/// Below this share of a collection, its elements are looked up one by one.
const LOOKED_UP_SHARE: usize = 8;

/// What a count asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sample {
    /// So many different elements, or all if there are no more.
    Distinct(usize),
    /// So many draws.
    Draws(usize),
}

impl Sample {
    /// Reads the count at `index`.
    pub(crate) fn parse(args: Args<'_>, index: usize) -> Result<Sample, Error> {
        let count = args.signed_count(index)?;
        let magnitude = usize::try_from(count.unsigned_abs()).expect("addresses have 64 bits");
        Ok(if count < 0 { Sample::Draws(magnitude) } else { Sample::Distinct(magnitude) })
    }

    /// Refuses counts that overflow when doubled, as commands do that give two frames an element.
    pub(crate) fn in_pairs(self) -> Result<Sample, Error> {
        /// Half of the largest signed integer.
        const PAIRS_MAX: usize = usize::MAX / 4;
        let (Sample::Distinct(count) | Sample::Draws(count)) = self;
        if count > PAIRS_MAX { Err(OUT_OF_RANGE) } else { Ok(self) }
    }

    /// How many elements of a collection of `len` it gives, which takes `bytes`.
    pub(crate) fn len(self, len: usize, bytes: usize) -> Result<usize, Error> {
        match self {
            Sample::Distinct(count) => Ok(count.min(len)),
            Sample::Draws(count) => {
                let drawn = count.saturating_mul(ELEMENT_BYTES + bytes / len.max(1));
                if drawn > DRAWN_BYTES_MAX { Err(OUT_OF_RANGE) } else { Ok(count) }
            }
        }
    }

    /// Calls `each` with the elements: those of `all`, a collection of `len > 0`, whose `nth`
    /// one can be looked up.
    pub(crate) fn draw<T: Copy>(
        self,
        random: &mut Random,
        len: usize,
        all: impl Iterator<Item = T>,
        nth: impl Fn(usize) -> Option<T>,
        mut each: impl FnMut(T),
    ) {
        let nth = |index| nth(index).expect("indexes are below the length");
        match self {
            Sample::Distinct(count) if count >= len => all.for_each(each),
            Sample::Distinct(count) if count >= len / LOOKED_UP_SHARE => {
                let mut missing = count;
                for (index, element) in all.enumerate() {
                    if random.below(len - index) < missing {
                        missing -= 1;
                        each(element);
                    }
                }
            }
            Sample::Distinct(count) => {
                distinct(random, len, count).into_iter().for_each(|index| each(nth(index)));
            }
            Sample::Draws(count) if count >= len => {
                let all: Vec<T> = all.collect();
                (0..count).for_each(|_| each(all[random.below(len)]));
            }
            Sample::Draws(count) => (0..count).for_each(|_| each(nth(random.below(len)))),
        }
    }
}

const OUT_OF_RANGE: Error = Error::text("ERR value is out of range");

/// `count` different indexes below `len`: Floyd's algorithm, one draw each.
fn distinct(random: &mut Random, len: usize, count: usize) -> BTreeSet<usize> {
    let mut indexes = BTreeSet::new();
    for last in len - count..len {
        if !indexes.insert(random.below(last + 1)) {
            indexes.insert(last);
        }
    }
    indexes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(sample: Sample, len: usize, seed: u64) -> Vec<usize> {
        let mut found = Vec::new();
        let mut random = Random::new(seed);
        sample.draw(
            &mut random,
            len,
            0..len,
            |index| (index < len).then_some(index),
            |element| {
                found.push(element);
            },
        );
        found
    }

    #[test]
    fn samples_are_distinct_and_draws_are_counted() {
        for len in [1, 2, 7, 100, 1000] {
            for count in [0, 1, 2, 5, 50, 99, 100, 2000] {
                let mut found = drawn(Sample::Distinct(count), len, 7);
                found.sort_unstable();
                found.dedup();
                assert_eq!(found.len(), count.min(len));
                let found = drawn(Sample::Draws(count), len, 7);
                assert!(found.len() == count && found.iter().all(|element| *element < len));
            }
        }
    }

    #[test]
    fn every_element_is_about_equally_likely() {
        for sample in [Sample::Distinct(3), Sample::Distinct(1), Sample::Draws(3)] {
            let mut hits = [0; 24];
            for seed in 0..8000 {
                drawn(sample, hits.len(), seed).into_iter().for_each(|element| hits[element] += 1);
            }
            let (Sample::Distinct(count) | Sample::Draws(count)) = sample;
            let expected = 8000 * count / hits.len();
            let near = expected * 8 / 10..expected * 12 / 10;
            assert!(hits.iter().all(|hit| near.contains(hit)), "{sample:?} {hits:?}");
        }
    }

    #[test]
    fn a_count_cannot_make_a_reply_without_bound() {
        assert!(Sample::Draws(1 << 20).len(3, 60).is_ok());
        assert!(Sample::Draws(1 << 40).len(3, 60).is_err());
        assert!(Sample::Draws(usize::MAX / 2).len(1, usize::MAX / 2).is_err());
        assert_eq!(Sample::Distinct(usize::MAX / 2).len(3, 60), Ok(3));
    }
}
