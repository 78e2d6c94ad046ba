//! Which replies are alike, command by command: most to the byte, some in any order, some in shape.

use caudal_generator::Words;
use caudal_wire::Frame;

/// What may differ in a reply.
pub(crate) enum Mask {
    Exact,
    /// The order of its elements.
    Unordered,
    /// The order of its pairs.
    UnorderedPairs,
    /// The words themselves: the command answers at random.
    Shape,
    /// How a short string is kept: a renamed one forgets that it was changed in part. And by how
    /// many: in Valkey by a transaction's own words as well.
    Inside,
    /// A number, by so much: the clock went on.
    Near(i64),
    /// EXEC: what may differ in each command's reply.
    Each(Vec<Mask>),
}

impl Mask {
    pub(crate) fn of(words: &Words) -> Self {
        match name(words).as_str() {
            "KEYS" | "SMEMBERS" | "SINTER" | "SUNION" | "SDIFF" | "HKEYS" | "HVALS" => {
                Self::Unordered
            }
            "HGETALL" => Self::UnorderedPairs,
            "RANDOMKEY" | "SRANDMEMBER" | "HRANDFIELD" | "ZRANDMEMBER" => Self::Shape,
            "OBJECT" => Self::Inside,
            "TTL" | "EXPIRETIME" => Self::Near(30),
            "PTTL" | "PEXPIRETIME" => Self::Near(30_000),
            _ => Self::Exact,
        }
    }

    /// Whether two replies are alike. The texts of errors are Valkey's.
    pub(crate) fn accepts(&self, oracle: &Frame, tested: &Frame, is_valkey: bool) -> bool {
        if oracle == tested || unsigned(oracle) == unsigned(tested) {
            return true;
        }
        match (self, oracle, tested) {
            (_, Frame::Error(_), Frame::Error(_)) => !is_valkey,
            (Self::Exact, ..) => !is_valkey && rounded(oracle) == rounded(tested),
            (Self::Inside, Frame::Integer(one), Frame::Integer(other)) => one.abs_diff(*other) == 1,
            (Self::Inside, Frame::Bulk(one), Frame::Bulk(other)) => {
                [one, other].iter().all(|name| [&b"raw"[..], b"embstr"].contains(&&name[..]))
            }
            (Self::Unordered, ..) => sorted(oracle, 1) == sorted(tested, 1),
            (Self::UnorderedPairs, ..) => sorted(oracle, 2) == sorted(tested, 2),
            (Self::Shape, ..) => shape(oracle) == shape(tested),
            (Self::Near(most), Frame::Integer(one), Frame::Integer(other)) => {
                *one > 0 && *other > 0 && one.abs_diff(*other) <= most.unsigned_abs()
            }
            (Self::Each(masks), Frame::Array(one), Frame::Array(other)) => {
                let pairs = || one.iter().zip(other).zip(masks);
                one.len() == masks.len()
                    && other.len() == masks.len()
                    && pairs().all(|((one, other), mask)| mask.accepts(one, other, is_valkey))
            }
            _ => false,
        }
    }
}

/// The elements in groups of `size`, in an order of their own, and the kind of aggregate.
fn sorted(frame: &Frame, size: usize) -> (u8, Vec<String>) {
    let list = |frames: &[Frame]| -> Vec<String> {
        frames.chunks(size).map(|group| format!("{group:?}")).collect()
    };
    let (kind, mut groups) = match frame {
        Frame::Array(frames) => (0, list(frames)),
        Frame::Set(frames) => (1, list(frames)),
        Frame::Map(pairs) => (2, pairs.iter().map(|pair| format!("{pair:?}")).collect()),
        other => (3, vec![format!("{other:?}")]),
    };
    groups.sort_unstable();
    (kind, groups)
}

/// A reply without its words and numbers.
fn shape(frame: &Frame) -> String {
    let list = |frames: &[Frame]| frames.iter().map(shape).collect::<Vec<_>>().join(" ");
    match frame {
        Frame::Bulk(_) => "bulk".to_owned(),
        Frame::Double(_) => "double".to_owned(),
        Frame::Array(frames) => format!("[{}]", list(frames)),
        Frame::Set(frames) => format!("~[{}]", list(frames)),
        other => format!("{other:?}"),
    }
}

/// A reply in which a negative zero is a zero: Valkey's listpacks forget its sign, its skiplists do
/// not.
fn unsigned(frame: &Frame) -> Frame {
    let list = |frames: &[Frame]| frames.iter().map(unsigned).collect();
    match frame {
        Frame::Bulk(bytes) if bytes == b"-0" => Frame::Bulk(b"0".to_vec()),
        Frame::Array(frames) => Frame::Array(list(frames)),
        other => other.clone(),
    }
}

