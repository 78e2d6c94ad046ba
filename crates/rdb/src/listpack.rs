//! Listpack: the small collections of Redis 7 and Valkey.
//!
//! ```text
//! bytes: u32 | count: u16 | element | element | ... | 0xff       little endian
//!
//! element  head | data | tail
//! head     0xxxxxxx                     the integers 0 to 127
//!          10xxxxxx                     a string, length in 6 bits
//!          110xxxxx + 1 byte            an integer in 13 bits, high ones first
//!          1110xxxx + 1 byte            a string, length in 12 bits, high ones first
//!          0xf0 + 4 bytes               a string, length little endian
//!          0xf1, 0xf2, 0xf3, 0xf4       an integer of 2, 3, 4, 8 bytes, little endian
//! tail     length of head and data, base 128, low digits last; all but the first have their
//!          high bit set
//! ```
//!
//! A count of 65535 means that it is not known.

use crate::Malformed;
use caudal_value::Item;

const HEAD_BYTES: usize = 6;
const END: u8 = 0xff;
const COUNT_UNKNOWN: usize = 0xffff;

/// Calls `each` with the elements of a listpack.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(Item<'a>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let (head, mut rest) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(Malformed::Packed)?;
    let [b0, b1, b2, b3, c0, c1] = *head;
    let count = usize::from(u16::from_le_bytes([c0, c1]));
    if u32::from_le_bytes([b0, b1, b2, b3]) as usize != bytes.len() {
        return Err(Malformed::Packed);
    }
    let mut found = 0;
    while rest != [END] {
        let (item, used) = item(rest)?;
        let (tail, tail_len) = tail_of(used);
        let stored = rest.get(used..used + tail_len).ok_or(Malformed::Packed)?;
        if stored != &tail[..tail_len] {
            return Err(Malformed::Packed);
        }
        rest = &rest[used + tail_len..];
        found += 1;
        each(item)?;
    }
    if count != COUNT_UNKNOWN && count != found {
        return Err(Malformed::Packed);
    }
    Ok(())
}

/// The element at the beginning of `bytes`, and how long its head and data are.
fn item(bytes: &[u8]) -> Result<(Item<'_>, usize), Malformed> {
    let (&head, data) = bytes.split_first().ok_or(Malformed::Packed)?;
    match head {
        0..0x80 => Ok((Item::Integer(head.into()), 1)),
        0x80..0xc0 => text(bytes, 1, usize::from(head & 0x3f)),
        0xc0..0xe0 => {
            let [low] = *first(data)?;
            let wide = i16::from_be_bytes([head << 3, low]);
            // 13 bits: the sign stands at bit 12, the low byte was not shifted.
            let high = i64::from(wide >> 8) >> 3;
            Ok((Item::Integer(high << 8 | i64::from(low)), 2))
        }
        0xe0..0xf0 => {
            let [low] = *first(data)?;
            text(bytes, 2, usize::from(u16::from_be_bytes([head & 0x0f, low])))
        }
        0xf0 => text(bytes, 5, u32::from_le_bytes(*first(data)?) as usize),
        0xf1 => Ok((Item::Integer(i16::from_le_bytes(*first(data)?).into()), 3)),
        0xf2 => {
            let [low, middle, high] = *first(data)?;
            Ok((Item::Integer((i32::from_le_bytes([0, low, middle, high]) >> 8).into()), 4))
        }
        0xf3 => Ok((Item::Integer(i32::from_le_bytes(*first(data)?).into()), 5)),
        0xf4 => Ok((Item::Integer(i64::from_le_bytes(*first(data)?)), 9)),
        _ => Err(Malformed::Packed),
    }
}

fn text(bytes: &[u8], head_len: usize, length: usize) -> Result<(Item<'_>, usize), Malformed> {
    let end = head_len.checked_add(length).ok_or(Malformed::Packed)?;
    let text = bytes.get(head_len..end).ok_or(Malformed::Packed)?;
    Ok((Item::Bytes(text), end))
}

fn first<const N: usize>(data: &[u8]) -> Result<&[u8; N], Malformed> {
    data.first_chunk().ok_or(Malformed::Packed)
}

/// The tail of an element whose head and data have this length, and the tail's own length. The
/// borders are Redis's: the last length of each is written with a digit more than it needs.
fn tail_of(length: usize) -> ([u8; 5], usize) {
    let digits = match length {
        0..0x80 => 1,
        0x80..0x3fff => 2,
        0x3fff..0x1f_ffff => 3,
        0x1f_ffff..0xfff_ffff => 4,
        _ => 5,
    };
    let mut tail = [0; 5];
    let mut rest = length;
    for (index, place) in tail[..digits].iter_mut().enumerate().rev() {
        let more = if index == 0 { 0 } else { 0x80 };
        *place = (rest & 0x7f).to_le_bytes()[0] | more;
        rest >>= 7;
    }
    (tail, digits)
}

