//! Changing a part of a string: APPEND, SETRANGE.
//!
//! A long string is changed in its own buffer (a copy of it, while a reply still shares it); a
//! short one in its record's block, as long as that has room.

use super::text::Text;
use crate::{Context, Error};
use caudal_keyspace::{Key, Keys, SetExpiry};
use caudal_table::{INLINE_BYTES_MAX, NewValue, RecordMut, ValueMut, ValueRef};
use caudal_value::Blob;
use std::sync::Arc;

/// Where bytes are written.
#[derive(Clone, Copy)]
pub(crate) enum At {
    /// Behind the last one.
    End,
    /// At this index, which may lie beyond the end.
    Offset(usize),
}

/// Writes `bytes` into the string at a key, with zeros between its end and them. Returns the
/// string's new length, or none if there is no such key.
///
/// # Errors
/// The key holds another type, or the string would become too long.
pub(crate) fn write(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    at: At,
    bytes: &[u8],
) -> Result<Option<usize>, Error> {
    let bytes_max = context.settings.string_bytes_max;
    let Some(mut record) = context.keys.record_mut(key) else { return Ok(None) };
    let length = match record.value() {
        ValueRef::Object(_) => return Err(Error::WRONG_TYPE),
        value => Text::of(value).len(),
    };
    let offset = match at {
        At::End => length,
        At::Offset(offset) => offset,
    };
    let end = checked_end(offset, bytes.len(), bytes_max)?;
    let new_length = length.max(end);
    if !write_in_place(&mut record, offset..end, bytes) {
        let mut text = Vec::with_capacity(new_length);
        text.extend_from_slice(&Text::of(record.value()));
        text.resize(new_length, 0);
        text[offset..end].copy_from_slice(bytes);
        store(&mut context.keys, key, text);
    }
    Ok(Some(new_length))
}

/// Makes a string of `offset` zeros and `bytes` at a key that does not exist. Returns its length.
///
/// # Errors
/// The string would be too long.
pub(crate) fn create(
    context: &mut Context<'_, '_>,
    key: &Key<'_>,
    offset: usize,
    bytes: &[u8],
) -> Result<usize, Error> {
    let end = checked_end(offset, bytes.len(), context.settings.string_bytes_max)?;
    let mut text = vec![0; end];
    text[offset..].copy_from_slice(bytes);
    store(&mut context.keys, key, text);
    Ok(end)
}

fn checked_end(offset: usize, length: usize, bytes_max: u64) -> Result<usize, Error> {
    let end = offset.checked_add(length).filter(|end| *end as u64 <= bytes_max);
    end.ok_or(Error::TOO_LONG)
}

/// False: there is no room where the string stands.
fn write_in_place(record: &mut RecordMut<'_>, part: std::ops::Range<usize>, bytes: &[u8]) -> bool {
    let fits = match record.value_mut() {
        ValueMut::Blob(blob) => {
            let text = Arc::make_mut(blob);
            if text.len() < part.end {
                text.resize(part.end, 0);
            }
            text[part].copy_from_slice(bytes);
            return true;
        }
        ValueMut::Bytes(text) => text.len() >= part.end || record.try_resize(part.end),
        ValueMut::Integer(_) | ValueMut::Object(_) => false,
    };
    if fits && let ValueMut::Bytes(text) = record.value_mut() {
        text[part].copy_from_slice(bytes);
        record.mark_edited();
    }
    fits
}

/// Stores a string as one that was changed in part.
fn store(keys: &mut Keys<'_, '_>, key: &Key<'_>, text: Vec<u8>) {
    if text.len() > INLINE_BYTES_MAX {
        keys.set(key, NewValue::Blob(Blob::new(text)), SetExpiry::Keep);
        return;
    }
    keys.set(key, NewValue::Bytes(&text), SetExpiry::Keep);
    keys.record_mut(key).expect("it was just stored").mark_edited();
}
