//! Frames and what is none. The way there and back is tested with the reply writer.

use super::*;
use proptest::prelude::*;

fn parsed(input: &str) -> Result<Option<(Frame, usize)>, FrameError> {
    parse(input.as_bytes())
}

#[test]
fn each_kind_is_read() {
    for (input, frame) in [
        ("+OK\r\n", Frame::Status(b"OK".to_vec())),
        ("-ERR x\r\n", Frame::Error(b"ERR x".to_vec())),
        ("!5\r\nERR x\r\n", Frame::Error(b"ERR x".to_vec())),
        (":-7\r\n", Frame::Integer(-7)),
        ("$2\r\na\n\r\n", Frame::Bulk(b"a\n".to_vec())),
        ("$-1\r\n", Frame::NullBulk),
        ("*-1\r\n", Frame::NullArray),
        ("_\r\n", Frame::Null),
        ("*2\r\n:1\r\n*0\r\n", Frame::Array(vec![Frame::Integer(1), Frame::Array(vec![])])),
        ("%1\r\n:1\r\n:2\r\n", Frame::Map(vec![(Frame::Integer(1), Frame::Integer(2))])),
        ("~0\r\n", Frame::Set(vec![])),
        (">1\r\n:1\r\n", Frame::Push(vec![Frame::Integer(1)])),
        (",inf\r\n", Frame::Double(f64::INFINITY)),
        ("#f\r\n", Frame::Boolean(false)),
        ("(12\r\n", Frame::BigNumber(b"12".to_vec())),
        ("=6\r\ntxt:ab\r\n", Frame::Verbatim { format: *b"txt", text: b"ab".to_vec() }),
    ] {
        assert_eq!(parsed(input), Ok(Some((frame, input.len()))), "{input:?}");
    }
    assert!(matches!(parsed(",nan\r\n"), Ok(Some((Frame::Double(number), 6))) if number.is_nan()));
}

#[test]
fn what_is_no_frame_is_refused() {
    for (input, error) in [
        ("x", FrameError::Kind(b'x')),
        ("$-2\r\n", FrameError::Length),
        ("$01\r\n", FrameError::Length),
        ("*x\r\n", FrameError::Length),
        ("$99999999999\r\n", FrameError::Length),
        (":1.5\r\n", FrameError::Scalar),
        ("#x\r\n", FrameError::Scalar),
        ("_x\r\n", FrameError::Scalar),
        (",x\r\n", FrameError::Scalar),
        ("=2\r\nab\r\n", FrameError::Scalar),
        ("$1\r\nabc", FrameError::End),
        ("+a\rb", FrameError::End),
    ] {
        assert_eq!(parsed(input), Err(error), "{input:?}");
        assert!(!error.to_string().is_empty());
    }
    assert_eq!(parse(&b"+".repeat(LINE_BYTES_MAX + 1)), Err(FrameError::Line));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "*1\r\n".repeat(depth) + ":1\r\n";
    assert!(matches!(parsed(&nested(DEPTH_MAX)), Ok(Some(_))));
    assert_eq!(parsed(&nested(DEPTH_MAX + 1)), Err(FrameError::Depth));
    assert_eq!(parsed(&"|0\r\n".repeat(100_000)), Err(FrameError::Depth));
}

#[test]
fn told_counts_reserve_nothing() {
    assert_eq!(parsed("*18446744073709551615\r\n"), Ok(None));
    assert_eq!(parsed("%18446744073709551615\r\n:1\r\n"), Ok(None));
    assert_eq!(parsed("$4294967296\r\n"), Ok(None));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        input in "([*$+:%~>,#(=|!_-][0-9]{0,2}(\r\n)?[a-t]{0,3}){0,12}",
        noise: Vec<u8>,
    ) {
        for input in [input.as_bytes(), &noise] {
            if let Ok(Some((_, len))) = parse(input) {
                prop_assert!(len <= input.len());
                prop_assert_eq!(parse(&input[..len - 1]), Ok(None));
            }
        }
    }
}
