//! LCS: the longest common subsequence of two strings.
//!
//! The classical table of lengths, of which two rows are kept, and for each cell one bit: from
//! which neighbour its length came. That is all that the way back needs, and a thirty-second of the
//! whole table.

use super::text::Text;
use crate::{Args, Context, DONE, Error, Group, KeyFlags, Outcome, Spec};
use std::ops::Range;

pub(crate) const SPEC: Spec =
    Spec::new("LCS", "Finds the longest common subsequence of two strings.")
        .syntax("key1:key key2:key0 [LEN] [IDX] [MINMATCHLEN min-match-len:int] [WITHMATCHLEN]")
        .group(Group::String)
        .since("7.0.0")
        .arity(-3)
        .readonly()
        .complexity("O(N*M) with N and M the lengths of the strings.")
        .key_range(1, 2, 1, KeyFlags::RO.and(KeyFlags::ACCESS));

/// What is replied.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Length,
    /// The ranges that match, those shorter than `shortest` left out.
    Ranges {
        shortest: i64,
        with_lengths: bool,
    },
}

impl Form {
    fn parse(args: Args<'_>) -> Result<Form, Error> {
        let (mut length, mut ranges, mut with_lengths, mut shortest) = (false, false, false, 0);
        let mut cursor = args.cursor(3);
        while cursor.left() > 0 {
            if cursor.take("IDX") {
                ranges = true;
            } else if cursor.take("LEN") {
                length = true;
            } else if cursor.take("WITHMATCHLEN") {
                with_lengths = true;
            } else if cursor.left() > 1 && cursor.take("MINMATCHLEN") {
                shortest = args.integer(cursor.index())?;
                cursor.next();
            } else {
                return Err(Error::SYNTAX);
            }
        }
        match (ranges, length) {
            (true, true) => Err(Error::text(
                "ERR If you want both the length and indexes, please just use IDX.",
            )),
            (true, false) => Ok(Form::Ranges { shortest, with_lengths }),
            (false, true) => Ok(Form::Length),
            (false, false) => Ok(Form::Text),
        }
    }
}

pub(crate) fn apply(context: &mut Context<'_, '_>, args: Args<'_>) -> Outcome {
    const NO_STRINGS: Error = Error::text("ERR The specified keys must contain string values");
    const TOO_LARGE: Error =
        Error::text("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    /// Bytes of a cell of the whole table: what counts against `proto-max-bulk-len`, as in Redis.
    const CELL_BYTES: u64 = 4;
    let (first, second) = (context.key(args, 1), context.key(args, 2));
    let text = |key| match context.keys.string(key) {
        Ok(value) => Ok(value.map_or(Text::Bytes(b""), Text::of)),
        Err(_) => Err(NO_STRINGS),
    };
    let (first, second) = (text(&first)?, text(&second)?);
    let form = Form::parse(args)?;
    let cells = (first.len() as u64 + 1).saturating_mul(second.len() as u64 + 1);
    if cells.saturating_mul(CELL_BYTES) > context.settings.string_bytes_max {
        return Err(TOO_LARGE);
    }
    let reply = &mut context.reply;
    match form {
        Form::Length => reply.integer(i64::from(Matrix::new(&first, &second, false).length)),
        Form::Text => {
            let mut common = Vec::new();
            for block in Matrix::new(&first, &second, true).blocks() {
                common.extend(first[block.first].iter().rev());
            }
            common.reverse();
            reply.bulk(&common);
        }
        Form::Ranges { shortest, with_lengths } => {
            let matrix = Matrix::new(&first, &second, true);
            let mut blocks = matrix.blocks();
            blocks.retain(|block| count(block.first.len()) >= shortest);
            reply.map(2);
            reply.bulk(b"matches");
            reply.array(blocks.len());
            for block in &blocks {
                reply.array(if with_lengths { 3 } else { 2 });
                for range in [&block.first, &block.second] {
                    reply.array(2);
                    reply.integer(count(range.start));
                    reply.integer(count(range.end - 1));
                }
                if with_lengths {
                    reply.integer(count(block.first.len()));
                }
            }
            reply.bulk(b"len");
            reply.integer(i64::from(matrix.length));
        }
    }
    DONE
}

fn count(number: usize) -> i64 {
    i64::try_from(number).expect("lengths stay below 2^63")
}

/// Bytes that are equal and consecutive in both strings. The ranges have one length, which is not
/// zero.
struct Block {
    first: Range<usize>,
    second: Range<usize>,
}

/// The table of lengths, worked out.
struct Matrix<'a> {
    first: &'a [u8],
    second: &'a [u8],
    length: u32,
    /// One bit a cell, row by row: whether the way back leads to the row above.
    up: Vec<u64>,
}

impl<'a> Matrix<'a> {
    /// With `with_way` it can tell the blocks.
    fn new(first: &'a [u8], second: &'a [u8], with_way: bool) -> Matrix<'a> {
        let mut up = match with_way {
            true => vec![0u64; (first.len() * second.len()).div_ceil(64)],
            false => Vec::new(),
        };
        let mut row = vec![0u32; second.len() + 1];
        let mut cell = 0;
        for a in first {
            let mut above_left = 0;
            for (column, b) in second.iter().enumerate() {
                let (above, left) = (row[column + 1], row[column]);
                row[column + 1] = if a == b { above_left + 1 } else { above.max(left) };
                if with_way && a != b && above > left {
                    up[cell / 64] |= 1 << (cell % 64);
                }
                above_left = above;
                cell += 1;
            }
        }
        let length = row[second.len()];
        Matrix { first, second, length, up }
    }

    /// The blocks of one common subsequence, the last one first.
    fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let (mut row, mut column) = (self.first.len(), self.second.len());
        while row > 0 && column > 0 {
            if self.first[row - 1] == self.second[column - 1] {
                let (a, b) = (row, column);
                (row, column) = (row - 1, column - 1);
                match blocks.last_mut() {
                    Some(block) if block.first.start == a && block.second.start == b => {
                        (block.first.start, block.second.start) = (row, column);
                    }
                    _ => blocks.push(Block { first: row..a, second: column..b }),
                }
                continue;
            }
            let cell = (row - 1) * self.second.len() + column - 1;
            if self.up[cell / 64] >> (cell % 64) & 1 == 1 {
                row -= 1;
            } else {
                column -= 1;
            }
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::Matrix;

    #[test]
    fn blocks_are_told_from_the_end() {
        let matrix = Matrix::new(b"ohmytext", b"mynewtext", true);
        let blocks: Vec<_> =
            matrix.blocks().into_iter().map(|block| (block.first, block.second)).collect();
        assert_eq!(blocks, [(4..8, 5..9), (2..4, 0..2)]);
        assert_eq!(matrix.length, 6);
        assert!(Matrix::new(b"", b"abc", true).blocks().is_empty());
    }
}
