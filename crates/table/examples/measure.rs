//! Measures what the design promises of the memory layer: bytes, steps of growth, and look-ups.
//!
//! `cargo run --release -p caudal-table --example measure -- bytes 1000000 16`   bytes a key and a
//! record `cargo run --release -p caudal-table --example measure -- steps 20000000`     longest
//! insertion `cargo run --release -p caudal-table --example measure -- find 1000000`
//! look-ups, plain and staged
//!
//! Times are the thread's CPU time, for the machine may be shared; the fastest of several rounds
//! counts.
#![allow(clippy::print_stdout, reason = "it prints its report")]

use caudal_table::{
    Bucket, Guard, KeyHash, KeyHasher, Mode, NewValue, SLOTS, SlotArray, SlotId, Unpark, memory,
    pin,
};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;

struct Nobody;

impl Unpark for Nobody {
    fn unpark(&self, _: u8, _: SlotId) {}
}

type Slots = SlotArray<u64>;
type Key = [u8; 15];

fn main() {
    memory::register_thread();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, otherwise: u32| {
        arguments.get(index).map_or(otherwise, |text| text.parse().expect("a number"))
    };
    match arguments.first().map(String::as_str) {
        Some("bytes") => bytes(number(1, 1_000_000), number(2, 16)),
        Some("steps") => steps(number(1, 20_000_000)),
        Some("find") => find(number(1, 1_000_000)),
        _ => println!("measure bytes KEYS VALUE | steps KEYS | find KEYS"),
    }
}

fn slots() -> (Box<Slots>, KeyHasher) {
    (Slots::new(0, Arc::new(Nobody)), KeyHasher::new(0x5eed))
}

/// `key:` and eleven digits, in the order of a multiplicative generator: no order of memory.
fn key(number: u32, keys: u32) -> Key {
    let shuffled = u64::from(number) * 2_654_435_761 % u64::from(keys);
    let mut key = *b"key:00000000000";
    let mut rest = shuffled;
    for place in key[4..].iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).expect("a digit");
        rest /= 10;
    }
    key
}

fn lock(slots: &Slots, hash: KeyHash, mode: Mode) -> Guard<'_, u64> {
    slots.try_lock(hash.slot(), mode).expect("nobody else is here")
}

fn fill(slots: &Slots, hasher: &KeyHasher, keys: u32, value: &[u8]) {
    for number in 0..keys {
        let key = key(number, keys);
        let hash = hasher.hash(&key);
        lock(slots, hash, Mode::Exclusive).table_mut().set(
            hash,
            &key,
            NewValue::Bytes(value),
            None,
        );
    }
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = u64::try_from(time.tv_sec).expect("positive") * 1_000_000_000;
    whole + u64::try_from(time.tv_nsec).expect("positive")
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = status.split(' ').nth(1).expect("the second field").parse::<u64>();
    pages.expect("a number") * 4096
}

fn per_key(bytes: u64, keys: u32) -> f64 {
    bytes as f64 / f64::from(keys)
}

fn bytes(keys: u32, value_len: u32) {
    let (resident_before, used_before) = (resident(), memory::used_bytes());
    let (slots, hasher) = slots();
    fill(&slots, &hasher, keys, &vec![b'v'; value_len as usize]);
    let (resident_filled, used_filled) = (resident(), memory::used_bytes());
    for _ in 0..200 {
        pin().flush();
    }
    let mut table = size_of::<Slots>() as u64 + 64 * SLOTS as u64;
    let (mut records, mut len) = (0, 0);
    for slot in 0..SLOTS {
        let slot = SlotId(u16::try_from(slot).expect("below 16,384"));
        let guard = slots.try_lock(slot, Mode::Shared).expect("nobody else is here");
        table += guard.table().memory() as u64;
        records += guard.table().record_bytes();
        len += guard.table().len();
    }
    assert_eq!(len, keys as usize);
    println!("{keys} keys of 15 bytes, values of {value_len}");
    println!("  table           {:7.2} bytes a key", per_key(table, keys));
    println!("  records         {:7.2}", per_key(records, keys));
    println!("  used            {:7.2}", per_key(used_filled - used_before, keys));
    println!("  used, settled   {:7.2}", per_key(memory::used_bytes() - used_before, keys));
    println!("  resident        {:7.2}", per_key(resident_filled - resident_before, keys));
    memory::purge();
    println!("  resident, purged{:7.2}", per_key(resident() - resident_before, keys));
    println!("  {:?}", memory::statistics());
}

