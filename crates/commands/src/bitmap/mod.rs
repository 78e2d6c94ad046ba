//! Commands on the bits of strings. Bit 0 is the highest bit of the first byte.

mod bitcount;
mod bitfield;
mod bitop;
mod bitpos;
mod bits;
mod field;
mod getbit;
mod range;
mod setbit;

use crate::{Args, Command, Context, Error};
use caudal_text::integer;

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(bitcount::SPEC, bitcount::apply),
    Command::new(bitfield::BITFIELD, bitfield::bitfield),
    Command::new(bitfield::BITFIELD_RO, bitfield::bitfield_ro),
    Command::new(bitop::SPEC, bitop::apply),
    Command::new(bitpos::SPEC, bitpos::apply),
    Command::new(getbit::SPEC, getbit::apply),
    Command::new(setbit::SPEC, setbit::apply),
];

const BAD_OFFSET: Error = Error::text("ERR bit offset is not an integer or out of range");

/// A bit's offset as SETBIT and GETBIT take it, within the longest string.
fn offset(context: &Context<'_, '_>, args: Args<'_>, index: usize) -> Result<u64, Error> {
    let offset = integer::parse_i64(args.at(index)).ok_or(BAD_OFFSET)?;
    checked_offset(context, offset)
}

fn checked_offset(context: &Context<'_, '_>, offset: i64) -> Result<u64, Error> {
    let offset = u64::try_from(offset).map_err(|_| BAD_OFFSET)?;
    if offset / 8 >= context.settings.string_bytes_max {
        return Err(BAD_OFFSET);
    }
    Ok(offset)
}

/// The byte in which a bit stands.
fn byte_of(offset: u64) -> usize {
    usize::try_from(offset / 8).expect("offsets were held against the longest string")
}
