//! Streams against a model of ordered maps: entries, cuts, groups, images.

use super::*;
use crate::Item;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// What a stream must hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct Model {
    entries: BTreeMap<StreamId, Pairs>,
    last: StreamId,
    added: u64,
    deleted: StreamId,
    groups: BTreeMap<u8, ModelGroup>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct ModelGroup {
    last: StreamId,
    /// Consumer (none: given back), time and count of deliveries.
    pending: BTreeMap<StreamId, (Option<u8>, u64, u64)>,
    consumers: BTreeSet<u8>,
}

#[derive(Debug, Clone)]
enum Step {
    Append { ms: u64, seq: u64, names: u8, values: Pairs },
    Delete(usize),
    Trim { max_len: bool, to: usize, whole: bool, limit: usize, references: u8 },
    CreateGroup(u8, usize),
    DestroyGroup(u8),
    CreateConsumer(u8, u8),
    DeleteConsumer(u8, u8),
    Deliver { group: u8, consumer: u8, entry: usize, at: u64, count: u64 },
    GiveBack { group: u8, entry: usize },
    Release { group: u8, entry: usize },
    Image,
}

fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (-300_i64..300).prop_map(|it| it.to_string().into_bytes()),
        1 => any::<i64>().prop_map(|it| it.to_string().into_bytes()),
        1 => ((i64::MAX / 4 - 2)..(i64::MAX / 4 + 2)).prop_map(|it| it.to_string().into_bytes()),
        3 => proptest::collection::vec(any::<u8>(), 0..12),
        1 => (0..300_usize).prop_map(|len| vec![b'w'; len]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let values = proptest::collection::vec((word(), word()), 1..4);
    prop_oneof![
        12 => (0..3_u64, 0..3_u64, 0..4_u8, values)
            .prop_map(|(ms, seq, names, values)| Step::Append { ms, seq, names, values }),
        4 => any::<usize>().prop_map(Step::Delete),
        1 => (any::<bool>(), any::<usize>(), any::<bool>(), 0..8_usize, 0..3_u8).prop_map(
            |(max_len, to, whole, limit, references)| Step::Trim {
                max_len, to, whole, limit, references
            }
        ),
        1 => (0..3_u8, any::<usize>()).prop_map(|(group, id)| Step::CreateGroup(group, id)),
        1 => prop_oneof![
            (0..3_u8).prop_map(Step::DestroyGroup),
            (0..3_u8, 0..3_u8).prop_map(|(group, name)| Step::DeleteConsumer(group, name)),
        ],
        2 => (0..3_u8, 0..3_u8).prop_map(|(group, name)| Step::CreateConsumer(group, name)),
        8 => (0..3_u8, 0..3_u8, any::<usize>(), any::<u64>(), any::<u64>()).prop_map(
            |(group, consumer, entry, at, count)| Step::Deliver {
                group, consumer, entry, at, count
            }
        ),
        1 => (0..3_u8, any::<usize>()).prop_map(|(group, entry)| Step::GiveBack { group, entry }),
        3 => (0..3_u8, any::<usize>()).prop_map(|(group, entry)| Step::Release { group, entry }),
        1 => Just(Step::Image),
    ]
}

impl Model {
    /// An id that is there, or one beside it.
    fn pick(&self, at: usize) -> StreamId {
        let ids: Vec<StreamId> = self.entries.keys().copied().collect();
        let id = ids.get((at / 2) % ids.len().max(1)).copied().unwrap_or(self.last);
        if at.is_multiple_of(8) { id.next().unwrap_or(id) } else { id }
    }

    fn is_referenced(&self, id: StreamId) -> bool {
        self.groups.values().any(|it| it.last < id || it.pending.contains_key(&id))
    }

    fn goes(&mut self, id: StreamId, references: References) {
        self.entries.remove(&id);
        if references == References::Drop {
            self.groups.values_mut().for_each(|group| {
                group.pending.remove(&id);
            });
        }
    }
}

fn names(kind: u8, values: &Pairs) -> Pairs {
    let name = |at: usize| format!("field-{kind}-{at}").into_bytes();
    let named = |(at, (own, value)): (usize, &(Vec<u8>, Vec<u8>))| {
        (if kind == 0 { own.clone() } else { name(at) }, value.clone())
    };
    values.iter().enumerate().map(named).collect()
}