fn steps(keys: u32) {
    /// The same insertions each time: what the kernel or a neighbour takes falls on other steps
    /// every time, so the least time of a step is its own.
    const ROUNDS: usize = 3;
    // Touched and freed, so that the kernel's page faults are not taken for the table's work. Run
    // with _RJEM_MALLOC_CONF=dirty_decay_ms:-1 to keep it; without, the faults are in the figures.
    drop(vec![1u8; keys as usize * 72]);
    let mut least = vec![u32::MAX; keys as usize];
    let mut has_grown = vec![false; keys as usize];
    for _ in 0..ROUNDS {
        let (slots, hasher) = slots();
        for number in 0..keys {
            let key = key(number, keys);
            let hash = hasher.hash(&key);
            let mut guard = lock(&slots, hash, Mode::Exclusive);
            let memory_before = guard.table().memory();
            let begin = cpu_ns();
            guard.table_mut().set(hash, &key, NewValue::Bytes(&[b'v'; 16]), None);
            let time = u32::try_from(cpu_ns() - begin).unwrap_or(u32::MAX);
            least[number as usize] = least[number as usize].min(time);
            has_grown[number as usize] = guard.table().memory() != memory_before;
        }
    }
    let times_of = |wanted: bool| {
        let steps = least.iter().zip(&has_grown).filter(move |step| *step.1 == wanted);
        steps.map(|step| u64::from(*step.0)).collect::<Vec<u64>>()
    };
    report("not grown", times_of(false));
    report("grown", times_of(true));
}

fn report(kind: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    let at = |parts: usize| times[(times.len() - 1) - (times.len() - 1) / parts] as f64 / 1000.0;
    println!(
        "  {kind:9} {:8} median {:5.1} us, p99 {:5.1}, p99.99 {:6.1}, longest {:7.1}",
        times.len(),
        at(2),
        at(100),
        at(10_000),
        at(usize::MAX),
    );
}

fn find(keys: u32) {
    const BATCH: usize = 32;
    const FINDS: u32 = 2_000_000;
    let (slots, hasher) = slots();
    fill(&slots, &hasher, keys, &[b'v'; 100]);
    let asked: Vec<Key> =
        (0..FINDS).map(|number| key(number.wrapping_mul(7_368_787) % keys, keys)).collect();
    let best = |round: &mut dyn FnMut()| {
        let times = (0..5).map(|_| {
            let begin = cpu_ns();
            round();
            cpu_ns() - begin
        });
        per_key(times.min().expect("five"), FINDS)
    };
    let run = |hash: KeyHash, key: &Key| {
        let guard = lock(&slots, hash, Mode::Shared);
        let record = guard.table().find(hash, key).expect("every key is there");
        std::hint::black_box(record.value());
    };
    let hashing = best(&mut || {
        asked.iter().for_each(|key| _ = std::hint::black_box(hasher.hash(key)));
    });
    let plain = best(&mut || asked.iter().for_each(|key| run(hasher.hash(key), key)));
    let staged = best(&mut || {
        for batch in asked.chunks(BATCH) {
            let mut hashes = [KeyHash::new(SlotId(0), 0); BATCH];
            let pin = pin();
            for (key, hash) in batch.iter().zip(&mut hashes) {
                *hash = hasher.hash(key);
                slots.prefetch_slot(hash.slot());
            }
            let hashes = &hashes[..batch.len()];
            let mut buckets = [None; BATCH];
            for (bucket, &hash) in buckets.iter_mut().zip(hashes) {
                *bucket = slots.prefetch_bucket(hash, &pin);
            }
            buckets.into_iter().flatten().for_each(Bucket::prefetch_record);
            drop(pin);
            batch.iter().zip(hashes).for_each(|(key, &hash)| run(hash, key));
        }
    });
    println!("{keys} keys: hash {hashing:.1} ns, find {plain:.1}, staged by {BATCH} {staged:.1}");
}
