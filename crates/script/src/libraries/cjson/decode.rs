//! JSON to Lua values.
//!
//! The tokens and their names are lua-cjson's, since its errors name them. A zero byte ends the
//! text.

use super::super::given::Given;
use super::{DEPTH_MAX, Settings, number};
use crate::raise;
use mlua::{Lua, MultiValue, Result, Table, Value};

/// `cjson.decode(text)`
pub(super) fn decode(lua: &Lua, args: &MultiValue, settings: &Settings) -> Result<Value> {
    if args.len() != 1 {
        return Err(raise::argument(lua, 1, "decode", "expected 1 argument"));
    }
    let text = Given { lua, args, function: "decode" }.string(1)?;
    let bytes = text.as_bytes();
    if bytes.len() >= 2 && (bytes[0] == 0 || bytes[1] == 0) {
        return Err(raise::text(lua, "JSON parser does not support UTF-16 or UTF-32"));
    }
    let mut reader = Reader { lua, settings, bytes: &bytes, at: 0, depth: 0, text: Vec::new() };
    let first = reader.token();
    let value = reader.value(first)?;
    let last = reader.token();
    match last.kind {
        Kind::End => Ok(value),
        _ => Err(reader.expected("the end", &last)),
    }
}

/// What a piece of JSON is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// Its text stands in the reader.
    Text,
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    /// It is none, for this reason.
    Error(&'static str),
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::ObjectBegin => "T_OBJ_BEGIN",
            Kind::ObjectEnd => "T_OBJ_END",
            Kind::ArrayBegin => "T_ARR_BEGIN",
            Kind::ArrayEnd => "T_ARR_END",
            Kind::Text => "T_STRING",
            Kind::Number(_) => "T_NUMBER",
            Kind::Boolean(_) => "T_BOOLEAN",
            Kind::Null => "T_NULL",
            Kind::Colon => "T_COLON",
            Kind::Comma => "T_COMMA",
            Kind::End => "T_END",
            Kind::Error(why) => why,
        }
    }
}

struct Token {
    kind: Kind,
    /// Where it begins, or where it is wrong.
    at: usize,
}

struct Reader<'a> {
    lua: &'a Lua,
    settings: &'a Settings,
    bytes: &'a [u8],
    at: usize,
    depth: i64,
    /// The last string, without its escapes.
    text: Vec<u8>,
}

