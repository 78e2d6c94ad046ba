//! Values that are written and read again, and bytes that are no values.

use caudal_rdb::{Decoded, Decoding, Malformed, Reader, Source, Version, decode, encode, payload};
use caudal_value::{Hash, Item, Limits, List, Object, Set, SortedSet, Stream, StreamId};
use proptest::collection::vec;
use proptest::prelude::*;

/// Small enough that a few elements make a collection large.
const LIMITS: Limits = Limits {
    hash_packed_entries_max: 8,
    set_integers_max: 8,
    set_packed_entries_max: 8,
    sorted_set_packed_entries_max: 8,
    list_packed_size: 8,
    ..Limits::DEFAULT
};
const STRING_BYTES_MAX: usize = 1 << 20;

fn decoding(version: Version) -> Decoding<'static> {
    Decoding { limits: &LIMITS, string_bytes_max: STRING_BYTES_MAX, version }
}

fn read(bytes: &[u8], version: Version) -> Result<Decoded, Malformed> {
    let mut reader = Reader::new(bytes, STRING_BYTES_MAX);
    decode(reader.byte()?, &mut reader, &decoding(version))
}

/// A value as elements that can be compared, in its order.
fn elements(object: &Object) -> Vec<(Vec<u8>, Vec<u8>)> {
    let own = |item: Item<'_>| item.to_bytes().to_vec();
    match object {
        Object::List(list) => list.iter().map(|item| (own(item), Vec::new())).collect(),
        Object::Set(set) => set.iter().map(|item| (own(item), Vec::new())).collect(),
        Object::Hash(hash) => hash
            .iter_timed()
            .map(|(field, value, moment)| {
                let moment = moment.map_or(Vec::new(), |moment| moment.to_le_bytes().into());
                (own(field), [own(value), moment].concat())
            })
            .collect(),
        Object::SortedSet(set) => {
            set.iter().map(|(member, score)| (own(member), score.to_le_bytes().into())).collect()
        }
        Object::Stream(stream) => facts(stream),
    }
}

fn element() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..12),
        any::<i64>().prop_map(|integer| integer.to_string().into_bytes()),
        (-200i64..200).prop_map(|integer| integer.to_string().into_bytes()),
        vec(any::<u8>(), 60..200),
        Just(vec![b'x'; 9000]),
    ]
}

fn object() -> impl Strategy<Value = Object> {
    let lists = vec(element(), 1..20).prop_map(|elements| {
        let mut list = List::new();
        elements.iter().for_each(|element| list.push_back(element, &LIMITS));
        Object::List(list)
    });
    let sets = vec(element(), 1..20).prop_map(|members| {
        let mut set = Set::new();
        members.iter().for_each(|member| {
            set.insert(member, &LIMITS);
        });
        Object::Set(set)
    });
    let integers = vec(any::<i16>(), 1..8).prop_map(|members| {
        let mut set = Set::new();
        members.iter().for_each(|member| {
            set.insert(member.to_string().as_bytes(), &LIMITS);
        });
        Object::Set(set)
    });
    let moment = proptest::option::weighted(0.2, 0..1u64 << 45);
    let hashes = vec((element(), element(), moment), 1..20).prop_map(|triples| {
        let mut hash = Hash::new();
        triples.iter().for_each(|(field, value, moment)| {
            hash.insert_until(field, value, *moment, &LIMITS);
        });
        Object::Hash(hash)
    });
    let score = prop_oneof![
        any::<f64>().prop_filter("a score is a number", |score| !score.is_nan()),
        (-20i32..20).prop_map(f64::from),
        Just(f64::INFINITY),
    ];
    let sorted_sets = vec((element(), score), 1..20).prop_map(|pairs| {
        let mut set = SortedSet::new();
        pairs.iter().for_each(|(member, score)| {
            set.insert(member, *score, &LIMITS);
        });
        Object::SortedSet(set)
    });
    prop_oneof![lists, sets, integers, hashes, sorted_sets, streams()]
}

/// Streams with entries that were deleted, and with groups that have read some.
fn streams() -> impl Strategy<Value = Object> {
    let pairs = vec((element(), element()), 1..3);
    let entries = vec((0u64..3, any::<u64>(), any::<bool>(), pairs, 0u8..8), 0..20);
    entries.prop_map(|entries| {
        let mut stream = Stream::new();
        stream.create_group(b"g", StreamId::new(1, 1), Some(7));
        stream.create_group(b"h", StreamId::MAX, None);
        for (ms, seq, named, pairs, fate) in &entries {
            let last = stream.last_id();
            let seq = if *ms == 0 { last.seq.saturating_add(1 + seq % 9) } else { *seq };
            let id = StreamId::new(last.ms + ms, seq);
            if id <= last {
                continue;
            }
            let name = |own: &'static [u8]| own;
            let words: Vec<&[u8]> = match named {
                true => vec![name(b"a"), &pairs[0].1],
                false => pairs.iter().flat_map(|(name, value)| [&name[..], value]).collect(),
            };
            stream.append(id, words.into_iter(), &Limits::DEFAULT).expect("it is short");
            let group = stream.group_mut(b"g").expect("it was created");
            let consumer: &[u8] = if *fate % 2 == 0 { b"c" } else { b"" };
            if *fate > 5 {
                group.give_back(id, u64::from(*fate));
            } else if *fate > 2 {
                let seen = 1000 + u64::from(*fate);
                let number = group.create_consumer(consumer, seen);
                let number = number.or(group.find_consumer(consumer)).expect("it is there");
                group.deliver(id, number, seen, 1);
            }
            if *fate == 3 || *fate == 1 {
                stream.delete(id);
            }
        }
        Object::Stream(stream)
    })
}