fn apply(step: &Step, stream: &mut Stream, model: &mut Model, limits: &Limits) {
    match step {
        Step::Append { ms, seq, names: kind, values } => {
            append(stream, model, limits, (*ms, *seq, names(*kind, values)))
        }
        Step::Delete(at) => {
            let id = model.pick(*at);
            let was = model.entries.remove(&id).is_some();
            assert_eq!(stream.delete(id), was);
            if was {
                model.deleted = model.deleted.max(id);
            }
        }
        Step::Trim { max_len, to, whole, limit, references } => {
            let references = [References::Keep, References::Drop, References::Acknowledged]
                [usize::from(*references)];
            let to = if *max_len {
                Trim::MaxLen((to % (model.entries.len() + 2)) as u64)
            } else {
                Trim::MinId(model.pick(*to))
            };
            let entries_max = if *whole { *limit } else { 0 };
            trim(stream, model, &Trimming { to, whole_blocks: *whole, entries_max, references });
        }
        _ => apply_to_group(step, stream, model),
    }
}

fn append(
    stream: &mut Stream,
    model: &mut Model,
    limits: &Limits,
    (ms, seq, pairs): (u64, u64, Pairs),
) {
    let last = model.last;
    let id = StreamId::new(last.ms + ms, if ms > 0 { seq } else { last.seq + seq + 1 });
    let words: Vec<&[u8]> = pairs.iter().flat_map(|(name, value)| [&name[..], value]).collect();
    stream.append(id, words.into_iter(), limits).unwrap();
    model.entries.insert(id, pairs);
    model.last = id;
    model.added += 1;
}

fn trim(stream: &mut Stream, model: &mut Model, trimming: &Trimming) {
    let mut goes: Vec<StreamId> = model.entries.keys().copied().collect();
    match trimming.to {
        Trim::MinId(least) => goes.retain(|id| *id < least),
        Trim::MaxLen(most) => {
            let over = goes.len().saturating_sub(usize::try_from(most).unwrap());
            if trimming.references == References::Acknowledged {
                goes.retain(|id| !model.is_referenced(*id));
            }
            goes.truncate(over);
        }
    }
    if trimming.references == References::Acknowledged {
        goes.retain(|id| !model.is_referenced(*id));
    }
    let trimmed = stream.trim(trimming);
    if trimming.whole_blocks {
        assert!(trimmed.count <= goes.len());
        assert!(trimming.entries_max == 0 || trimmed.count <= trimming.entries_max);
    } else {
        assert_eq!(trimmed.count, goes.len());
    }
    goes.truncate(trimmed.count);
    if let (Some(gone), Some(last)) = (goes.last(), trimmed.last) {
        assert!(last >= *gone);
    }
    goes.into_iter().for_each(|id| model.goes(id, trimming.references));
}

fn apply_to_group(step: &Step, stream: &mut Stream, model: &mut Model) {
    let at = |group: u8| [b'g', group];
    let consumer = |name: u8| [b'c', name];
    let picked = |entry: &usize| model.pick(*entry);
    match *step {
        Step::CreateGroup(name, ref id) => {
            let last = picked(id);
            let is_new = !model.groups.contains_key(&name);
            assert_eq!(stream.create_group(&at(name), last, None), is_new);
            model.groups.entry(name).or_insert(ModelGroup { last, ..ModelGroup::default() });
        }
        Step::DestroyGroup(name) => {
            assert_eq!(stream.destroy_group(&at(name)), model.groups.remove(&name).is_some());
        }
        Step::CreateConsumer(group, name) => {
            let Some(own) = stream.group_mut(&at(group)) else { return };
            let is_new = model.groups.get_mut(&group).unwrap().consumers.insert(name);
            assert_eq!(own.create_consumer(&consumer(name), 7).is_some(), is_new);
        }
        Step::DeleteConsumer(group, name) => {
            let Some(own) = stream.group_mut(&at(group)) else { return };
            let model = model.groups.get_mut(&group).unwrap();
            let before = model.pending.len();
            model.pending.retain(|_, (owner, ..)| *owner != Some(name));
            let gone = model.consumers.remove(&name).then_some(before - model.pending.len());
            assert_eq!(own.delete_consumer(&consumer(name)), gone);
        }
        Step::Deliver { group, consumer: name, ref entry, at: time, count } => {
            let id = picked(entry);
            let Some(own) = stream.group_mut(&at(group)) else { return };
            let Some(number) = own.find_consumer(&consumer(name)) else { return };
            own.deliver(id, number, time, count);
            let model = model.groups.get_mut(&group).unwrap();
            model.pending.insert(id, (Some(name), time, count));
        }
        Step::GiveBack { group, ref entry } => {
            let id = picked(entry);
            let Some(own) = stream.group_mut(&at(group)) else { return };
            own.give_back(id, 2);
            model.groups.get_mut(&group).unwrap().pending.insert(id, (None, 0, 2));
        }
        Step::Release { group, ref entry } => {
            let id = picked(entry);
            let Some(own) = stream.group_mut(&at(group)) else { return };
            let model = model.groups.get_mut(&group).unwrap();
            assert_eq!(own.release(id), model.pending.remove(&id).is_some());
        }
        _ => {}
    }
}

