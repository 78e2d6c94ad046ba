//! The bytes of a record: where each part stands, and how it is read and written.
//!
//! Everything here is a question of offsets; who may ask is decided by the views and the table.

use super::{INLINE_BYTES_MAX, NewValue, OwnedValue};
use crate::heap::{self, UNIT};
use caudal_value::{Blob, Object};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// First twelve bytes of every record.
#[repr(C)]
struct Header {
    form: Form,
    flags: u8,
    /// In units of 16 bytes, > 0.
    extent: u16,
    /// 24 bits used.
    clock: AtomicU32,
    /// Bytes of the key as it stands here: 16, the size of a box, for a long one.
    key_len: u16,
    /// Bytes of an inline string; 0 for the other forms.
    value_len: u16,
}

const HEADER: usize = 12;
const _: () = assert!(size_of::<Header>() == HEADER && align_of::<Header>() == 4);
const _: () = assert!(2 * INLINE_BYTES_MAX + HEADER + 8 < UNIT * u16::MAX as usize);
const _: () = assert!(align_of::<Object>() <= 8 && align_of::<Blob>() <= 8);

const EXPIRES: u8 = 1;
const LONG_KEY: u8 = 2;
/// The string was changed in part since it was stored: OBJECT ENCODING calls it raw whatever its
/// length.
const EDITED: u8 = 4;
const BOX: usize = size_of::<Box<[u8]>>();

/// How the value stands in the record.
#[derive(Copy, Clone, Eq, PartialEq)]
#[repr(u8)]
pub(crate) enum Form {
    Integer,
    Bytes,
    Blob,
    Object,
}

/// Where the parts of a record stand.
struct Shape {
    key: usize,
    value: usize,
    end: usize,
}

impl Shape {
    #[inline]
    fn new(flags: u8, key_len: usize, form: Form, value_len: usize) -> Self {
        let mut key = HEADER + if flags & EXPIRES != 0 { 8 } else { 0 };
        if flags & LONG_KEY != 0 {
            key = key.next_multiple_of(8);
        }
        let key_end = key + key_len;
        let (value, len) = match form {
            Form::Integer => (key_end, 8),
            Form::Bytes => (key_end, value_len),
            Form::Blob => (key_end.next_multiple_of(8), size_of::<Blob>()),
            Form::Object => (key_end.next_multiple_of(8), size_of::<Object>()),
        };
        Self { key, value, end: value + len }
    }
}

impl NewValue<'_> {
    #[inline]
    fn form(&self) -> (Form, usize) {
        match self {
            NewValue::Integer(_) => (Form::Integer, 0),
            NewValue::Bytes(bytes) | NewValue::Edited(bytes) => (Form::Bytes, bytes.len()),
            NewValue::Blob(_) => (Form::Blob, 0),
            NewValue::Object(_) => (Form::Object, 0),
        }
    }
}

/// Address of a live record. Copies are the same record: who holds one knows by the slot's lock
/// what it may do.
#[derive(Copy, Clone, Eq, PartialEq)]
pub(crate) struct Record(NonNull<u8>);

impl Record {
    /// Writes a new record. `value` is settled: no inline bytes beyond the limit.
    pub(crate) fn new(key: &[u8], value: NewValue<'_>, expiry: Option<u64>, clock: u32) -> Self {
        let long = key.len() > INLINE_BYTES_MAX;
        let flags = if expiry.is_some() { EXPIRES } else { 0 }
            | if long { LONG_KEY } else { 0 }
            | if matches!(value, NewValue::Edited(_)) { EDITED } else { 0 };
        let key_len = if long { BOX } else { key.len() };
        let (form, value_len) = value.form();
        assert!(value_len <= INLINE_BYTES_MAX);
        let shape = Shape::new(flags, key_len, form, value_len);
        let extent = heap::size_class(shape.end);
        let record = Self(heap::allocate(extent));
        let header = Header {
            form,
            flags,
            extent: narrow(extent / UNIT),
            clock: AtomicU32::new(clock),
            key_len: narrow(key_len),
            value_len: narrow(value_len),
        };
        // SAFETY: the block is at least a header long, aligned to 16 and ours alone.
        unsafe { record.0.cast::<Header>().write(header) };
        if let Some(expiry) = expiry {
            record.write_expiry(expiry);
        }
        if long {
            record.write_at(shape.key, Box::<[u8]>::from(key));
        } else {
            record.copy_at(shape.key, key);
        }
        record.write_value(shape.value, value);
        record
    }

    /// The record at an address that an entry word kept.
    ///
    /// # Safety
    ///
    /// A live record stands there.
    #[inline]
    pub(crate) unsafe fn from_address(address: u64) -> Self {
        // SAFETY: a record's address is not null.
        Self(unsafe { NonNull::new_unchecked(heap::pointer_at(address)) })
    }