/// All that a stream knows, but for when its consumers were active.
fn facts(stream: &Stream) -> Vec<(Vec<u8>, Vec<u8>)> {
    let id = |id: StreamId| id.text().to_vec();
    let own = |item: Item<'_>| item.to_bytes().to_vec();
    let mut facts = vec![
        (id(stream.last_id()), id(stream.max_deleted_id())),
        (stream.entries_added().to_string().into(), stream.len().to_string().into()),
    ];
    for entry in stream.range(StreamId::MIN, StreamId::MAX) {
        facts.push((id(entry.id), Vec::new()));
        facts.extend(entry.iter().map(|(name, value)| (own(name), own(value))));
    }
    for (name, group) in stream.groups() {
        facts.push((name.into(), format!("{:?}", (group.last_id, group.entries_read)).into()));
        for consumer in group.consumers() {
            facts.push((consumer.name().into(), consumer.seen_ms.to_string().into()));
        }
        let mut pending: Vec<_> = group.pending_from(StreamId::MIN).collect();
        pending.sort_by_key(|(_, pending)| pending.urgency());
        for (entry, pending) in pending {
            let owner = pending.consumer.map(|owner| group.consumer(owner).name());
            let facts_of = (owner, pending.delivered_ms(), pending.deliveries);
            facts.push((id(entry), format!("{facts_of:?}").into()));
        }
    }
    facts
}

fn encoded(object: &Object) -> (Vec<u8>, Version) {
    let mut bytes = Vec::new();
    let version = encode(Source::Object(object), &mut bytes);
    let is_timed = matches!(object, Object::Hash(hash) if hash.is_timed());
    assert_eq!(version, if is_timed { Version::VALKEY_9 } else { Version::REDIS_7 });
    (bytes, version)
}

proptest! {
    #[test]
    fn strings_come_back(string in element()) {
        let mut bytes = Vec::new();
        encode(Source::Bytes(&string), &mut bytes);
        let back = match read(&bytes, Version::REDIS_7) {
            Ok(Decoded::Integer(integer)) => integer.to_string().into_bytes(),
            Ok(Decoded::Bytes(bytes)) => bytes,
            other => return Err(TestCaseError::fail(format!("{other:?}"))),
        };
        prop_assert_eq!(back, string);
    }

    #[test]
    fn collections_come_back(object in object()) {
        let (bytes, version) = encoded(&object);
        let mut reader = Reader::new(&bytes[1..], STRING_BYTES_MAX);
        let back = decode(bytes[0], &mut reader, &decoding(version));
        prop_assert!(reader.is_empty());
        let Ok(Decoded::Object(back)) = back else {
            return Err(TestCaseError::fail(format!("{back:?}")));
        };
        let (mut own, mut others) = (elements(&object), elements(&back));
        if matches!(object, Object::Set(_) | Object::Hash(_)) {
            own.sort();
            others.sort();
        }
        prop_assert_eq!(own, others);
    }

    #[test]
    fn damaged_values_are_refused_or_whole(
        object in object(),
        damage in vec((any::<usize>(), any::<u8>()), 1..4),
        cut in any::<usize>(),
        kind in prop_oneof![Just(None), (0u8..32).prop_map(Some)],
        valkey: bool,
    ) {
        let (mut bytes, _) = encoded(&object);
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        if let Some(kind) = kind {
            bytes[0] = kind;
        }
        bytes.truncate(1 + cut % (bytes.len() * 4));
        let version = if valkey { Version::VALKEY_9 } else { Version::REDIS_MAX };
        if let Ok(Decoded::Object(object)) = read(&bytes, version) {
            prop_assert!(!elements(&object).is_empty());
            let (bytes, version) = encoded(&object);
            let again = read(&bytes, version);
            prop_assert!(matches!(again, Ok(Decoded::Object(_))));
        }
    }

    #[test]
    fn any_bytes_are_a_value_or_none(kind in 0u8..32, bytes: Vec<u8>, valkey: bool) {
        let version = if valkey { Version::VALKEY_9 } else { Version::REDIS_MAX };
        let mut reader = Reader::new(&bytes, STRING_BYTES_MAX);
        let _ = decode(kind, &mut reader, &decoding(version));
    }

    #[test]
    fn a_payload_opens_only_whole(object in object(), at: usize, flip in 1u8..) {
        let mut payload = payload::dump(Source::Object(&object));
        prop_assert!(payload::open(&payload, false).is_ok());
        let at = at % payload.len();
        payload[at] ^= flip;
        prop_assert!(payload::open(&payload, false).is_err());
    }
}

