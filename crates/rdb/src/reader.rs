//! Reads lengths, strings and numbers out of RDB's bytes.
//!
//! ```text
//! length  00xxxxxx                      6 bits
//!         01xxxxxx + 1 byte             14 bits, high ones first
//!         0x80 + 4 bytes, 0x81 + 8      big endian
//! string  length, bytes
//!         0xc0 + 1 byte, 0xc1 + 2, 0xc2 + 4    an integer, little endian, in decimal
//!         0xc3, packed length, length, bytes   LZF
//! ```

use crate::{Malformed, lzf};
use caudal_value::{Item, ItemBytes};

/// What is left of some bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    string_bytes_max: usize,
}

/// A string as it stood there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text<'a> {
    /// Stored as an integer.
    Integer(i64),
    /// Stored as it is.
    Raw(&'a [u8]),
    /// Stored compressed.
    Unpacked(Vec<u8>),
}

impl Text<'_> {
    /// The string, without a copy.
    pub fn with<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        match self {
            Text::Integer(integer) => Item::Integer(*integer).with(f),
            Text::Raw(bytes) => f(bytes),
            Text::Unpacked(bytes) => f(bytes),
        }
    }

    /// The string, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Text::Integer(integer) => ItemBytes::into_vec(Item::Integer(integer).to_bytes()),
            Text::Raw(bytes) => bytes.to_vec(),
            Text::Unpacked(bytes) => bytes,
        }
    }
}

/// What a length's place holds.
enum Length {
    Plain(u64),
    /// A string's special form.
    Special(u8),
}

const SPECIAL_INT8: u8 = 0;
const SPECIAL_INT16: u8 = 1;
const SPECIAL_INT32: u8 = 2;
const SPECIAL_LZF: u8 = 3;

impl<'a> Reader<'a> {
    /// Reads `bytes`; a string in it has at most `string_bytes_max` of them when it is unpacked.
    pub fn new(bytes: &'a [u8], string_bytes_max: usize) -> Reader<'a> {
        Reader { rest: bytes, string_bytes_max }
    }

    /// Whether all was read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next bytes, of a number that the type says.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed::Short)?;
        self.rest = rest;
        Ok(*bytes)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A signed 64-bit number, little endian: a time in milliseconds.
    pub fn i64(&mut self) -> Result<i64, Malformed> {
        self.array().map(i64::from_le_bytes)
    }

    /// A double, little endian.
    pub fn f64(&mut self) -> Result<f64, Malformed> {
        self.array().map(f64::from_le_bytes)
    }

    /// A length. It is a claim: what it counts may not be there.
    pub fn length(&mut self) -> Result<u64, Malformed> {
        match self.length_or_special()? {
            Length::Plain(length) => Ok(length),
            Length::Special(_) => Err(Malformed::Length),
        }
    }

    fn length_or_special(&mut self) -> Result<Length, Malformed> {
        let first = self.byte()?;
        let low = first & 0x3f;
        Ok(match first >> 6 {
            0 => Length::Plain(u64::from(low)),
            1 => Length::Plain(u64::from(u16::from_be_bytes([low, self.byte()?]))),
            2 if first == LENGTH_32 => Length::Plain(u32::from_be_bytes(self.array()?).into()),
            2 if first == LENGTH_64 => Length::Plain(u64::from_be_bytes(self.array()?)),
            2 => return Err(Malformed::Length),
            _ => Length::Special(low),
        })
    }

    /// A string.
    pub fn string(&mut self) -> Result<Text<'a>, Malformed> {
        match self.length_or_special()? {
            Length::Plain(length) => {
                let length = usize::try_from(length).map_err(|_| Malformed::Short)?;
                let bytes = self.bytes(length)?;
                if length > self.string_bytes_max {
                    return Err(Malformed::TooLong);
                }
                Ok(Text::Raw(bytes))
            }
            Length::Special(SPECIAL_INT8) => {
                Ok(Text::Integer(i8::from_le_bytes(self.array()?).into()))
            }
            Length::Special(SPECIAL_INT16) => {
                Ok(Text::Integer(i16::from_le_bytes(self.array()?).into()))
            }
            Length::Special(SPECIAL_INT32) => {
                Ok(Text::Integer(i32::from_le_bytes(self.array()?).into()))
            }
            Length::Special(SPECIAL_LZF) => self.unpack(),
            Length::Special(_) => Err(Malformed::Length),
        }
    }

    fn unpack(&mut self) -> Result<Text<'a>, Malformed> {
        let packed = usize::try_from(self.length()?).map_err(|_| Malformed::Short)?;
        let length = usize::try_from(self.length()?).map_err(|_| Malformed::TooLong)?;
        let packed = self.bytes(packed)?;
        if length > self.string_bytes_max {
            return Err(Malformed::TooLong);
        }
        lzf::decompress(packed, length).map(Text::Unpacked).ok_or(Malformed::Compressed)
    }
}

pub(crate) const LENGTH_32: u8 = 0x80;
pub(crate) const LENGTH_64: u8 = 0x81;
