//! Changing a part of a string: APPEND, SETRANGE, SETBIT, BITFIELD, PFADD.
//!
//! A long string is changed in its own buffer (a copy of it, while a reply still shares it); a
//! short one in its record's block, as long as that has room.

use super::text::Text;
use crate::{Context, Error};
use caudal_keyspace::{Key, Keys, SetExpiry, WrongType};
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
    let length = length_of(&record)?;
    let offset = match at {
        At::End => length,
        At::Offset(offset) => offset,
    };
    let end = checked_end(offset, bytes.len(), bytes_max)?;
    let new_length = length.max(end);
    let copy = |text: &mut [u8]| text[offset..end].copy_from_slice(bytes);
    if let ((), Some(text)) = change_record(&mut record, new_length, copy) {
        store(&mut context.keys, key, text, SetExpiry::Keep);
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
    store(&mut context.keys, key, text, SetExpiry::Keep);
    Ok(end)
}

/// Has `change` work on the string at a key, a new one if there is none, made at least
/// `length_min` long by zeros. Returns what `change` does, and whether the string became longer.
/// The caller has held `length_min` against the limit.
///
/// # Errors
/// The key holds another type.
pub(crate) fn change<R>(
    keys: &mut Keys<'_, '_>,
    key: &Key<'_>,
    length_min: usize,
    change: impl FnOnce(&mut [u8]) -> R,
) -> Result<(R, bool), WrongType> {
    let Some(mut record) = keys.record_mut(key) else {
        let mut text = vec![0; length_min];
        let result = change(&mut text);
        store(keys, key, text, SetExpiry::Keep);
        return Ok((result, true));
    };
    let length = length_of(&record)?;
    let (result, moved) = change_record(&mut record, length.max(length_min), change);
    if let Some(text) = moved {
        store(keys, key, text, SetExpiry::Keep);
    }
    Ok((result, length_min > length))
}

/// Stores a string that was made piece by piece: its encoding is raw whatever its length.
pub(crate) fn store(keys: &mut Keys<'_, '_>, key: &Key<'_>, text: Vec<u8>, expiry: SetExpiry) {
    if text.len() > INLINE_BYTES_MAX {
        keys.set(key, NewValue::Blob(Blob::new(text)), expiry);
        return;
    }
    keys.set(key, NewValue::Edited(&text), expiry);
}

fn length_of(record: &RecordMut<'_>) -> Result<usize, WrongType> {
    match record.value() {
        ValueRef::Object(_) => Err(WrongType),
        value => Ok(Text::of(value).len()),
    }
}

fn checked_end(offset: usize, length: usize, bytes_max: u64) -> Result<usize, Error> {
    let end = offset.checked_add(length).filter(|end| *end as u64 <= bytes_max);
    end.ok_or(Error::TOO_LONG)
}

/// Has `change` work on a string made `length` long. If there is no room for that where it stands,
/// the changed string is given back, to be stored.
fn change_record<R>(
    record: &mut RecordMut<'_>,
    length: usize,
    change: impl FnOnce(&mut [u8]) -> R,
) -> (R, Option<Vec<u8>>) {
    let fits = match record.value_mut() {
        ValueMut::Blob(blob) => {
            let text = Arc::make_mut(blob);
            text.resize(length, 0);
            return (change(text), None);
        }
        ValueMut::Bytes(text) => text.len() == length || record.try_resize(length),
        ValueMut::Integer(_) | ValueMut::Object(_) => false,
    };
    if fits && let ValueMut::Bytes(text) = record.value_mut() {
        let result = change(text);
        record.mark_edited();
        return (result, None);
    }
    let mut text = Vec::with_capacity(length);
    text.extend_from_slice(&Text::of(record.value()));
    text.resize(length, 0);
    (change(&mut text), Some(text))
}