#[test]
fn hashes_with_fields_that_end_are_read_as_valkey_and_redis_write_them() {
    let earliest = 1000u64.to_le_bytes();
    let listpack = [
        &23u32.to_le_bytes()[..],
        &6u16.to_le_bytes(),
        b"\x81f\x02\x81v\x02\x00\x01\x81g\x02\x01\x01\xc3\xec\x02\xff",
    ]
    .concat();
    let listpack = [&[listpack.len().to_le_bytes()[0]][..], &listpack].concat();
    let (never, end) = (u64::MAX.to_le_bytes(), 1004u64.to_le_bytes());
    let values = [
        (Version::VALKEY_9, [b"\x16\x02\x01f\x01v", &never[..], b"\x01g\xc0\x01", &end].concat()),
        // Ends of 14 bits: 1004 itself, and as the fifth millisecond from the earliest on.
        (Version::REDIS_MAX, b"\x16\x02\x00\x01f\x01v\x43\xec\x01g\xc0\x01".to_vec()),
        (Version::REDIS_MAX, [b"\x17", &listpack[..]].concat()),
        (
            Version::REDIS_MAX,
            [b"\x18", &earliest[..], b"\x02\x00\x01f\x01v\x05\x01g\xc0\x01"].concat(),
        ),
        (Version::REDIS_MAX, [b"\x19", &earliest[..], &listpack].concat()),
    ];
    for (version, bytes) in values {
        let Ok(Decoded::Object(Object::Hash(hash))) = read(&bytes, version) else {
            panic!("{bytes:?}")
        };
        let facts = |field: &[u8]| {
            let (value, moment) = hash.get_timed(field)?;
            Some((value.to_bytes().to_vec(), moment))
        };
        assert_eq!(hash.len(), 2);
        assert_eq!(facts(b"f"), Some((b"v".to_vec(), None)), "{bytes:?}");
        assert_eq!(facts(b"g"), Some((b"1".to_vec(), Some(1004))), "{bytes:?}");
    }
    let before_1970 = [b"\x16\x01\x01f\x01v", &(-2i64).to_le_bytes()[..]].concat();
    assert_eq!(read(&before_1970, Version::VALKEY_9).unwrap_err(), Malformed::FieldExpiry);
}

#[test]
fn counts_of_what_is_not_there_cost_nothing() {
    for kind in [1, 2, 3, 4, 5, 14, 18, 22] {
        let bytes = [&[kind, 0x81][..], &[0xff; 8], b"\x01a"].concat();
        let error = read(&bytes, Version::VALKEY_9).unwrap_err();
        let is_list_of_packs = matches!(kind, 14 | 18);
        let expected = if is_list_of_packs { Malformed::Packed } else { Malformed::Short };
        assert!(error == Malformed::Short || error == expected, "{kind}: {error}");
    }
    // A string of 2^62 bytes, and a compressed one that says so of itself.
    let bytes = [&[0, 0x81][..], &(1u64 << 62).to_be_bytes()].concat();
    assert_eq!(read(&bytes, Version::REDIS_7).unwrap_err(), Malformed::Short);
    let bytes = [&[0, 0xc3, 2, 0x80, 0, 0xf, 0xff, 0xff][..], &[0, b'a']].concat();
    assert_eq!(read(&bytes, Version::REDIS_7).unwrap_err(), Malformed::Compressed);
}

#[test]
fn what_no_command_could_make_is_refused() {
    let refused = |bytes: &[u8], why: Malformed| {
        assert_eq!(read(bytes, Version::REDIS_7).unwrap_err(), why, "{bytes:?}");
    };
    refused(b"\x02\x00", Malformed::Empty);
    refused(b"\x02\x02\x01a\x01a", Malformed::Duplicate);
    refused(b"\x04\x02\x01a\x011\x01a\x012", Malformed::Duplicate);
    refused(b"\x03\x01\x01a\xfd", Malformed::Score);
    refused(&[&b"\x05\x01\x01a"[..], &f64::NAN.to_le_bytes()].concat(), Malformed::Score);
    // An intset of 2, 1; one of 3 bytes a member; one that is longer than it says.
    refused(b"\x0b\x0c\x02\0\0\0\x02\0\0\0\x02\0\x01\0", Malformed::Packed);
    refused(b"\x0b\x0b\x03\0\0\0\x01\0\0\0\x01\0\0", Malformed::Packed);
    refused(b"\x0b\x0c\x02\0\0\0\x01\0\0\0\x01\0\x02\0", Malformed::Packed);
    // A listpack hash with a field and no value.
    refused(b"\x10\x09\x09\0\0\0\x01\0\x01\x01\xff", Malformed::Packed);
    refused(b"\x07\x00", Malformed::Kind(7));
}
