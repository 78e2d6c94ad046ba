//! Writes lengths and strings as RDB has them; [`Reader`](crate::Reader) draws the forms.

use crate::reader::{LENGTH_32, LENGTH_64};
use caudal_value::Item;

/// Appends a length.
pub fn length(out: &mut Vec<u8>, length: usize) {
    number(out, length as u64);
}

/// Appends a number in the form of a length.
pub(crate) fn number(out: &mut Vec<u8>, wide: u64) {
    let [.., b3, b2, b1, b0] = wide.to_be_bytes();
    match wide {
        0..0x40 => out.push(b0),
        0x40..0x4000 => out.extend_from_slice(&[0x40 | b1, b0]),
        0x4000..=0xffff_ffff => out.extend_from_slice(&[LENGTH_32, b3, b2, b1, b0]),
        _ => {
            out.push(LENGTH_64);
            out.extend_from_slice(&wide.to_be_bytes());
        }
    }
}

/// Appends a string; one that spells a 32-bit integer as that integer.
pub fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    match Item::of(bytes) {
        Item::Integer(number) => integer(out, number),
        Item::Bytes(bytes) => raw(out, bytes),
    }
}

/// Appends a collection's element as a string.
pub(crate) fn item(out: &mut Vec<u8>, item: Item<'_>) {
    match item {
        Item::Integer(number) => integer(out, number),
        Item::Bytes(bytes) => string(out, bytes),
    }
}

/// Appends the spelling of an integer as a string.
pub(crate) fn integer(out: &mut Vec<u8>, number: i64) {
    let bytes = number.to_le_bytes();
    let (head, width) = match number {
        -0x80..0x80 => (0xc0, 1),
        -0x8000..0x8000 => (0xc1, 2),
        -0x8000_0000..0x8000_0000 => (0xc2, 4),
        _ => return Item::Integer(number).with(|text| raw(out, text)),
    };
    out.push(head);
    out.extend_from_slice(&bytes[..width]);
}

/// Appends a string as it is.
pub(crate) fn raw(out: &mut Vec<u8>, bytes: &[u8]) {
    length(out, bytes.len());
    out.extend_from_slice(bytes);
}