    /// The address that an entry word keeps.
    #[inline]
    pub(crate) fn address(self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// Frees the record with all that it holds.
    ///
    /// # Safety
    ///
    /// The record is no longer reachable and nobody has a view of it.
    pub(crate) unsafe fn free(self) {
        match self.form() {
            Form::Integer | Form::Bytes => (),
            Form::Blob => drop(self.read_at::<Blob>(self.shape().value)),
            Form::Object => drop(self.read_at::<Object>(self.shape().value)),
        }
        // SAFETY: the value was just dropped; the rest is as the caller promises.
        unsafe { self.free_without_value() };
    }

    /// Frees the block and the key. The value was moved out.
    ///
    /// # Safety
    ///
    /// As for [`Record::free`]; a blob or an object is dropped by somebody else.
    pub(crate) unsafe fn free_without_value(self) {
        if self.flags() & LONG_KEY != 0 {
            drop(self.read_at::<Box<[u8]>>(self.shape().key));
        }
        // SAFETY: the block was allocated with the extent in its header.
        unsafe { heap::free(self.0, self.extent()) };
    }

    /// Moves the value out; the caller then frees the record without it.
    pub(crate) fn take_value(self) -> OwnedValue {
        match self.form() {
            Form::Integer => OwnedValue::Integer(self.integer()),
            Form::Bytes if self.is_edited() => OwnedValue::Edited(self.bytes().into()),
            Form::Bytes => OwnedValue::Bytes(self.bytes().into()),
            Form::Blob => OwnedValue::Blob(self.read_at(self.shape().value)),
            Form::Object => OwnedValue::Object(self.read_at(self.shape().value)),
        }
    }

    /// A copy with another expiry, and the value, which leaves this record: it is then freed
    /// without it.
    pub(crate) fn moved(self, expiry: Option<u64>) -> Self {
        let clock = self.clock().load(Relaxed);
        let new = match self.form() {
            Form::Integer => {
                Self::new(self.key(), NewValue::Integer(self.integer()), expiry, clock)
            }
            Form::Bytes => Self::new(self.key(), NewValue::Bytes(self.bytes()), expiry, clock),
            Form::Blob | Form::Object => {
                self.take_value().with_new(|value| Self::new(self.key(), value, expiry, clock))
            }
        };
        new.set_edited(self.is_edited());
        new
    }

    /// Writes a string over a string if the block fits it well: not too small, at most twice too
    /// large, and with the place for an expiry exactly if it needs one.
    pub(crate) fn try_overwrite(self, value: &NewValue<'_>, expiry: Option<u64>) -> bool {
        let is_string = matches!(self.form(), Form::Integer | Form::Bytes);
        if !is_string || self.expires() != expiry.is_some() {
            return false;
        }
        let (form, value_len) = value.form();
        if !matches!(form, Form::Integer | Form::Bytes) || value_len > INLINE_BYTES_MAX {
            return false;
        }
        let shape = Shape::new(self.flags(), self.key_len(), form, value_len);
        if shape.end > self.extent() || heap::size_class(shape.end) < self.extent() / 2 {
            return false;
        }
        if let Some(expiry) = expiry {
            self.write_expiry(expiry);
        }
        self.set_form(form, value_len);
        self.set_edited(matches!(value, NewValue::Edited(_)));
        match value {
            NewValue::Integer(integer) => self.write_at(shape.value, *integer),
            NewValue::Bytes(bytes) | NewValue::Edited(bytes) => self.copy_at(shape.value, bytes),
            NewValue::Blob(_) | NewValue::Object(_) => unreachable!("only strings come here"),
        }
        true
    }

    /// Changes the length of an inline string in its block; new bytes are zero. False if they do
    /// not fit.
    pub(crate) fn try_resize(self, len: usize) -> bool {
        if self.form() != Form::Bytes || len > INLINE_BYTES_MAX {
            return false;
        }
        let shape = Shape::new(self.flags(), self.key_len(), Form::Bytes, len);
        if shape.end > self.extent() {
            return false;
        }
        for at in shape.value + self.value_len()..shape.end {
            self.write_at(at, 0u8);
        }
        self.set_form(Form::Bytes, len);
        true
    }

    #[inline]
    pub(crate) fn form(self) -> Form {
        self.header().form
    }

    #[inline]
    pub(crate) fn clock(&self) -> &AtomicU32 {
        &self.header().clock
    }

    /// Bytes of the block.
    #[inline]
    pub(crate) fn extent(self) -> usize {
        usize::from(self.header().extent) * UNIT
    }

    #[inline]
    pub(crate) fn expires(self) -> bool {
        self.flags() & EXPIRES != 0
    }

    #[inline]
    pub(crate) fn expiry(self) -> Option<u64> {
        // The place is 4-aligned only, so it is read as two halves' worth of bytes.
        self.expires().then(|| self.copy_of::<u64>(HEADER))
    }

    /// Changes the expiry of a record that has one.
    pub(crate) fn write_expiry(self, expiry: u64) {
        assert!(self.expires());
        self.write_at(HEADER, expiry);
    }

    #[inline]
    pub(crate) fn key<'a>(self) -> &'a [u8] {
        if self.flags() & LONG_KEY != 0 {
            let key: *const Box<[u8]> = self.at(self.shape().key).cast();
            // SAFETY: an aligned box was written there when the record was made.
            return unsafe { &*key };
        }
        let at = HEADER + if self.expires() { 8 } else { 0 };
        // SAFETY: the key's bytes were written there, and never change.
        unsafe { std::slice::from_raw_parts(self.at(at), self.key_len()) }
    }

    /// Whether the string was changed in part since it was stored.
    #[inline]
    pub(crate) fn is_edited(self) -> bool {
        self.flags() & EDITED != 0
    }

    /// Notes whether the string was changed in part.
    #[inline]
    pub(crate) fn set_edited(self, edited: bool) {
        if edited == self.is_edited() {
            return;
        }
        let header = self.0.cast::<Header>().as_ptr();
        // SAFETY: a field of the header, which only the holder of the slot's exclusive lock
        // changes.
        unsafe { (&raw mut (*header).flags).write(self.flags() ^ EDITED) };
    }

    #[inline]
    pub(crate) fn has_long_key(self) -> bool {
        self.flags() & LONG_KEY != 0
    }

    #[inline]
    pub(crate) fn integer(self) -> i64 {
        debug_assert!(self.form() == Form::Integer);
        self.copy_of(self.shape().value)
    }

    pub(crate) fn write_integer(self, integer: i64) {
        assert!(self.form() == Form::Integer);
        self.write_at(self.shape().value, integer);
    }

    #[inline]
    pub(crate) fn bytes<'a>(self) -> &'a [u8] {
        debug_assert!(self.form() == Form::Bytes);
        // SAFETY: so many bytes were written there; the views tie the slice to the slot's lock.
        unsafe { std::slice::from_raw_parts(self.at(self.shape().value), self.value_len()) }
    }

    /// # Safety
    ///
    /// The caller holds the slot exclusively for `'a`, and has no other view of the value.
    pub(crate) unsafe fn bytes_mut<'a>(self) -> &'a mut [u8] {
        assert!(self.form() == Form::Bytes);
        // SAFETY: so many bytes were written there, and the caller is alone.
        unsafe { std::slice::from_raw_parts_mut(self.at(self.shape().value), self.value_len()) }
    }

    /// The blob of a record that holds one.
    #[inline]
    pub(crate) fn blob(self) -> *mut Blob {
        assert!(self.form() == Form::Blob);
        self.at(self.shape().value).cast()
    }

    /// The collection of a record that holds one.
    #[inline]
    pub(crate) fn object(self) -> *mut Object {
        assert!(self.form() == Form::Object);
        self.at(self.shape().value).cast()
    }

    fn write_value(self, at: usize, value: NewValue<'_>) {
        match value {
            NewValue::Integer(integer) => self.write_at(at, integer),
            NewValue::Bytes(bytes) | NewValue::Edited(bytes) => self.copy_at(at, bytes),
            NewValue::Blob(blob) => self.write_at(at, blob),
            NewValue::Object(object) => self.write_at(at, object),
        }
    }

    fn set_form(self, form: Form, value_len: usize) {
        let header = self.0.cast::<Header>().as_ptr();
        // SAFETY: a field of the header, which only the holder of the slot's exclusive lock
        // changes.
        unsafe { (&raw mut (*header).form).write(form) };
        // SAFETY: as above.
        unsafe { (&raw mut (*header).value_len).write(narrow(value_len)) };
    }

    #[inline]
    fn header<'a>(self) -> &'a Header {
        // SAFETY: a record begins with its header; it is changed under the exclusive lock only, the
        // clock aside.
        unsafe { self.0.cast::<Header>().as_ref() }
    }

    #[inline]
    fn flags(self) -> u8 {
        self.header().flags
    }

    #[inline]
    fn key_len(self) -> usize {
        usize::from(self.header().key_len)
    }

    #[inline]
    fn value_len(self) -> usize {
        usize::from(self.header().value_len)
    }

    #[inline]
    fn shape(self) -> Shape {
        Shape::new(self.flags(), self.key_len(), self.form(), self.value_len())
    }

    #[inline]
    fn at(self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.extent());
        // SAFETY: offsets come from a shape, which ends within the extent.
        unsafe { self.0.as_ptr().add(offset) }
    }

    #[inline]
    fn write_at<T>(self, offset: usize, value: T) {
        debug_assert!(offset + size_of::<T>() <= self.extent());
        // SAFETY: within the block, which the caller alone may change; no alignment is asked for.
        unsafe { self.at(offset).cast::<T>().write_unaligned(value) }
    }

    #[inline]
    fn copy_at(self, offset: usize, bytes: &[u8]) {
        debug_assert!(offset + bytes.len() <= self.extent());
        // SAFETY: within the block; a borrowed slice cannot be part of a block that the caller may
        // change.
        unsafe { self.at(offset).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
    }

    /// Moves out what was written there.
    fn read_at<T>(self, offset: usize) -> T {
        // SAFETY: callers ask for what the header's form and flags say was written at this offset.
        unsafe { self.at(offset).cast::<T>().read_unaligned() }
    }

    #[inline]
    fn copy_of<T: Copy>(self, offset: usize) -> T {
        self.read_at(offset)
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "asserted just before")]
fn narrow(number: usize) -> u16 {
    assert!(number <= usize::from(u16::MAX));
    number as u16
}
