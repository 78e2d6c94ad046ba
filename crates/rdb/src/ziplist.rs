//! Ziplist: the small collections of Redis before 7.
//!
//! ```text
//! bytes: u32 | where the last element begins: u32 | count: u16 | element | ... | 0xff
//!
//! element  length of the one before: u8 below 254, or 254 and a u32 | head | data
//! head     00xxxxxx, 01xxxxxx + 1 byte, 0x80 + 4 bytes     a string, length big endian
//!          0xc0, 0xd0, 0xe0, 0xf0, 0xfe                    an integer of 2, 4, 8, 3, 1 bytes
//!          0xf1 to 0xfd                                    the integers 0 to 12
//! ```
//!
//! Numbers of more than one byte are little endian but for the lengths of strings. A count of 65535
//! means that it is not known.

use crate::Malformed;
use caudal_value::Item;

const HEAD_BYTES: usize = 10;
const END: u8 = 0xff;
const BEFORE_32: u8 = 254;
const COUNT_UNKNOWN: usize = 0xffff;

/// Calls `each` with the elements of a ziplist.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(Item<'a>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let head = bytes.first_chunk::<HEAD_BYTES>().ok_or(Malformed::Packed)?;
    let [b0, b1, b2, b3, t0, t1, t2, t3, c0, c1] = *head;
    let tail = u32::from_le_bytes([t0, t1, t2, t3]) as usize;
    let count = usize::from(u16::from_le_bytes([c0, c1]));
    if u32::from_le_bytes([b0, b1, b2, b3]) as usize != bytes.len() {
        return Err(Malformed::Packed);
    }
    let (mut at, mut before, mut found) = (HEAD_BYTES, 0, 0);
    loop {
        let element = bytes.get(at..).ok_or(Malformed::Packed)?;
        if element == [END] {
            break;
        }
        let mut rest = element;
        if before_of(&mut rest)? != before {
            return Err(Malformed::Packed);
        }
        let item = item(&mut rest)?;
        before = element.len() - rest.len();
        at += before;
        found += 1;
        each(item)?;
    }
    // Without elements the tail is where the first one would begin.
    if tail != at - before || (count != COUNT_UNKNOWN && count != found) {
        return Err(Malformed::Packed);
    }
    Ok(())
}

fn before_of(rest: &mut &[u8]) -> Result<usize, Malformed> {
    match take::<1>(rest)? {
        [END] => Err(Malformed::Packed),
        [BEFORE_32] => Ok(u32::from_le_bytes(take(rest)?) as usize),
        [before] => Ok(usize::from(before)),
    }
}

fn item<'a>(rest: &mut &'a [u8]) -> Result<Item<'a>, Malformed> {
    let [head] = take(rest)?;
    let length = match head {
        0..0x40 => usize::from(head),
        0x40..0x80 => {
            let [low] = take(rest)?;
            usize::from(u16::from_be_bytes([head & 0x3f, low]))
        }
        0x80 => u32::from_be_bytes(take(rest)?) as usize,
        _ => return integer(head, rest).map(Item::Integer),
    };
    let (text, left) = rest.split_at_checked(length).ok_or(Malformed::Packed)?;
    *rest = left;
    Ok(Item::Bytes(text))
}

fn integer(head: u8, rest: &mut &[u8]) -> Result<i64, Malformed> {
    Ok(match head {
        0xc0 => i16::from_le_bytes(take(rest)?).into(),
        0xd0 => i32::from_le_bytes(take(rest)?).into(),
        0xe0 => i64::from_le_bytes(take(rest)?),
        0xf0 => {
            let [low, middle, high] = take(rest)?;
            i64::from(i32::from_le_bytes([0, low, middle, high]) >> 8)
        }
        0xfe => i8::from_le_bytes(take(rest)?).into(),
        0xf1..=0xfd => i64::from(head & 0x0f) - 1,
        _ => return Err(Malformed::Packed),
    })
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (taken, left) = rest.split_first_chunk().ok_or(Malformed::Packed)?;
    *rest = left;
    Ok(*taken)
}
