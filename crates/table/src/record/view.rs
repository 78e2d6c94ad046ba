//! What a holder of a slot sees of a record.

use super::raw::{Form, Record};
use super::{CLOCK_MASK, Kind, NewValue, OwnedValue, kind_of, memory_of};
use caudal_value::{Blob, Object};
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;

/// A record of a slot that is held, shared or exclusively.
#[derive(Copy, Clone)]
pub struct RecordRef<'a> {
    record: Record,
    held: PhantomData<&'a Object>,
}

/// A value as it stands in the table.
#[derive(Debug, Copy, Clone)]
pub enum ValueRef<'a> {
    /// A string that is a number.
    Integer(i64),
    /// A short string.
    Bytes(&'a [u8]),
    /// A long string.
    Blob(&'a Blob),
    /// A collection.
    Object(&'a Object),
}

impl<'a> RecordRef<'a> {
    /// # Safety
    ///
    /// The record lives, and is not changed, for `'a`.
    #[inline]
    pub(crate) unsafe fn new(record: Record) -> Self {
        Self { record, held: PhantomData }
    }

    /// The key.
    #[inline]
    #[must_use]
    pub fn key(self) -> &'a [u8] {
        self.record.key()
    }

    /// The type of the value.
    #[inline]
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.value() {
            ValueRef::Object(object) => kind_of(object),
            _ => Kind::String,
        }
    }

    /// When the key expires, in milliseconds of Unix time.
    #[inline]
    #[must_use]
    pub fn expiry(self) -> Option<u64> {
        self.record.expiry()
    }

    /// The value.
    #[inline]
    #[must_use]
    pub fn value(self) -> ValueRef<'a> {
        match self.record.form() {
            Form::Integer => ValueRef::Integer(self.record.integer()),
            Form::Bytes => ValueRef::Bytes(self.record.bytes()),
            // SAFETY: the form says that an aligned blob stands there; nobody changes it for 'a.
            Form::Blob => ValueRef::Blob(unsafe { &*self.record.blob() }),
            // SAFETY: likewise an object.
            Form::Object => ValueRef::Object(unsafe { &*self.record.object() }),
        }
    }

    /// Whether the string was changed in part (see [`RecordMut::mark_edited`]) since it was stored.
    #[inline]
    #[must_use]
    pub fn is_edited(self) -> bool {
        self.record.is_edited()
    }

    /// A copy of the value; the large parts of collections and blobs are shared until one side
    /// changes them.
    #[must_use]
    pub fn to_owned_value(self) -> OwnedValue {
        match self.value() {
            ValueRef::Integer(integer) => OwnedValue::Integer(integer),
            ValueRef::Bytes(bytes) if self.is_edited() => OwnedValue::Edited(bytes.into()),
            ValueRef::Bytes(bytes) => OwnedValue::Bytes(bytes.into()),
            ValueRef::Blob(blob) => OwnedValue::Blob(blob.clone()),
            ValueRef::Object(object) => OwnedValue::Object(object.clone()),
        }
    }

    /// The access clock: 24 bits whose meaning is the eviction policy's. 0 in a new record.
    #[inline]
    #[must_use]
    pub fn clock(self) -> u32 {
        self.record.clock().load(Relaxed)
    }

    /// Sets the access clock (24 bits), also with the slot held shared. Writes only if it changes,
    /// so that readers of a hot key do not take its line from each other.
    #[inline]
    pub fn set_clock(self, clock: u32) {
        debug_assert!(clock <= CLOCK_MASK);
        let cell = self.record.clock();
        if cell.load(Relaxed) != clock {
            cell.store(clock, Relaxed);
        }
    }

    /// Bytes that the record holds: its block and what it points to.
    #[must_use]
    pub fn memory(self) -> usize {
        let key = if self.record.has_long_key() { self.key().len() } else { 0 };
        let value = match self.value() {
            ValueRef::Integer(_) | ValueRef::Bytes(_) => 0,
            ValueRef::Blob(blob) => {
                size_of::<[usize; 2]>() + size_of::<Vec<u8>>() + blob.capacity()
            }
            ValueRef::Object(object) => memory_of(object),
        };
        self.record.extent() + key + value
    }
}

/// A record of a slot that is held exclusively.
pub struct RecordMut<'a> {
    record: Record,
    held: PhantomData<&'a mut Object>,
}