fn pairs(entry: &Entry<'_>) -> Pairs {
    let owned = |item: Item<'_>| item.to_bytes().to_vec();
    let pairs: Pairs = entry.iter().map(|(name, value)| (owned(name), owned(value))).collect();
    assert_eq!(pairs.len(), entry.len());
    pairs
}

fn check(stream: &Stream, model: &Model) {
    stream.check();
    let all = (StreamId::MIN, StreamId::MAX);
    check_copy(stream);
    let expected: Vec<(StreamId, Pairs)> =
        model.entries.iter().map(|(id, pairs)| (*id, pairs.clone())).collect();
    let own: Vec<_> = stream.range(all.0, all.1).map(|at| (at.id, pairs(&at))).collect();
    assert_eq!(own, expected);
    let mut back: Vec<_> = stream.range_back(all.0, all.1).map(|at| (at.id, pairs(&at))).collect();
    back.reverse();
    assert_eq!(back, expected);
    assert_eq!(stream.len(), expected.len());
    let facts = (stream.last_id(), stream.entries_added(), stream.max_deleted_id());
    assert_eq!(facts, (model.last, model.added, model.deleted));
    assert_eq!(stream.groups().len(), model.groups.len());
    for ((name, group), (number, model)) in stream.groups().zip(&model.groups) {
        assert_eq!((name, group.last_id), (&[b'g', *number][..], model.last));
        let owner = |it: &Pending| it.consumer.map(|it| group.consumer(it).name()[1]);
        let pending = group.pending_from(StreamId::MIN);
        let pending: BTreeMap<_, _> =
            pending.map(|(id, it)| (id, (owner(it), it.delivered_ms(), it.deliveries))).collect();
        assert_eq!(pending, model.pending);
        let names: BTreeSet<u8> = group.consumers().map(|it| it.name()[1]).collect();
        assert_eq!(names, model.consumers);
    }
}

/// Blocks that are written and read again hold the same entries.
fn check_copy(stream: &Stream) {
    let mut copy = Stream::new();
    for block in stream.block_views() {
        let names: Vec<_> = block.names().map(|name| name.to_bytes()).collect();
        let restored = |entry: Entry<'_>| {
            let shares_names = entry.shares_names();
            let words = entry.iter().flat_map(|(name, value)| {
                let name = (!shares_names).then(|| name.to_bytes());
                name.into_iter().chain([value.to_bytes()])
            });
            Restored { id: entry.id, shares_names, words: words.collect() }
        };
        let entries: Vec<Restored> = block.entries().map(restored).collect();
        assert_eq!(entries.len(), block.len());
        assert!(copy.restore_block(block.base_id(), &names, &entries));
        assert!(!copy.restore_block(block.base_id(), &names, &entries), "ids must ascend");
    }
    copy.check();
    let all = |stream: &Stream| {
        let entries = stream.range(StreamId::MIN, StreamId::MAX);
        entries.map(|entry| (entry.id, pairs(&entry))).collect::<Vec<_>>()
    };
    assert_eq!(all(&copy), all(stream));
}

