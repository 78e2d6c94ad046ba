//! Commands on HyperLogLogs: strings that estimate how many different elements there were.

mod pfadd;
mod pfcount;
mod pfdebug;
mod pfmerge;
mod pfselftest;

use crate::string::text::Text;
use crate::{Command, Error};
use caudal_keyspace::{Key, Keys};
use caudal_value::hll::{self, Encoding, Fault};

/// The family, in the order of the reference.
pub(crate) const COMMANDS: &[Command] = &[
    Command::new(pfadd::SPEC, pfadd::apply),
    Command::new(pfcount::SPEC, pfcount::apply),
    Command::new(pfdebug::SPEC, pfdebug::apply),
    Command::new(pfmerge::SPEC, pfmerge::apply),
    Command::new(pfselftest::SPEC, pfselftest::apply),
];

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        match fault {
            Fault::Foreign => Error::text("WRONGTYPE Key is not a valid HyperLogLog string value."),
            Fault::Corrupt => Error::text("INVALIDOBJ Corrupted HLL object detected"),
        }
    }
}

/// The HyperLogLog at a key with its encoding, if there is one.
fn find<'k>(keys: &'k Keys<'_, '_>, key: &Key<'_>) -> Result<Option<(Text<'k>, Encoding)>, Error> {
    let Some(text) = keys.string(key)?.map(Text::of) else { return Ok(None) };
    let encoding = hll::encoding(&text)?;
    Ok(Some((text, encoding)))
}
