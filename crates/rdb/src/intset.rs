//! Intset: a small set of integers, ascending, each as wide as the widest needs.
//!
//! ```text
//! width: u32 (2, 4 or 8) | count: u32 | integers        all little endian
//! ```

use crate::Malformed;

const HEAD_BYTES: usize = 8;

/// Calls `each` with the integers of an intset, which must ascend.
pub(crate) fn read(
    bytes: &[u8],
    mut each: impl FnMut(i64) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let (head, body) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(Malformed::Packed)?;
    let [w0, w1, w2, w3, c0, c1, c2, c3] = *head;
    let width = u32::from_le_bytes([w0, w1, w2, w3]) as usize;
    let count = u32::from_le_bytes([c0, c1, c2, c3]) as usize;
    if !matches!(width, 2 | 4 | 8) || count.checked_mul(width) != Some(body.len()) {
        return Err(Malformed::Packed);
    }
    let mut last = None;
    for bytes in body.chunks_exact(width) {
        let mut wide = [0; 8];
        wide[8 - width..].copy_from_slice(bytes);
        // The bytes stand at the high end: the shift down extends the sign.
        let integer = i64::from_le_bytes(wide) >> (64 - 8 * width);
        if last.is_some_and(|last| last >= integer) {
            return Err(Malformed::Packed);
        }
        last = Some(integer);
        each(integer)?;
    }
    Ok(())
}

/// The intset of `integers`, which ascend.
pub(crate) fn write(integers: impl ExactSizeIterator<Item = i64> + Clone) -> Vec<u8> {
    let fits =
        |least: i64, most: i64| integers.clone().all(|integer| (least..=most).contains(&integer));
    let width: u32 = if fits(i16::MIN.into(), i16::MAX.into()) {
        2
    } else if fits(i32::MIN.into(), i32::MAX.into()) {
        4
    } else {
        8
    };
    let count = u32::try_from(integers.len()).expect("a set has fewer than 2^32 members");
    let mut bytes = Vec::with_capacity(HEAD_BYTES + integers.len() * width as usize);
    bytes.extend_from_slice(&width.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    for integer in integers {
        bytes.extend_from_slice(&integer.to_le_bytes()[..width as usize]);
    }
    bytes
}
