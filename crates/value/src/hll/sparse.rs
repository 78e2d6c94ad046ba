//! Registers as runs of equal ones.
//!
//! ```text
//! 00llllll            l + 1 zeros, up to 64
//! 01llllll llllllll   l + 1 zeros, up to 16,384
//! 1vvvvvll            l + 1 registers of value v + 1, up to 4 of up to 32
//! ```
//!
//! What must stay true: the same registers raised in the same order give Redis's bytes, and so do
//! the merges of neighbours: five runs from the one before the place of the change on.

use super::{Fault, REGISTERS};
use smallvec::SmallVec;

const ZEROS_SHORT_MAX: usize = 64;
const EQUAL_MAX: usize = 4;
/// Larger ones need a dense HyperLogLog.
const VALUE_MAX: u8 = 32;

const LONG_ZEROS: u8 = 0x40;
const EQUAL: u8 = 0x80;

/// A run of equal registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// Index of the first register.
    pub(super) first: usize,
    /// > 0
    pub(super) length: usize,
    /// 0..=32
    pub(super) value: u8,
    /// Offset of its code, and how many bytes that has: one, or two for a long run of zeros.
    at: usize,
    width: usize,
}

/// Goes through the codes, whatever they add up to; ends before one that is cut off.
#[derive(Debug, Clone)]
struct Runs<'a> {
    bytes: &'a [u8],
    at: usize,
    first: usize,
}

impl<'a> Runs<'a> {
    fn new(bytes: &'a [u8]) -> Runs<'a> {
        Runs { bytes, at: 0, first: 0 }
    }
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let code = *self.bytes.get(self.at)?;
        let (length, value, width) = if code & EQUAL != 0 {
            (usize::from(code & 3) + 1, (code >> 2 & 31) + 1, 1)
        } else if code & LONG_ZEROS != 0 {
            let low = *self.bytes.get(self.at + 1)?;
            (usize::from(code & 63) << 8 | usize::from(low), 0, 2)
        } else {
            (usize::from(code), 0, 1)
        };
        let length = if value == 0 { length + 1 } else { length };
        let run = Run { first: self.first, length, value, at: self.at, width };
        self.at += width;
        self.first += length;
        Some(run)
    }
}

/// Calls `each` with every run.
///
/// # Errors
/// The runs do not make all registers and no more; `each` may have seen some of them.
pub(super) fn each_run(bytes: &[u8], mut each: impl FnMut(Run)) -> Result<(), Fault> {
    let mut runs = Runs::new(bytes);
    for run in &mut runs {
        if run.first + run.length > REGISTERS {
            return Err(Fault::Corrupt);
        }
        each(run);
    }
    if runs.at == bytes.len() && runs.first == REGISTERS { Ok(()) } else { Err(Fault::Corrupt) }
}

/// `Z:12711 v:2,1 z:3`: zeros by a long and a short code, and values with their lengths.
pub(super) fn describe(bytes: &[u8]) -> String {
    let word = |run: Run| match (run.value, run.width) {
        (0, 1) => format!("z:{}", run.length),
        (0, _) => format!("Z:{}", run.length),
        (value, _) => format!("v:{value},{}", run.length),
    };
    Runs::new(bytes).map(word).collect::<Vec<_>>().join(" ")
}

/// What raising a register did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// It was as large already.
    Unchanged,
    /// It has the value.
    Changed,
    /// The value, or one more code, does not fit: the HyperLogLog must become dense first.
    DoesNotFit,
}

/// Makes the register at `index` at least `value` in a string whose codes begin at `start`, and
/// which shall not have more than `bytes_max` afterwards.
///
/// # Errors
/// No run covers the register. (Damage elsewhere is left for the next count.)
pub(super) fn raise(
    text: &mut Vec<u8>,
    start: usize,
    index: usize,
    value: u8,
    bytes_max: usize,
) -> Result<Set, Fault> {
    if value > VALUE_MAX {
        return Ok(Set::DoesNotFit);
    }
    let (mut before, mut covering) = (None, None);
    for run in Runs::new(&text[start..]) {
        if index < run.first + run.length {
            covering = Some(run);
            break;
        }
        before = Some(run);
    }
    let run = covering.ok_or(Fault::Corrupt)?;
    if run.value >= value {
        return Ok(Set::Unchanged);
    }
    let codes = split(run, index, value);
    let grown = text.len() - run.width + codes.len();
    if grown > text.len() && grown > bytes_max {
        return Ok(Set::DoesNotFit);
    }
    let at = start + run.at;
    text.splice(at..at + run.width, codes);
    join_equal(text, start + before.map_or(0, |before| before.at));
    Ok(Set::Changed)
}

/// The codes of a run in which one register has got another value.
fn split(run: Run, index: usize, value: u8) -> SmallVec<[u8; 8]> {
    let mut codes = SmallVec::new();
    push(&mut codes, run.value, index - run.first);
    push(&mut codes, value, 1);
    push(&mut codes, run.value, run.first + run.length - index - 1);
    codes
}

/// Adds the code of a run, which is as long as one code can say.
fn push(codes: &mut SmallVec<[u8; 8]>, value: u8, length: usize) {
    let Some(more) = length.checked_sub(1) else { return };
    let [high, low] = u16::try_from(more).expect("registers are few").to_be_bytes();
    if value > 0 {
        debug_assert!(length <= EQUAL_MAX && value <= VALUE_MAX);
        codes.push(EQUAL | (value - 1) << 2 | low);
    } else if length <= ZEROS_SHORT_MAX {
        codes.push(low);
    } else {
        codes.extend([LONG_ZEROS | high, low]);
    }
}

/// Adds zeros at the end of a string.
pub(super) fn push_zeros(text: &mut Vec<u8>, length: usize) {
    let mut codes = SmallVec::new();
    push(&mut codes, 0, length);
    text.extend_from_slice(&codes);
}

/// Joins neighbours of one value, from the code at `at` on, as far as a change can have made some.
fn join_equal(text: &mut Vec<u8>, mut at: usize) {
    /// One before the change, at most three that it made, one behind.
    const LOOKS: usize = 5;
    for _ in 0..LOOKS {
        let Some(&code) = text.get(at) else { return };
        if code & EQUAL == 0 {
            at += if code & LONG_ZEROS != 0 { 2 } else { 1 };
            continue;
        }
        let next = text.get(at + 1).copied().filter(|next| next & EQUAL != 0);
        let length = usize::from(code & 3) + usize::from(next.unwrap_or(0) & 3) + 2;
        match next {
            Some(next) if next >> 2 == code >> 2 && length <= EQUAL_MAX => {
                // The joined one stays at hand for what comes behind it.
                let mut joined = SmallVec::new();
                push(&mut joined, (code >> 2 & 31) + 1, length);
                text.splice(at..at + 2, joined);
            }
            _ => at += 1,
        }
    }
}
