//! Against a model: one flat vector of bytes.

use super::*;
use proptest::prelude::*;

fn contents(output: &Output) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 64];
    let filled = output.slices(&mut slices);
    slices[..filled].iter().flat_map(|slice| slice.to_vec()).collect()
}

fn blob(len: usize) -> Arc<Vec<u8>> {
    Arc::new((0u8..251).cycle().take(len).collect())
}

#[test]
fn short_blobs_are_copied_and_long_ones_shared() {
    let (short, long) = (blob(BLOB_BYTES_MIN - 1), blob(BLOB_BYTES_MIN));
    let mut output = Output::new();
    output.push_blob(Arc::clone(&short), 0..short.len());
    output.push_blob(Arc::clone(&long), 0..long.len());
    assert_eq!((Arc::strong_count(&short), Arc::strong_count(&long)), (1, 2));
    assert_eq!(output.bytes(), short.len() + long.len());
    output.advance(output.bytes());
    assert_eq!(Arc::strong_count(&long), 1);
}

#[test]
fn an_idle_output_holds_no_memory() {
    let mut output = Output::new();
    output.tail().extend_from_slice(b"abc");
    assert_eq!(output.take_buffer().capacity(), 0, "something is to be sent");
    output.advance(3);
    let buffer = output.take_buffer();
    assert!(buffer.capacity() >= 3 && output.bytes_held() == 0);
    output.give_buffer(buffer);
    assert!(output.is_empty() && output.bytes_held() >= 3);
}

#[test]
fn a_tail_that_never_empties_does_not_grow() {
    let mut output = Output::new();
    for _ in 0..10_000 {
        output.tail().extend_from_slice(&[7; 100]);
        output.advance(output.bytes() - 1);
    }
    assert!(output.bytes_held() < 4 * SENT_BYTES_MIN);
}

#[test]
fn bytes_are_inserted_before_blobs_too() {
    let long = blob(BLOB_BYTES_MIN);
    let mut output = Output::new();
    let place = output.place();
    output.push_blob(Arc::clone(&long), 0..long.len());
    output.insert(place, b"head");
    assert_eq!(contents(&output), [b"head", &long[..]].concat());
    assert_eq!(output.bytes(), long.len() + 4);
}

#[test]
#[should_panic(expected = "no more is sent than there was")]
fn more_than_there_is_cannot_be_sent() {
    Output::new().advance(1);
}

#[derive(Debug, Clone)]
enum Action {
    Tail(Vec<u8>),
    Blob { len: usize, skip: usize },
    Advance(proptest::sample::Index),
    Append { bytes: Vec<u8>, blob: bool, sent: usize },
    InsertAround { bytes: Vec<u8>, blob: bool },
    Clear,
    Buffers,
}

fn action() -> impl Strategy<Value = Action> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..300);
    prop_oneof![
        8 => bytes().prop_map(Action::Tail),
        2 => Just(vec![9; 20_000]).prop_map(Action::Tail),
        4 => (0usize..40_000, 0usize..40_000)
            .prop_map(|(len, skip)| Action::Blob { len: len.max(skip), skip: skip.min(len) }),
        8 => any::<proptest::sample::Index>().prop_map(Action::Advance),
        2 => (bytes(), any::<bool>(), 0usize..400)
            .prop_map(|(bytes, blob, sent)| Action::Append { bytes, blob, sent }),
        3 => (bytes(), any::<bool>())
            .prop_map(|(bytes, blob)| Action::InsertAround { bytes, blob }),
        1 => Just(Action::Clear),
        1 => Just(Action::Buffers),
    ]
}

fn apply(output: &mut Output, model: &mut Vec<u8>, action: Action) {
    match action {
        Action::Tail(bytes) => {
            output.tail().extend_from_slice(&bytes);
            model.extend_from_slice(&bytes);
        }
        Action::Blob { len, skip } => {
            let blob = blob(len);
            model.extend_from_slice(&blob[skip..]);
            output.push_blob(blob, skip..len);
        }
        Action::Advance(index) => {
            let bytes = index.index(model.len() + 1);
            output.advance(bytes);
            model.drain(..bytes);
        }
        Action::Append { bytes, blob: with_blob, sent } => {
            let mut other = Output::new();
            let mut expected = Vec::new();
            apply(&mut other, &mut expected, Action::Tail(bytes.clone()));
            if with_blob {
                apply(&mut other, &mut expected, Action::Blob { len: 30_000, skip: 5 });
                apply(&mut other, &mut expected, Action::Tail(bytes));
            }
            let sent = sent.min(expected.len());
            other.advance(sent);
            model.extend_from_slice(&expected[sent..]);
            output.append(other);
        }
        Action::InsertAround { bytes, blob: with_blob } => {
            let place = output.place();
            let at = model.len();
            apply(output, model, Action::Tail(bytes));
            if with_blob {
                apply(output, model, Action::Blob { len: 17_000, skip: 0 });
                apply(output, model, Action::Tail(b"behind".to_vec()));
            }
            output.insert(place, b"*7\r\n");
            model.splice(at..at, *b"*7\r\n");
        }
        Action::Clear => {
            output.clear();
            model.clear();
        }
        Action::Buffers => {
            let buffer = output.take_buffer();
            output.give_buffer(buffer);
        }
    }
}

proptest! {
    #[test]
    fn what_is_appended_is_sent_once_and_in_order(
        actions in proptest::collection::vec(action(), 0..40),
    ) {
        let mut output = Output::new();
        let mut model = Vec::new();
        for action in actions {
            apply(&mut output, &mut model, action);
            prop_assert_eq!(output.bytes(), model.len());
            prop_assert_eq!(output.is_empty(), model.is_empty());
            prop_assert_eq!(&contents(&output), &model);
            let mut one = [IoSlice::new(&[])];
            prop_assert_eq!(output.slices(&mut one), usize::from(!model.is_empty()));
        }
    }
}
