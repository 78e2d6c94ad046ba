//! Zipmap: the small hashes of Redis 2.4.
//!
//! ```text
//! count: u8, 254 and more: not known | field | value | field | value | ... | 0xff
//!
//! field  length, bytes
//! value  length, free: u8, bytes, as many unused ones as `free` says
//! length u8 below 254, or 254 and a u32, little endian
//! ```

use crate::Malformed;

const END: u8 = 0xff;
const LENGTH_32: u8 = 254;

/// Calls `each` with the fields and values of a zipmap.
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    mut each: impl FnMut(&'a [u8], &'a [u8]) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    let (count, mut rest) = bytes.split_first().ok_or(Malformed::Packed)?;
    let mut found = 0usize;
    while rest != [END] {
        let field_bytes = length(&mut rest)?;
        let field = take(&mut rest, field_bytes)?;
        let value_bytes = length(&mut rest)?;
        let free = take(&mut rest, 1)?[0];
        let value = take(&mut rest, value_bytes)?;
        take(&mut rest, usize::from(free))?;
        each(field, value)?;
        found += 1;
    }
    if *count < LENGTH_32 && usize::from(*count) != found {
        return Err(Malformed::Packed);
    }
    Ok(())
}

fn length(rest: &mut &[u8]) -> Result<usize, Malformed> {
    match take(rest, 1)?[0] {
        END => Err(Malformed::Packed),
        LENGTH_32 => {
            let bytes = take(rest, 4)?.first_chunk().expect("four were taken");
            Ok(u32::from_le_bytes(*bytes) as usize)
        }
        length => Ok(usize::from(length)),
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], Malformed> {
    let (taken, left) = rest.split_at_checked(count).ok_or(Malformed::Packed)?;
    *rest = left;
    Ok(taken)
}
