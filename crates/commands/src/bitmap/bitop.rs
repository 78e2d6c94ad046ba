//! BITOP.
//!
//! Strings of different lengths are taken as if zeros followed the shorter ones.

use crate::string::edit;
use crate::string::text::Text;
use crate::{Args, Context, Error, Group, KeyFlags, Outcome, Spec};
use caudal_keyspace::{Event, SetExpiry};
use caudal_table::ValueRef;
use std::ops::Deref;

pub(crate) const SPEC: Spec =
    Spec::new("BITOP", "Combines strings bit by bit and stores the result at a key.")
        .syntax(
            "operation<AND|OR|XOR|NOT|DIFF@8.2.0|DIFF1@8.2.0|ANDOR@8.2.0|ONE@8.2.0> \
                 destkey:key key...",
        )
        .group(Group::Bitmap)
        .since("2.6.0")
        .arity(-4)
        .write()
        .deny_oom()
        .complexity("O(N) with N the bytes of the strings.")
        .key(2, KeyFlags::OW.and(KeyFlags::UPDATE))
        .key_range(3, -1, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// Argument of the first string.
const FIRST: usize = 3;

/// What is done to the bits that stand at one offset. Those of the second string on are `others`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
    /// Set in the first string and in none of the others.
    Diff,
    /// Set in one of the others and not in the first string.
    Diff1,
    /// Set in the first string and in one of the others.
    AndOr,
    /// Set in exactly one string.
    One,
}

impl Operation {
    const NAMES: [(&'static str, Operation); 8] = [
        ("AND", Operation::And),
        ("OR", Operation::Or),
        ("XOR", Operation::Xor),
        ("NOT", Operation::Not),
        ("DIFF", Operation::Diff),
        ("DIFF1", Operation::Diff1),
        ("ANDOR", Operation::AndOr),
        ("ONE", Operation::One),
    ];

    fn parse(args: Args<'_>) -> Result<Operation, Error> {
        let named = Operation::NAMES.into_iter().find(|(name, _)| args.is(1, name));
        let (name, operation) = named.ok_or(Error::SYNTAX)?;
        let sources = args.len() - FIRST;
        match operation {
            Operation::Not if sources != 1 => {
                Err(Error::text("ERR BITOP NOT must be called with a single source key."))
            }
            Operation::Diff | Operation::Diff1 | Operation::AndOr if sources < 2 => {
                Err(Error::new(format!(
                    "ERR BITOP {name} must be called with at least two source keys."
                )))
            }
            _ => Ok(operation),
        }
    }

    /// Whether all servers know it. What others do not know is handed on as its result.
    fn is_common(self) -> bool {
        matches!(self, Operation::And | Operation::Or | Operation::Xor | Operation::Not)
    }

    /// The combination of strings, as long as the longest of them.
    fn combine(self, strings: &[impl Deref<Target = [u8]>]) -> Vec<u8> {
        let length = strings.iter().map(|string| string.len()).max().unwrap_or(0);
        let [first, others @ ..] = strings else { return Vec::new() };
        match self {
            Operation::Not => first.iter().map(|byte| !byte).collect(),
            Operation::And => {
                let mut result = padded(first, length);
                others.iter().for_each(|other| keep_common(&mut result, other));
                result
            }
            Operation::Or => any(strings, length),
            Operation::Xor => {
                let mut result = padded(first, length);
                others.iter().for_each(|other| each(&mut result, other, |own, other| own ^ other));
                result
            }
            Operation::Diff => {
                let mut result = padded(first, length);
                others.iter().for_each(|other| each(&mut result, other, |own, other| own & !other));
                result
            }
            Operation::Diff1 => {
                let mut result = any(others, length);
                each(&mut result, first, |own, first| own & !first);
                result
            }
            Operation::AndOr => {
                let mut result = any(others, length);
                keep_common(&mut result, first);
                result
            }
            Operation::One => exactly_one(strings, length),
        }
    }
}

fn padded(string: &[u8], length: usize) -> Vec<u8> {
    let mut result = Vec::with_capacity(length);
    result.extend_from_slice(string);
    result.resize(length, 0);
    result
}

/// Combines each byte with the one beside it; those behind the end of `other` stay.
#[inline]
fn each(result: &mut [u8], other: &[u8], combine: impl Fn(u8, u8) -> u8) {
    for (own, other) in result.iter_mut().zip(other) {
        *own = combine(*own, *other);
    }
}

/// Leaves the bits that `other` has too.
fn keep_common(result: &mut [u8], other: &[u8]) {
    each(result, other, |own, other| own & other);
    let common = other.len().min(result.len());
    result[common..].fill(0);
}

fn any(strings: &[impl Deref<Target = [u8]>], length: usize) -> Vec<u8> {
    let mut result = vec![0; length];
    strings.iter().for_each(|string| each(&mut result, string, |own, other| own | other));
    result
}

fn exactly_one(strings: &[impl Deref<Target = [u8]>], length: usize) -> Vec<u8> {
    let (mut once, mut more) = (vec![0; length], vec![0; length]);
    for string in strings {
        for ((once, more), byte) in once.iter_mut().zip(&mut more).zip(string.iter()) {
            *more |= *once & byte;
            *once |= byte;
        }
    }
    each(&mut once, &more, |once, more| once & !more);
    once
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    let operation = Operation::parse(args)?;
    let sources = (FIRST..args.len()).map(|index| {
        let found = context.keys.string(&context.key(args, index))?;
        Ok(Text::of(found.unwrap_or(ValueRef::Bytes(&[]))))
    });
    let sources = sources.collect::<Result<Vec<_>, Error>>()?;
    let result = operation.combine(&sources);
    let (target, length) = (context.key(args, 2), result.len());
    let is_explained = !operation.is_common() && context.keys.effects.wanted();
    let explanation = (is_explained && length > 0).then(|| result.clone());
    if length > 0 {
        edit::store(&mut context.keys, &target, result, SetExpiry::Clear);
        context.keys.changed(&target, Event::string("set"));
    } else if context.keys.remove(&target) {
        context.keys.changed(&target, Event::DEL);
    }
    if let Some(result) = explanation {
        context.keys.effect(&[b"SET", target.bytes, &result]);
    }
    context.reply_count(length)
}

#[cfg(test)]
mod tests {
    use super::Operation;

    /// Every byte of three strings of different lengths, by the meaning of the operation's name.
    #[test]
    fn operations_mean_what_they_say_at_every_bit() {
        let strings: [&[u8]; 3] =
            [&[0b1111_0000, 0b1010_1010, 0xff], &[0b1100_1100, 0x0f], &[0b1010_1010]];
        for (name, operation) in Operation::NAMES {
            if operation == Operation::Not {
                assert_eq!(operation.combine(&strings[..1]), [0b0000_1111, 0b0101_0101, 0]);
                continue;
            }
            let result = operation.combine(&strings);
            assert_eq!(result.len(), 3);
            for at in 0..24 {
                let bit =
                    |bytes: &[u8]| bytes.get(at / 8).is_some_and(|it| it >> (at % 8) & 1 == 1);
                let [x, y, z] = strings.map(bit);
                let expected = match operation {
                    Operation::And => x && y && z,
                    Operation::Or => x || y || z,
                    Operation::Xor => x ^ y ^ z,
                    Operation::Diff => x && !(y || z),
                    Operation::Diff1 => !x && (y || z),
                    Operation::AndOr => x && (y || z),
                    Operation::One => u8::from(x) + u8::from(y) + u8::from(z) == 1,
                    Operation::Not => unreachable!(),
                };
                assert_eq!(bit(&result), expected, "{name} at {at}");
            }
        }
    }
}
