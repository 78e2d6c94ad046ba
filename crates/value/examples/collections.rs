//! What large collections cost: time an operation and bytes an entry.
//!
//! `cargo run --release -p caudal-value --example collections [entries]` writes one line for each
//! operation: all entries in random order, on collections of a million unless told otherwise. Time
//! is the thread's CPU time as Linux counts it: other processes cost caches, not time.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a developers' tool may stop and print"
)]

use caudal_value::{Hash, Limits, Set, SortedSet};
use std::hint::black_box;

const LIMITS: Limits = Limits::DEFAULT;
const VALUE: &[u8] = b"value:0123456789abcd";

fn main() {
    let entries = std::env::args().nth(1).map_or(1_000_000, |text| text.parse().unwrap());
    let bench = Bench { entries };
    bench.hash();
    bench.set();
    bench.sorted_set();
}

struct Bench {
    entries: u64,
}

impl Bench {
    fn hash(&self) {
        let mut hash = Hash::new();
        self.run("hash insert", |name, _| hash.insert(name, VALUE, &LIMITS));
        self.weigh("hash", hash.memory(), 16 + VALUE.len());
        self.run("hash get", |name, _| hash.get(name).is_some());
        self.run("hash get, absent", |name, _| hash.get(&name[1..]).is_none());
        self.run("hash replace", |name, _| !hash.insert(name, VALUE, &LIMITS));
        let longer = [VALUE, b"+"].concat();
        self.run("hash replace, longer", |name, _| !hash.insert(name, &longer, &LIMITS));
        self.weigh("hash", hash.memory(), 17 + VALUE.len());
        let start = cpu_ns();
        assert_eq!(black_box(hash.iter().map(|(field, _)| field.len()).sum::<usize>() % 16), 0);
        self.report("hash iterate", start);
        let image = hash.clone();
        self.run("hash replace, image held", |name, _| !hash.insert(name, VALUE, &LIMITS));
        drop(image);
        self.run("hash remove", |name, _| hash.remove(name));
        assert!(hash.is_empty());
    }

    fn set(&self) {
        let mut set = Set::new();
        self.run("set insert", |name, _| set.insert(name, &LIMITS));
        self.weigh("set", set.memory(), 16);
        self.run("set contains", |name, _| set.contains(name));
        self.run("set insert, present", |name, _| !set.insert(name, &LIMITS));
        let entries = self.entries;
        self.run("set nth", |_, random| set.nth(index_of(random, entries)).is_some());
        self.run("set remove", |name, _| set.remove(name));
    }

    fn sorted_set(&self) {
        let mut set = SortedSet::new();
        let score = |random: u64| (random >> 40) as f64;
        self.run("sorted set insert", |name, random| {
            set.insert(name, score(random), &LIMITS);
            true
        });
        self.weigh("sorted set", set.memory(), 16 + 8);
        self.run("sorted set score", |name, _| set.score(name).is_some());
        self.run("sorted set rank", |name, _| set.rank(name).is_some());
        self.run("sorted set update", |name, random| {
            set.insert(name, score(!random), &LIMITS);
            true
        });
        let entries = self.entries;
        self.run("sorted set range of 10", |_, random| {
            set.iter_from(index_of(random, entries)).take(10).count() > 0
        });
        let start = cpu_ns();
        while black_box(set.pop_first()).is_some() {}
        self.report("sorted set pop first", start);
        self.run("sorted set insert, one score", |name, _| {
            set.insert(name, 0.0, &LIMITS);
            true
        });
        self.run("sorted set score, one score", |name, _| set.score(name).is_some());
        self.run("sorted set remove, one score", |name, _| set.remove(name).is_some());
        let mut next = 0.0;
        self.run("sorted set insert, ascending", |name, _| {
            next += 1.0;
            set.insert(name, next, &LIMITS);
            true
        });
        self.weigh("sorted set, ascending", set.memory(), 16 + 8);
    }

    /// Calls `f` with the name of each entry and a random number, in random order.
    fn run(&self, what: &str, mut f: impl FnMut(&[u8], u64) -> bool) {
        let start = cpu_ns();
        for index in 0..self.entries {
            // One-to-one: each name comes once.
            let random = mix(index);
            assert!(black_box(f(&name(random), random)), "{what}");
        }
        self.report(what, start);
    }

    fn report(&self, what: &str, start: u64) {
        let ns = (cpu_ns() - start) as f64 / self.entries as f64;
        println!("{what:32} {ns:7.0} ns");
    }

    fn weigh(&self, what: &str, memory: usize, raw: usize) {
        let bytes = memory as f64 / self.entries as f64;
        let overhead = bytes - raw as f64;
        println!("{what:32} {bytes:7.1} bytes, {overhead:.1} beyond the raw");
    }
}

/// CPU time of this thread so far.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn mix(index: u64) -> u64 {
    let mixed = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

fn index_of(random: u64, entries: u64) -> usize {
    usize::try_from(random % entries).unwrap()
}

/// 16 hexadecimal digits.
fn name(random: u64) -> [u8; 16] {
    let mut name = [0; 16];
    for (index, place) in name.iter_mut().enumerate() {
        *place = b"0123456789abcdef"[(random >> (4 * index) & 15) as usize];
    }
    name
}