/// A reply with doubles as Valkey writes them: Redis 7.0 gives 17 digits.
fn rounded(frame: &Frame) -> String {
    let list = |frames: &[Frame]| frames.iter().map(rounded).collect::<Vec<_>>().join(" ");
    match frame {
        Frame::Bulk(bytes) => match std::str::from_utf8(bytes).map(str::parse::<f64>) {
            Ok(Ok(number)) => number.to_string(),
            _ => format!("{frame:?}"),
        },
        Frame::Array(frames) => format!("[{}]", list(frames)),
        other => format!("{other:?}"),
    }
}

/// A command's name in upper case.
pub(crate) fn name(words: &Words) -> String {
    String::from_utf8_lossy(&words[0]).to_ascii_uppercase()
}

/// The bytes of a reply that is a string.
pub(crate) fn bytes(frame: &Frame) -> Vec<u8> {
    match frame {
        Frame::Bulk(bytes) | Frame::Status(bytes) => bytes.clone(),
        other => panic!("{other:?} instead of a string"),
    }
}

/// What a walk found, each once: fields with their values, members with their scores.
pub(crate) fn grouped(asked: &Words, elements: Vec<Frame>) -> Vec<Frame> {
    let has_values = match name(asked).as_str() {
        "HSCAN" => !asked.iter().any(|word| word.eq_ignore_ascii_case(b"NOVALUES")),
        other => other == "ZSCAN",
    };
    if !has_values {
        return elements;
    }
    elements.chunks(2).map(|pair| Frame::Array(pair.to_vec())).collect()
}

/// Commands that cannot be compared inside a transaction: they need another one sent.
pub(crate) fn needs_care(words: &Words) -> bool {
    matches!(name(words).as_str(), "SPOP" | "SCAN" | "SSCAN" | "HSCAN" | "ZSCAN")
}

/// Where Caudal differs on purpose: Valkey takes LSET's index in a listpack modulo 2^32.
pub(crate) fn differs_on_purpose(words: &Words) -> bool {
    let is_wide = |word: &Vec<u8>| word.len() >= "4294967296".len();
    name(words) == "LSET" && words.get(2).is_some_and(is_wide)
}

/// Whether Redis 7.0 answers a command as Valkey 9 does.
pub(crate) fn redis_knows(words: &Words) -> bool {
    let newer = ["WITHSCORE", "NOVALUES", "ENCODING", "REFCOUNT", "GETEX"];
    let is_newer =
        |word: &Vec<u8>| newer.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    // It reads doubles with C's strtod, blanks and hexadecimals too.
    let is_odd = |word: &[u8]| word.starts_with(b" ") || word.ends_with(b"0x10");
    let is_least = |word: &[u8]| word == i64::MIN.to_string().as_bytes();
    let has_option = name(words).ends_with("RANK") && words.len() > 3;
    !has_option && !words.iter().any(|word| is_newer(word) || is_odd(word) || is_least(word))
}

/// A command as a person would type it.
pub(crate) fn spell(words: &Words) -> String {
    let word = |word: &Vec<u8>| {
        let is_plain = !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
        let text = word.escape_ascii().to_string();
        if is_plain { text } else { format!("\"{text}\"") }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(words: &[&str]) -> Frame {
        Frame::Array(words.iter().map(|word| Frame::Bulk(word.as_bytes().to_vec())).collect())
    }

    #[test]
    fn masks_let_through_what_they_name() {
        let (one, other) = (array(&["a", "1", "b", "2"]), array(&["b", "2", "a", "1"]));
        assert!(!Mask::Exact.accepts(&one, &other, true));
        assert!(Mask::Unordered.accepts(&one, &other, true));
        assert!(Mask::UnorderedPairs.accepts(&one, &other, true));
        let torn = array(&["a", "2", "b", "1"]);
        assert!(Mask::Unordered.accepts(&one, &torn, true));
        assert!(!Mask::UnorderedPairs.accepts(&one, &torn, true));
        assert!(Mask::Shape.accepts(&one, &torn, true));
        assert!(!Mask::Shape.accepts(&one, &array(&["a"]), true));
        assert!(Mask::Near(2).accepts(&Frame::Integer(9), &Frame::Integer(8), true));
        assert!(!Mask::Near(2).accepts(&Frame::Integer(9), &Frame::Integer(-1), true));
        let errors = [b"ERR a", b"ERR b"].map(|text| Frame::Error(text.to_vec()));
        assert!(!Mask::Shape.accepts(&errors[0], &errors[1], true));
        assert!(Mask::Exact.accepts(&errors[0], &errors[1], false));
    }
}
