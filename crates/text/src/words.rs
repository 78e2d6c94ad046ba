//! Words in quotes: inline commands, lines of the configuration file; and the same way back for
//! logs.
//!
//! In double quotes stand `\n \r \t \b \a`, `\xHH`, and a backslash before any other byte means
//! that byte. In single quotes only `\'` is special. A quote may open and close inside a word, as
//! in a shell: `"""k"""` is `k`.

/// Splits a line at its blanks. `None` if a quote is not closed.
pub fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = skip_space(rest);
        if rest.is_empty() {
            return Some(words);
        }
        let mut word = Vec::new();
        rest = take_word(rest, &mut word)?;
        words.push(word);
    }
}

/// Appends `text` in double quotes with every byte printable, so that [`split`] gives it back.
pub fn quote(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x07 => out.extend_from_slice(b"\\a"),
            0x08 => out.extend_from_slice(b"\\b"),
            b' '..=b'~' => out.push(byte),
            _ => {
                let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                out.extend_from_slice(&[b'\\', b'x', high, low]);
            }
        }
    }
    out.push(b'"');
}

/// Appends the word that `rest` begins with, and gives what follows it.
fn take_word<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] | [b' ' | b'\n' | b'\r' | b'\t', ..] => return Some(rest),
            [b'"', quoted @ ..] => rest = take_double_quoted(quoted, word)?,
            [b'\'', quoted @ ..] => rest = take_single_quoted(quoted, word)?,
            [byte, others @ ..] => {
                word.push(*byte);
                rest = others;
            }
        }
    }
}

fn take_double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let (byte, others) = match rest {
            [] => return None,
            [b'"', others @ ..] => return Some(others),
            [b'\\', b'x', high, low, others @ ..] if is_hex(*high) && is_hex(*low) => {
                (hex_value(*high) << 4 | hex_value(*low), others)
            }
            [b'\\', escaped, others @ ..] => (unescape(*escaped), others),
            [byte, others @ ..] => (*byte, others),
        };
        word.push(byte);
        rest = others;
    }
}

fn take_single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        let (byte, others) = match rest {
            [] => return None,
            [b'\'', others @ ..] => return Some(others),
            [b'\\', b'\'', others @ ..] => (b'\'', others),
            [byte, others @ ..] => (*byte, others),
        };
        word.push(byte);
        rest = others;
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

/// `byte` is a hexadecimal digit.
fn hex_value(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

fn skip_space(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'..=b'\r'));
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_and_escapes_are_undone() {
        for (line, words) in [
            (&b"set k v"[..], &[&b"set"[..], b"k", b"v"][..]),
            (b" \t\x0b a \r\n", &[b"a"]),
            (b"", &[]),
            (b"\"\"", &[b""]),
            (br#"set """k""" v"#, &[b"set", b"k", b"v"]),
            (br#""a"b"#, &[b"ab"]),
            (br#"a"b c""#, &[b"ab c"]),
            (br#""\x41\n\xZZ\q\b\a\"\\""#, &[b"A\nxZZq\x08\x07\"\\"]),
            (br#"'a\'b\n\x41"'"#, &[b"a'b\\n\\x41\""]),
            (br#""a"'b'"#, &[b"ab"]),
            (b"'''a'''", &[b"a"]),
            (b"a\x0bb\x0c", &[b"a\x0bb\x0c"]),
            (br#""\x4""#, &[b"x4"]),
        ] {
            assert_eq!(split(line).unwrap(), words, "{line:?}");
        }
    }

    #[test]
    fn an_open_quote_is_refused() {
        for line in ["\"a", "'a", "\"\"\"", "\"\" \"", "\"a\\", "\"a\\\"", "'a\\'"] {
            assert_eq!(split(line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn what_is_not_printable_is_quoted_in_hex() {
        let mut out = Vec::new();
        quote(b"a\"\\\n\r\t\x07\x08\x00\xff\x7f ", &mut out);
        assert_eq!(out, br#""a\"\\\n\r\t\a\b\x00\xff\x7f ""#);
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_one_word(words: Vec<Vec<u8>>) {
            let mut line = Vec::new();
            for word in &words {
                quote(word, &mut line);
                line.push(b' ');
            }
            prop_assert_eq!(split(&line), Some(words));
        }

        #[test]
        fn any_bytes_are_a_line(line: Vec<u8>, spelled in "[a'\" \\\\x0-9]{0,30}") {
            let _ = split(&line);
            let _ = split(spelled.as_bytes());
        }
    }
}