impl Reader<'_> {
    fn value(&mut self, token: Token) -> Result<Value> {
        match token.kind {
            Kind::Text => Ok(Value::String(self.lua.create_string(&self.text)?)),
            Kind::Number(number) => Ok(Value::Number(number)),
            Kind::Boolean(value) => Ok(Value::Boolean(value)),
            Kind::Null => Ok(Value::NULL),
            Kind::ObjectBegin => self.object().map(Value::Table),
            Kind::ArrayBegin => self.array().map(Value::Table),
            _ => Err(self.expected("value", &token)),
        }
    }

    fn expected(&self, what: &str, token: &Token) -> mlua::Error {
        let (found, at) = (token.kind.name(), token.at + 1);
        raise::text(self.lua, format!("Expected {what} but found {found} at character {at}"))
    }

    fn enter(&mut self) -> Result<Table> {
        self.depth += 1;
        if self.depth > self.settings.decode_depth_max.min(DEPTH_MAX) {
            let (depth, at) = (self.depth, self.at);
            let text = format!("Found too many nested data structures ({depth}) at character {at}");
            return Err(raise::text(self.lua, text));
        }
        self.lua.create_table()
    }

    fn object(&mut self) -> Result<Table> {
        let table = self.enter()?;
        let mut token = self.token();
        if token.kind == Kind::ObjectEnd {
            self.depth -= 1;
            return Ok(table);
        }
        loop {
            if token.kind != Kind::Text {
                return Err(self.expected("object key string", &token));
            }
            let key = self.lua.create_string(&self.text)?;
            token = self.token();
            if token.kind != Kind::Colon {
                return Err(self.expected("colon", &token));
            }
            token = self.token();
            let value = self.value(token)?;
            table.raw_set(key, value)?;
            token = self.token();
            match token.kind {
                Kind::ObjectEnd => break,
                Kind::Comma => token = self.token(),
                _ => return Err(self.expected("comma or object end", &token)),
            }
        }
        self.depth -= 1;
        Ok(table)
    }

    fn array(&mut self) -> Result<Table> {
        let table = self.enter()?;
        let mut token = self.token();
        if token.kind == Kind::ArrayEnd {
            self.depth -= 1;
            return Ok(table);
        }
        for index in 1.. {
            let value = self.value(token)?;
            table.raw_set(index, value)?;
            token = self.token();
            match token.kind {
                Kind::ArrayEnd => break,
                Kind::Comma => token = self.token(),
                _ => return Err(self.expected("comma or array end", &token)),
            }
        }
        self.depth -= 1;
        Ok(table)
    }

    /// The byte at an offset from here; zero behind the end.
    fn peek(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn token(&mut self) -> Token {
        while matches!(self.peek(0), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        let at = self.at;
        let mut single = |kind| {
            self.at += 1;
            Token { kind, at }
        };
        match self.bytes.get(at).copied().unwrap_or(0) {
            0 => Token { kind: Kind::End, at },
            b'{' => single(Kind::ObjectBegin),
            b'}' => single(Kind::ObjectEnd),
            b'[' => single(Kind::ArrayBegin),
            b']' => single(Kind::ArrayEnd),
            b':' => single(Kind::Colon),
            b',' => single(Kind::Comma),
            b'"' => self.string(at),
            b'-' | b'0'..=b'9' => {
                if !self.settings.decodes_invalid && self.is_invalid_number() {
                    return Token { kind: Kind::Error("invalid number"), at };
                }
                self.number(at)
            }
            _ => self.word(at),
        }
    }

    fn word(&mut self, at: usize) -> Token {
        let rest = &self.bytes[at..];
        for (word, kind) in [
            (b"true".as_slice(), Kind::Boolean(true)),
            (b"false", Kind::Boolean(false)),
            (b"null", Kind::Null),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Token { kind, at };
            }
        }
        if self.settings.decodes_invalid
            && matches!(rest[0], b'+' | b'i' | b'I' | b'n' | b'N')
            && self.is_invalid_number()
        {
            return self.number(at);
        }
        Token { kind: Kind::Error("invalid token"), at }
    }

    /// Whether what stands here is a number to C and none to JSON.
    fn is_invalid_number(&self) -> bool {
        if self.peek(0) == b'+' {
            return true;
        }
        let sign = usize::from(self.peek(0) == b'-');
        let (first, second) = (self.peek(sign), self.peek(sign + 1));
        if first == b'0' {
            return second.eq_ignore_ascii_case(&b'x') || second.is_ascii_digit();
        }
        if first <= b'9' {
            return false;
        }
        let rest = &self.bytes[self.at + sign..];
        let is = |word: &[u8]| rest.get(..3).is_some_and(|at| at.eq_ignore_ascii_case(word));
        is(b"inf") || is(b"nan")
    }

    fn number(&mut self, at: usize) -> Token {
        match number::parse(&self.bytes[at..]) {
            Some((number, length)) => {
                self.at += length;
                Token { kind: Kind::Number(number), at }
            }
            None => Token { kind: Kind::Error("invalid number"), at },
        }
    }

    fn string(&mut self, begin: usize) -> Token {
        self.at += 1;
        self.text.clear();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let plain = rest.iter().position(|byte| matches!(byte, 0 | b'"' | b'\\'));
            let plain = plain.unwrap_or(rest.len());
            self.text.extend_from_slice(&rest[..plain]);
            self.at += plain;
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return Token { kind: Kind::Text, at: begin };
                }
                b'\\' => {
                    if let Err(why) = self.escape() {
                        return Token { kind: Kind::Error(why), at: self.at };
                    }
                }
                _ => {
                    let kind = Kind::Error("unexpected end of string");
                    return Token { kind, at: self.at };
                }
            }
        }
    }

    /// Adds what an escape stands for.
    fn escape(&mut self) -> std::result::Result<(), &'static str> {
        let byte = match self.peek(1) {
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'b' => 0x08,
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => 0x0c,
            b'r' => b'\r',
            b'u' => {
                let why = "invalid unicode escape code";
                let (letter, length) = self.unicode().ok_or(why)?;
                self.text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                self.at += length;
                return Ok(());
            }
            _ => return Err("invalid escape code"),
        };
        self.text.push(byte);
        self.at += 2;
        Ok(())
    }

    /// The letter of a `\u` escape, or of two that are one letter's halves; and their bytes.
    fn unicode(&self) -> Option<(char, usize)> {
        const LENGTH: usize = 6;
        let first = self.hexadecimal(2)?;
        if let Some(letter) = char::from_u32(first) {
            return Some((letter, LENGTH));
        }
        if self.peek(LENGTH) != b'\\' || self.peek(LENGTH + 1) != b'u' {
            return None;
        }
        let second = self.hexadecimal(LENGTH + 2)?;
        if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
            return None;
        }
        let letter = char::from_u32(0x1_0000 + ((first & 0x3ff) << 10 | second & 0x3ff))?;
        Some((letter, 2 * LENGTH))
    }

    /// Four hexadecimal digits.
    fn hexadecimal(&self, offset: usize) -> Option<u32> {
        (offset..offset + 4)
            .try_fold(0, |number, at| Some(number << 4 | char::from(self.peek(at)).to_digit(16)?))
    }
}
