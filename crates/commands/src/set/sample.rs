//! Random members, each set of so many of them as likely as any other.

use crate::Random;
use caudal_value::{Item, Set};
use std::collections::BTreeSet;

/// A walk beats look-ups by index from one member in so many on.
const WALK_SHARE: usize = 4;
/// A look-up by index walks over a small set anyway.
const WALKED_MEMBERS_MAX: usize = 512;

/// Calls `f` with `count` different members, fewer than there are, in the set's own order.
pub(super) fn each_of(set: &Set, count: usize, random: &mut Random, mut f: impl FnMut(Item<'_>)) {
    let len = set.len();
    debug_assert!(count < len);
    if len <= WALKED_MEMBERS_MAX || count >= len / WALK_SHARE {
        walk(set, count, random, f);
    } else {
        let member = |index| set.nth(index).expect("the index is below the length");
        indexes(len, count, random).into_iter().for_each(|index| f(member(index)));
    }
}

/// Goes over all members and takes each with the probability that the number still wanted needs.
/// (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S.)
fn walk(set: &Set, count: usize, random: &mut Random, mut f: impl FnMut(Item<'_>)) {
    let (mut wanted, mut left) = (count, set.len());
    for item in set.iter() {
        if wanted == 0 {
            return;
        }
        if random.below(left) < wanted {
            f(item);
            wanted -= 1;
        }
        left -= 1;
    }
}

/// `count` different indexes below `len`. (Bentley and Floyd, A Sample of Brilliance, CACM 30, 1987.)
fn indexes(len: usize, count: usize, random: &mut Random) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    for last in len - count..len {
        if !chosen.insert(random.below(last + 1)) {
            chosen.insert(last);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use caudal_value::Limits;

    /// How often each of `len` members is among `count` drawn, in `draws` draws.
    fn frequencies(
        len: usize,
        draws: usize,
        mut draw: impl FnMut(&mut dyn FnMut(usize)),
    ) -> Vec<usize> {
        let mut times = vec![0; len];
        for _ in 0..draws {
            draw(&mut |index| times[index] += 1);
        }
        times
    }

    #[test]
    fn every_member_is_drawn_as_often_as_any_other() {
        let mut set = Set::new();
        for member in 0..20 {
            set.insert(member.to_string().as_bytes(), &Limits::DEFAULT);
        }
        let mut random = Random::new(1);
        let index = |item: Item<'_>| item.integer().and_then(|it| usize::try_from(it).ok());
        let walked = frequencies(20, 20_000, |found| {
            walk(&set, 5, &mut random, |item| found(index(item).expect("small integers")));
        });
        let mut random = Random::new(2);
        let drawn = frequencies(20, 20_000, |found| {
            indexes(20, 5, &mut random).into_iter().for_each(found);
        });
        for times in walked.into_iter().chain(drawn) {
            // 5,000 with a deviation of 61.
            assert!((4_700..5_300).contains(&times), "{times}");
        }
    }

    #[test]
    fn as_many_members_are_drawn_as_are_wanted() {
        let mut set = Set::new();
        for member in 0..3_000 {
            set.insert(format!("m{member}").as_bytes(), &Limits::DEFAULT);
        }
        for count in [0, 1, 100, 749, 750, 2_999] {
            let mut members = BTreeSet::new();
            each_of(&set, count, &mut Random::new(3), |item| {
                assert!(members.insert(item.to_bytes()));
            });
            assert_eq!(members.len(), count);
        }
    }
}