fn check_ranges(stream: &Stream, model: &Model, picks: &[(usize, usize)]) {
    for (from, to) in picks {
        let (from, to) = (model.pick(*from), model.pick(*to));
        let expected: Vec<StreamId> = match from <= to {
            true => model.entries.range(from..=to).map(|(id, _)| *id).collect(),
            false => Vec::new(),
        };
        let own: Vec<StreamId> = stream.range(from, to).map(|entry| entry.id).collect();
        assert_eq!(own, expected);
        let mut back: Vec<StreamId> = stream.range_back(from, to).map(|entry| entry.id).collect();
        back.reverse();
        assert_eq!(back, expected);
        assert_eq!(stream.contains(from), model.entries.contains_key(&from));
        assert_eq!(stream.is_referenced(from), model.is_referenced(from));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_stream_is_what_the_model_says(
        steps in proptest::collection::vec(step(), 1..120),
        picks in proptest::collection::vec((any::<usize>(), any::<usize>()), 8),
        entries_max in 0..6_usize,
        bytes_max in prop_oneof![Just(0_usize), 1..400_usize],
    ) {
        let limits = Limits {
            stream_block_entries_max: entries_max,
            stream_block_bytes_max: bytes_max,
            ..Limits::DEFAULT
        };
        let (mut stream, mut model) = (Stream::new(), Model::default());
        let mut images = Vec::new();
        for step in &steps {
            if let Step::Image = step {
                images.push((stream.clone(), model.clone()));
            }
            apply(step, &mut stream, &mut model, &limits);
        }
        check(&stream, &model);
        check_ranges(&stream, &model, &picks);
        images.iter().for_each(|(stream, model)| check(stream, model));
    }

    #[test]
    fn a_map_of_many_is_what_the_model_says(
        steps in proptest::collection::vec((0..3_u8, 0..700_u64), 1..1500),
    ) {
        let (mut map, mut model) = (IdMap::default(), BTreeMap::new());
        let image = |map: &IdMap<u64>| map.clone();
        let mut before = None;
        for (at, (kind, ms)) in steps.iter().enumerate() {
            let id = StreamId::new(*ms, 0);
            if at == steps.len() / 2 {
                before = Some((image(&map), model.clone()));
            }
            match kind {
                0 | 1 => assert_eq!(map.insert(id, *ms), model.insert(id, *ms)),
                _ => assert_eq!(map.remove(id), model.remove(&id)),
            }
        }
        for (map, model) in [(map, model)].into_iter().chain(before) {
            map.check();
            let own: Vec<_> = map.ascending(StreamId::MIN).map(|(id, ms)| (id, *ms)).collect();
            let expected: Vec<_> = model.into_iter().collect();
            prop_assert_eq!(&own, &expected);
            let mut back: Vec<_> =
                map.descending(StreamId::MAX).map(|(id, ms)| (id, *ms)).collect();
            back.reverse();
            prop_assert_eq!(&back, &expected);
            for ms in (0..700).step_by(13) {
                let id = StreamId::new(ms, 0);
                let at = expected.partition_point(|(own, _)| *own < id);
                prop_assert_eq!(map.ascending(id).next().map(|it| it.0),
                    expected.get(at).map(|it| it.0));
                let end = expected.partition_point(|(own, _)| *own <= id);
                prop_assert_eq!(map.descending(id).next().map(|it| it.0),
                    end.checked_sub(1).map(|at| expected[at].0));
            }
        }
    }
}

#[test]
fn many_pending_entries_share_their_nodes_with_an_image() {
    let mut stream = Stream::new();
    stream.create_group(b"g", StreamId::MIN, None);
    let group = stream.group_mut(b"g").unwrap();
    let consumer = group.create_consumer(b"c", 0).unwrap();
    for ms in 1..=100_000 {
        group.deliver(StreamId::new(ms, 0), consumer, 0, 1);
    }
    group.check();
    let (bytes, image) = (stream.memory(), stream.clone());
    assert!(bytes < 100_000 * 70, "{bytes} bytes");
    for ms in 1..=100_000 {
        stream.group_mut(b"g").unwrap().release(StreamId::new(ms, 0));
    }
    assert!(stream.group(b"g").unwrap().is_empty());
    assert_eq!(image.group(b"g").unwrap().len(), 100_000);
}

#[test]
fn entries_with_the_same_fields_take_little() {
    let mut stream = Stream::new();
    for ms in 1_700_000_000_000..1_700_000_010_000_u64 {
        let value = ms.to_string();
        let words = [b"temperature".as_slice(), b"21", b"humidity", value.as_bytes()];
        stream.append(StreamId::new(ms, 0), words.into_iter(), &Limits::DEFAULT).unwrap();
    }
    assert_eq!(stream.blocks(), 100);
    assert!(stream.memory() < 10_000 * 17, "{} bytes", stream.memory());
    stream.check();
}
