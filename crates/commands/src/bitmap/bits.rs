//! Counting and finding bits, a word of 64 at a time.
//!
//! Bit 0 is the highest bit of the first byte, so a word is read with its first byte highest.

use std::ops::Range;

/// Bits that are set in `range` (bits) of `bytes`.
pub(super) fn count(bytes: &[u8], range: Range<usize>) -> usize {
    let Some(Edges { first, middle, last }) = Edges::of(bytes, &range) else { return 0 };
    let edges = first.count_ones() + last.count_ones();
    edges as usize + count_all(middle)
}

/// The first bit in `range` (bits) of `bytes` that is `bit`.
pub(super) fn find(bytes: &[u8], range: Range<usize>, bit: bool) -> Option<usize> {
    // Looking for a clear bit is looking for a set one in the complement.
    let flip = if bit { 0 } else { u8::MAX };
    let (from, to) = (range.start / 8, range.end.div_ceil(8));
    let first = bytes[from] ^ flip;
    let first = first & (u8::MAX >> (range.start % 8));
    let place = |byte: usize, value: u8| byte * 8 + value.leading_zeros() as usize;
    let found = match first {
        0 => from + 1 + skip(&bytes[from + 1..to], flip),
        _ => from,
    };
    if found >= to {
        return None;
    }
    let value = if found == from { first } else { bytes[found] ^ flip };
    Some(place(found, value)).filter(|at| *at < range.end)
}

/// How many bytes at the beginning are all zero after `flip`.
fn skip(bytes: &[u8], flip: u8) -> usize {
    let (words, _) = bytes.as_chunks::<8>();
    let blank = u64::from_ne_bytes([flip; 8]);
    let zeros = words.iter().take_while(|word| u64::from_ne_bytes(**word) == blank).count() * 8;
    zeros + bytes[zeros..].iter().take_while(|byte| **byte == flip).count()
}

/// A range of bits as two bytes, of which only its bits are left, and whole bytes between.
struct Edges<'a> {
    first: u8,
    middle: &'a [u8],
    last: u8,
}

impl<'a> Edges<'a> {
    /// None: the range is empty.
    fn of(bytes: &'a [u8], range: &Range<usize>) -> Option<Edges<'a>> {
        let last_bit = range.end.checked_sub(1).filter(|last| *last >= range.start)?;
        let (from, to) = (range.start / 8, last_bit / 8);
        let head = u8::MAX >> (range.start % 8);
        let tail = u8::MAX << (7 - last_bit % 8);
        if from == to {
            return Some(Edges { first: bytes[from] & head & tail, middle: &[], last: 0 });
        }
        let middle = &bytes[from + 1..to];
        Some(Edges { first: bytes[from] & head, middle, last: bytes[to] & tail })
    }
}

/// Words whose bits are counted together.
const BLOCK: usize = 16;

/// Bits that are set in all of `bytes`.
///
/// Sixteen words are first added bit by bit, as a tree of full adders adds them, and only the
/// sixteens are counted: a count of a word costs a dozen operations where the machine is not known
/// to have one (Harley and Seal; "Faster population counts", Mula, Kurz, Lemire, 2016).
fn count_all(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let (blocks, words_left) = words.as_chunks::<BLOCK>();
    let mut sums = Sums::default();
    let sixteens: usize = blocks.iter().map(|block| sums.add(block) as usize).sum();
    let ones = |word: &[u8; 8]| u64::from_ne_bytes(*word).count_ones() as usize;
    sixteens * BLOCK
        + sums.total()
        + words_left.iter().map(ones).sum::<usize>()
        + rest.iter().map(|byte| byte.count_ones() as usize).sum::<usize>()
}

/// Bits that are counted but do not yet make sixteen, each column by itself.
#[derive(Default)]
struct Sums {
    ones: u64,
    twos: u64,
    fours: u64,
    eights: u64,
}

impl Sums {
    /// Adds sixteen words; returns how many columns reached sixteen.
    #[inline]
    fn add(&mut self, block: &[[u8; 8]; BLOCK]) -> u32 {
        let word = |at: usize| u64::from_ne_bytes(block[at]);
        let mut eights = [0; 2];
        for (half, eight) in eights.iter_mut().enumerate() {
            let mut fours = [0; 2];
            for (quarter, four) in fours.iter_mut().enumerate() {
                let at = half * 8 + quarter * 4;
                let first = add_bits(&mut self.ones, word(at), word(at + 1));
                let second = add_bits(&mut self.ones, word(at + 2), word(at + 3));
                *four = add_bits(&mut self.twos, first, second);
            }
            *eight = add_bits(&mut self.fours, fours[0], fours[1]);
        }
        add_bits(&mut self.eights, eights[0], eights[1]).count_ones()
    }

    fn total(&self) -> usize {
        let weighted = [(self.ones, 1), (self.twos, 2), (self.fours, 4), (self.eights, 8)];
        weighted.iter().map(|(word, weight)| word.count_ones() as usize * weight).sum()
    }
}

/// Adds two words to a third, bit by bit, and returns the carries.
#[inline]
fn add_bits(sum: &mut u64, first: u64, second: u64) -> u64 {
    let partial = *sum ^ first;
    let carry = (*sum & first) | (partial & second);
    *sum = partial ^ second;
    carry
}

#[cfg(test)]
mod tests {
    use super::{count, find};

    /// Bits of a string one by one.
    fn bit(bytes: &[u8], at: usize) -> bool {
        bytes[at / 8] >> (7 - at % 8) & 1 == 1
    }

    /// Strings of many lengths with long runs, so that words of one kind are passed over.
    fn strings() -> Vec<Vec<u8>> {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let mut strings = Vec::new();
        for length in (0..40).chain([127, 128, 129, 300, 1100]) {
            for run in [1, 9, 200] {
                let mut bytes = Vec::new();
                while bytes.len() < length {
                    let value = [0, u8::MAX, (next() & 0xff) as u8][next() as usize % 3];
                    bytes.extend((0..=next() % run).map(|_| value));
                }
                bytes.truncate(length);
                strings.push(bytes);
            }
        }
        strings
    }

    #[test]
    fn counting_and_finding_agree_with_a_look_at_each_bit() {
        for bytes in strings() {
            let length = bytes.len() * 8;
            for start in (0..length).step_by(1 + length / 40) {
                for end in (start + 1..=length).rev().step_by(1 + length / 30) {
                    let ones = (start..end).filter(|at| bit(&bytes, *at)).count();
                    assert_eq!(count(&bytes, start..end), ones);
                    for wanted in [false, true] {
                        let first = (start..end).find(|at| bit(&bytes, *at) == wanted);
                        assert_eq!(find(&bytes, start..end, wanted), first, "{start}..{end}");
                    }
                }
            }
        }
    }
}
