//! What DUMP gives and RESTORE takes: a value, or some libraries of functions, and a footer.
//!
//! ```text
//! anything | version: u16 | CRC-64 of all before it: u64       little endian
//! ```

use crate::{Decoded, Decoding, Malformed, Reader, Source, Version, crc64, decode, encode};

/// Bytes of the footer.
const FOOTER_BYTES: usize = 2 + 8;
/// Names, in the place of a value's type, a library of functions; its source follows as a string.
pub const FUNCTION_LIBRARY: u8 = 245;

/// A payload cannot be used: its footer is damaged, or its version is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the version or checksum of a payload is wrong")]
pub struct BadFooter;

/// Appends the footer.
pub fn seal(payload: &mut Vec<u8>, version: Version) {
    payload.extend_from_slice(&version.0.to_le_bytes());
    let checksum = crc64::crc64(payload);
    payload.extend_from_slice(&checksum.to_le_bytes());
}

/// Checks the footer and takes it away. With `trusting` the checksum is not looked at.
pub fn open(payload: &[u8], trusting: bool) -> Result<(&[u8], Version), BadFooter> {
    let body = payload.len().checked_sub(FOOTER_BYTES).ok_or(BadFooter)?;
    let (body, footer) = payload.split_at(body);
    let (version, checksum) = footer.split_first_chunk().ok_or(BadFooter)?;
    let version = Version(u16::from_le_bytes(*version));
    let summed = payload.len() - checksum.len();
    let is_whole = trusting || checksum == crc64::crc64(&payload[..summed]).to_le_bytes();
    if is_whole && version.is_read() { Ok((body, version)) } else { Err(BadFooter) }
}

/// A value's payload.
pub fn dump(source: Source<'_>) -> Vec<u8> {
    let mut payload = Vec::new();
    let version = encode(source, &mut payload);
    seal(&mut payload, version);
    payload
}

/// The value in what [`open`] gave. As in Redis, bytes behind the value are not looked at.
pub fn value(body: &[u8], decoding: &Decoding<'_>) -> Result<Decoded, Malformed> {
    let mut reader = Reader::new(body, decoding.string_bytes_max);
    let kind = reader.byte()?;
    decode(kind, &mut reader, decoding)
}