/// A value that may be changed where it stands.
#[derive(Debug)]
pub enum ValueMut<'a> {
    /// A string that is a number; see [`RecordMut::try_overwrite`].
    Integer(i64),
    /// A short string, of fixed length; see [`RecordMut::try_resize`].
    Bytes(&'a mut [u8]),
    /// A long string.
    Blob(&'a mut Blob),
    /// A collection.
    Object(&'a mut Object),
}

impl<'a> RecordMut<'a> {
    /// # Safety
    ///
    /// The record lives, and nobody else sees it, for `'a`.
    #[inline]
    pub(crate) unsafe fn new(record: Record) -> Self {
        Self { record, held: PhantomData }
    }

    /// What readers see, for as long as nothing is changed.
    #[inline]
    #[must_use]
    pub fn view(&self) -> RecordRef<'_> {
        // SAFETY: the record lives for 'a, and changing it needs `self` exclusively.
        unsafe { RecordRef::new(self.record) }
    }

    /// The key.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.record.key()
    }

    /// The type of the value.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.view().kind()
    }

    /// When the key expires, in milliseconds of Unix time.
    #[inline]
    #[must_use]
    pub fn expiry(&self) -> Option<u64> {
        self.record.expiry()
    }

    /// The value.
    #[inline]
    #[must_use]
    pub fn value(&self) -> ValueRef<'_> {
        self.view().value()
    }

    /// The value, to be changed.
    #[inline]
    #[must_use]
    pub fn value_mut(&mut self) -> ValueMut<'_> {
        // SAFETY: the copy goes into the value, which borrows `self` exclusively.
        unsafe { RecordMut::new(self.record) }.into_value()
    }

    /// The value, to be changed for as long as the table is borrowed.
    #[inline]
    #[must_use]
    pub fn into_value(self) -> ValueMut<'a> {
        let record = self.record;
        match record.form() {
            Form::Integer => ValueMut::Integer(record.integer()),
            // SAFETY: the slot is held exclusively for 'a, and `self` was the record's only view.
            Form::Bytes => ValueMut::Bytes(unsafe { record.bytes_mut() }),
            // SAFETY: the form says that an aligned blob stands there; exclusive as above.
            Form::Blob => ValueMut::Blob(unsafe { &mut *record.blob() }),
            // SAFETY: likewise an object.
            Form::Object => ValueMut::Object(unsafe { &mut *record.object() }),
        }
    }

    /// The collection, to be changed for as long as the table is borrowed.
    #[inline]
    #[must_use]
    pub fn into_object(self) -> Option<&'a mut Object> {
        match self.into_value() {
            ValueMut::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The long string, to be changed for as long as the table is borrowed.
    #[inline]
    #[must_use]
    pub fn into_blob(self) -> Option<&'a mut Blob> {
        match self.into_value() {
            ValueMut::Blob(blob) => Some(blob),
            _ => None,
        }
    }

    /// Puts another integer in the place of an integer. Panics if the value is not one.
    pub fn set_integer(&mut self, integer: i64) {
        self.record.write_integer(integer);
    }

    /// Writes a string over a string, keeping the expiry, if the record's block fits it. False: use
    /// [`Table::set`](crate::Table::set).
    pub fn try_overwrite(&mut self, value: &NewValue<'_>) -> bool {
        self.record.try_overwrite(value, self.expiry())
    }

    /// Notes that the string was changed in part, as APPEND and SETRANGE do: its encoding is raw
    /// until it is stored anew.
    pub fn mark_edited(&mut self) {
        self.record.set_edited(true);
    }

    /// Makes a short string longer (by zeros) or shorter where it stands, if the record's block
    /// fits it.
    pub fn try_resize(&mut self, len: usize) -> bool {
        self.record.try_resize(len)
    }
}

/// A record that was taken out of its table, and is freed when this is dropped.
pub struct Removed {
    record: Record,
}

// SAFETY: it owns the record; keys and values may be sent.
unsafe impl Send for Removed {}
// SAFETY: shared, it is only read.
unsafe impl Sync for Removed {}

impl Removed {
    /// # Safety
    ///
    /// No entry word leads to the record any more.
    pub(crate) unsafe fn new(record: Record) -> Self {
        Self { record }
    }

    /// What was removed.
    #[must_use]
    pub fn record(&self) -> RecordRef<'_> {
        // SAFETY: `self` owns the record and is borrowed.
        unsafe { RecordRef::new(self.record) }
    }

    /// Whether more than the record's block is to be freed.
    pub(crate) fn is_large(&self) -> bool {
        matches!(self.record.form(), Form::Blob | Form::Object)
    }

    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.record().kind()
    }

    /// When it was to expire, in milliseconds of Unix time.
    #[must_use]
    pub fn expiry(&self) -> Option<u64> {
        self.record().expiry()
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> ValueRef<'_> {
        self.record().value()
    }

    /// The value alone; collections and blobs are moved, not copied.
    #[must_use]
    pub fn into_value(self) -> OwnedValue {
        let record = std::mem::ManuallyDrop::new(self).record;
        let value = record.take_value();
        // SAFETY: owned, and the value has just been moved out.
        unsafe { record.free_without_value() };
        value
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        // SAFETY: `self` owned the record.
        unsafe { self.record.free() }
    }
}
