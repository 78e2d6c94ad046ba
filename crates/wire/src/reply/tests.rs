//! Each reply in both protocols, and the way back through the frame reader.

use super::*;
use crate::frame::{self, Frame};
use proptest::prelude::*;
use std::io::IoSlice;

fn written(protocol: Protocol, write: impl FnOnce(&mut Reply<'_>)) -> Vec<u8> {
    let mut output = Output::new();
    write(&mut Reply::new(&mut output, protocol));
    let mut slices = [IoSlice::new(&[]); 64];
    let filled = output.slices(&mut slices);
    slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
}

#[track_caller]
fn check(write: impl Fn(&mut Reply<'_>), resp2: &str, resp3: &str) {
    for (protocol, expected) in [(Protocol::Resp2, resp2), (Protocol::Resp3, resp3)] {
        let bytes = written(protocol, &write);
        assert_eq!(
            bytes.escape_ascii().to_string(),
            expected.as_bytes().escape_ascii().to_string()
        );
    }
}

#[test]
fn scalars_are_spelled_for_each_protocol() {
    let same = |write: fn(&mut Reply<'_>), text| check(write, text, text);
    same(|reply| reply.ok(), "+OK\r\n");
    same(|reply| reply.status("PONG"), "+PONG\r\n");
    same(|reply| reply.error("ERR a\r\nb"), "-ERR a  b\r\n");
    same(|reply| reply.integer(0), ":0\r\n");
    same(|reply| reply.integer(-1), ":-1\r\n");
    same(|reply| reply.integer(i64::MIN), ":-9223372036854775808\r\n");
    same(|reply| reply.integer(4_294_967_296), ":4294967296\r\n");
    same(|reply| reply.bulk(b""), "$0\r\n\r\n");
    same(|reply| reply.bulk(b"a\r\nb"), "$4\r\na\r\nb\r\n");
    same(|reply| reply.bulk_integer(-12), "$3\r\n-12\r\n");
    same(|reply| reply.bulk_double(0.1), "$3\r\n0.1\r\n");
    same(
        |reply| reply.bulk_double(-1.797_693_134_862_315_7e308),
        "$24\r\n-1.7976931348623157e+308\r\n",
    );
    same(|reply| reply.bulk_double(123_456_789.5), "$11\r\n123456789.5\r\n");
    same(|reply| reply.bulk_double(1_234_567.5), "$9\r\n1234567.5\r\n");
    check(|reply| reply.null(), "$-1\r\n", "_\r\n");
    check(|reply| reply.null_array(), "*-1\r\n", "_\r\n");
    check(|reply| reply.double(3.5), "$3\r\n3.5\r\n", ",3.5\r\n");
    check(|reply| reply.double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n");
    check(|reply| reply.boolean(true), ":1\r\n", "#t\r\n");
    check(|reply| reply.boolean(false), ":0\r\n", "#f\r\n");
    check(|reply| reply.big_number(b"12"), "$2\r\n12\r\n", "(12\r\n");
    check(|reply| reply.verbatim(b"txt", b"ab"), "$2\r\nab\r\n", "=6\r\ntxt:ab\r\n");
}

#[test]
fn aggregates_are_spelled_for_each_protocol() {
    check(|reply| reply.array(12), "*12\r\n", "*12\r\n");
    check(|reply| reply.map(100), "*200\r\n", "%100\r\n");
    check(|reply| reply.set(9), "*9\r\n", "~9\r\n");
    check(|reply| reply.push(3), "*3\r\n", ">3\r\n");
    check(
        |reply| assert_eq!(reply.attribute(1), reply.protocol() == Protocol::Resp3),
        "",
        "|1\r\n",
    );
}

#[test]
fn lengths_known_at_the_end_stand_at_the_start() {
    let nested = |reply: &mut Reply<'_>| {
        reply.ok();
        let outer = reply.deferred_array();
        let map = reply.deferred_array();
        reply.bulk(b"k");
        reply.integer(1);
        reply.close_map(map, 1);
        let set = reply.deferred_array();
        reply.integer(2);
        reply.close_set(set, 1);
        let push = reply.deferred_array();
        reply.close_push(push, 0);
        reply.close_array(outer, 3);
    };
    check(
        nested,
        "+OK\r\n*3\r\n*2\r\n$1\r\nk\r\n:1\r\n*1\r\n:2\r\n*0\r\n",
        "+OK\r\n*3\r\n%1\r\n$1\r\nk\r\n:1\r\n~1\r\n:2\r\n>0\r\n",
    );
}

#[test]
fn shared_blobs_may_stand_in_open_aggregates() {
    let blob = Arc::new(vec![b'x'; BLOB_BYTES_MIN + 5]);
    let bytes = written(Protocol::Resp2, |reply| {
        let outer = reply.deferred_array();
        reply.bulk_blob(&blob);
        let inner = reply.deferred_array();
        reply.bulk_blob(&blob);
        reply.bulk_blob(&Arc::new(b"short".to_vec()));
        reply.close_array(inner, 2);
        reply.close_array(outer, 2);
    });
    let long = Frame::Bulk(blob.to_vec());
    let inner = Frame::Array(vec![long.clone(), Frame::Bulk(b"short".to_vec())]);
    let expected = Frame::Array(vec![long, inner]);
    assert_eq!(frame::parse(&bytes), Ok(Some((expected, bytes.len()))));
}

/// Any reply, as the frame that a RESP3 client sees.
fn any_frame() -> impl Strategy<Value = Frame> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..1200);
    let line = || "[ -~]{0,20}".prop_map(String::into_bytes);
    let scalar = prop_oneof![
        line().prop_map(Frame::Status),
        line().prop_map(Frame::Error),
        any::<i64>().prop_map(Frame::Integer),
        (0i64..2000).prop_map(Frame::Integer),
        bytes().prop_map(Frame::Bulk),
        Just(Frame::Null),
        any::<f64>()
            .prop_filter("NaN differs from itself", |f| !f.is_nan())
            .prop_map(Frame::Double),
        any::<bool>().prop_map(Frame::Boolean),
        "-?[0-9]{1,40}".prop_map(|digits| Frame::BigNumber(digits.into_bytes())),
        bytes().prop_map(|text| Frame::Verbatim { format: *b"txt", text }),
    ];
    scalar.prop_recursive(3, 40, 12, |inner| {
        let some = || proptest::collection::vec(inner.clone(), 0..12);
        let pairs = || proptest::collection::vec((inner.clone(), inner.clone()), 0..6);
        prop_oneof![
            some().prop_map(Frame::Array),
            some().prop_map(Frame::Set),
            some().prop_map(Frame::Push),
            pairs().prop_map(Frame::Map),
            (pairs(), inner.clone()).prop_map(|(attributes, frame)| {
                Frame::Attributed { attributes, frame: Box::new(frame) }
            }),
        ]
    })
}

/// Writes a frame; aggregates with their length ahead or behind.
fn write(reply: &mut Reply<'_>, frame: &Frame, deferred: bool) {
    match frame {
        Frame::Status(text) => reply.status(std::str::from_utf8(text).unwrap()),
        Frame::Error(text) => reply.error_bytes(text),
        Frame::Integer(number) => reply.integer(*number),
        Frame::Bulk(bytes) => reply.bulk(bytes),
        Frame::Null | Frame::NullBulk => reply.null(),
        Frame::NullArray => reply.null_array(),
        Frame::Double(number) => reply.double(*number),
        Frame::Boolean(value) => reply.boolean(*value),
        Frame::BigNumber(digits) => reply.big_number(digits),
        Frame::Verbatim { format, text } => reply.verbatim(format, text),
        Frame::Attributed { attributes, frame } => {
            if reply.attribute(attributes.len()) {
                write_pairs(reply, attributes, deferred);
            }
            write(reply, frame, deferred);
        }
        Frame::Map(pairs) if deferred => {
            let mark = reply.deferred_array();
            write_pairs(reply, pairs, deferred);
            reply.close_map(mark, pairs.len());
        }
        Frame::Map(pairs) => {
            reply.map(pairs.len());
            write_pairs(reply, pairs, deferred);
        }
        Frame::Array(frames) | Frame::Set(frames) | Frame::Push(frames) => {
            let mark = deferred.then(|| reply.deferred_array());
            match (frame, &mark) {
                (_, Some(_)) => {}
                (Frame::Array(_), None) => reply.array(frames.len()),
                (Frame::Set(_), None) => reply.set(frames.len()),
                (_, None) => reply.push(frames.len()),
            }
            for frame in frames {
                write(reply, frame, deferred);
            }
            match (frame, mark) {
                (_, None) => {}
                (Frame::Array(_), Some(mark)) => reply.close_array(mark, frames.len()),
                (Frame::Set(_), Some(mark)) => reply.close_set(mark, frames.len()),
                (_, Some(mark)) => reply.close_push(mark, frames.len()),
            }
        }
    }
}

fn write_pairs(reply: &mut Reply<'_>, pairs: &[(Frame, Frame)], deferred: bool) {
    for (key, value) in pairs {
        write(reply, key, deferred);
        write(reply, value, deferred);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(expected in any_frame()) {
        let ahead = written(Protocol::Resp3, |reply| write(reply, &expected, false));
        let behind = written(Protocol::Resp3, |reply| write(reply, &expected, true));
        prop_assert_eq!(&ahead, &behind);
        prop_assert_eq!(frame::parse(&ahead), Ok(Some((expected.clone(), ahead.len()))));
        for end in (0..ahead.len()).step_by(1 + ahead.len() / 50) {
            prop_assert_eq!(frame::parse(&ahead[..end]), Ok(None));
        }
        // An older client reads other frames, but reads all.
        let old = written(Protocol::Resp2, |reply| write(reply, &expected, true));
        let (_, len) = frame::parse(&old).unwrap().unwrap();
        prop_assert_eq!(len, old.len());
        prop_assert!(!old.iter().take(1).any(|kind| b"_%~>,#(=|".contains(kind)));
    }
}