/// A listpack on its way out.
#[derive(Debug)]
pub(crate) struct Listpack {
    bytes: Vec<u8>,
    count: usize,
}

impl Listpack {
    pub(crate) fn new() -> Listpack {
        Listpack { bytes: vec![0; HEAD_BYTES], count: 0 }
    }

    /// Bytes so far, the end left out.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds an element behind the last one.
    pub(crate) fn push(&mut self, item: Item<'_>) {
        let start = self.bytes.len();
        match item {
            Item::Integer(integer) => self.push_integer(integer),
            Item::Bytes(bytes) => match Item::of(bytes) {
                Item::Integer(integer) => self.push_integer(integer),
                Item::Bytes(bytes) => self.push_text(bytes),
            },
        }
        let (tail, tail_len) = tail_of(self.bytes.len() - start);
        self.bytes.extend_from_slice(&tail[..tail_len]);
        self.count += 1;
    }

    fn push_integer(&mut self, integer: i64) {
        let bytes = integer.to_le_bytes();
        let [low, high, ..] = bytes;
        match integer {
            0..0x80 => self.bytes.push(low),
            -0x1000..0x1000 => self.bytes.extend_from_slice(&[0xc0 | high & 0x1f, low]),
            -0x8000..0x8000 => self.push_wide(0xf1, &bytes[..2]),
            -0x80_0000..0x80_0000 => self.push_wide(0xf2, &bytes[..3]),
            -0x8000_0000..0x8000_0000 => self.push_wide(0xf3, &bytes[..4]),
            _ => self.push_wide(0xf4, &bytes),
        }
    }

    fn push_wide(&mut self, head: u8, data: &[u8]) {
        self.bytes.push(head);
        self.bytes.extend_from_slice(data);
    }

    fn push_text(&mut self, text: &[u8]) {
        let length = u32::try_from(text.len()).expect("strings stay below 4 GiB").to_le_bytes();
        match text.len() {
            0..0x40 => self.bytes.push(0x80 | length[0]),
            0x40..0x1000 => self.bytes.extend_from_slice(&[0xe0 | length[1], length[0]]),
            _ => self.push_wide(0xf0, &length),
        }
        self.bytes.extend_from_slice(text);
    }

    /// The bytes; the listpack is empty again.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        self.bytes.push(END);
        let length = u32::try_from(self.bytes.len()).expect("writers stop far below 4 GiB");
        let count = u16::try_from(self.count.min(COUNT_UNKNOWN)).expect("it was cut to 16 bits");
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        self.bytes[4..HEAD_BYTES].copy_from_slice(&count.to_le_bytes());
        self.count = 0;
        std::mem::replace(&mut self.bytes, vec![0; HEAD_BYTES])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(items: &[Vec<u8>]) -> Vec<u8> {
        let mut listpack = Listpack::new();
        items.iter().for_each(|item| listpack.push(Item::of(item)));
        listpack.finish()
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Malformed> {
        let mut items = Vec::new();
        read(bytes, |item| {
            items.push(item.to_bytes().to_vec());
            Ok(())
        })?;
        Ok(items)
    }

    #[test]
    fn lengths_at_the_borders_of_heads_and_tails() {
        for length in [0, 1, 63, 64, 125, 126, 4095, 4096, 16377, 16378, 16379, 2_097_146] {
            let items = vec![vec![b'x'; length], b"next".to_vec()];
            assert_eq!(unpacked(&packed(&items)), Ok(items), "{length}");
        }
    }

    #[test]
    fn a_count_that_is_too_large_for_its_place_is_left_open() {
        let items = vec![b"1".to_vec(); 70_000];
        assert_eq!(unpacked(&packed(&items)), Ok(items));
    }

    proptest! {
        #[test]
        fn integers_come_back(integers: Vec<i64>, shift in 0u32..64) {
            let items: Vec<Vec<u8>> =
                integers.iter().map(|it| (it >> shift).to_string().into_bytes()).collect();
            prop_assert_eq!(unpacked(&packed(&items)), Ok(items));
        }

        #[test]
        fn damaged_ones_are_refused_or_read(items: Vec<Vec<u8>>, at: usize, byte: u8) {
            let mut bytes = packed(&items);
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = unpacked(&bytes);
        }
    }
}
