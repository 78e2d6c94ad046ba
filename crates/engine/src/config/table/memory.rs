//! How much memory, and what happens when it is full.
//!
//! Rows of the table of directives; see [`super`].

use super::{EVICTION, MAX_BYTES, MAX_I32, MAX_I64};
use crate::config::directive::Directive;
use crate::config::directive::Kind::{Choice, Flag, Integer, Memory, OomScores};

const LAZY: &str = "large values are always freed in slices of a turn, never at once";
const DEFRAG: &str = "compaction of the record heap needs no tuning";

pub(super) static ROWS: [Directive; 24] = [
    Directive::works(
        "maxmemory",
        Memory(0, u64::MAX as i128),
        "0",
        "bytes of memory in use at which writes are refused with OOM; 0 no limit",
    ),
    Directive::works(
        "maxmemory-policy",
        Choice(&[
            "volatile-lru",
            "volatile-lfu",
            "volatile-random",
            "volatile-ttl",
            "allkeys-lru",
            "allkeys-lfu",
            "allkeys-random",
            "noeviction",
        ]),
        "noeviction",
        "the LFU policies count how often keys are used, for OBJECT FREQ, the others keep when, \
         for OBJECT IDLETIME; nothing is evicted yet, and `maxmemory` goes with `noeviction` only",
    ),
    Directive::waits("maxmemory-samples", Integer(1, 64), "5", EVICTION),
    Directive::waits("maxmemory-eviction-tenacity", Integer(0, 100), "10", EVICTION),
    Directive::works(
        "lfu-log-factor",
        Integer(0, MAX_I32),
        "10",
        "how many more uses it takes to count one more under an LFU policy",
    ),
    Directive::works(
        "lfu-decay-time",
        Integer(0, MAX_I32),
        "1",
        "minutes in which the count of an unused key falls by one; 0 never",
    ),
    Directive::no_meaning(
        "active-expire-effort",
        Integer(1, 10),
        "1",
        "an index by time finds what has expired within about a second",
    ),
    Directive::no_meaning("lazyfree-lazy-eviction", Flag, "yes", LAZY),
    Directive::no_meaning("lazyfree-lazy-expire", Flag, "yes", LAZY),
    Directive::no_meaning("lazyfree-lazy-server-del", Flag, "yes", LAZY),
    Directive::no_meaning("lazyfree-lazy-user-del", Flag, "yes", LAZY),
    Directive::no_meaning("lazyfree-lazy-user-flush", Flag, "yes", LAZY),
    Directive::never(
        "activedefrag",
        Flag,
        "no",
        "a switch for defragmentation: freed places are used again, and compaction needs none",
    ),
    Directive::no_meaning("active-defrag-ignore-bytes", Memory(1, MAX_BYTES), "104857600", DEFRAG),
    Directive::no_meaning("active-defrag-threshold-lower", Integer(0, 1000), "10", DEFRAG),
    Directive::no_meaning("active-defrag-threshold-upper", Integer(0, 1000), "100", DEFRAG),
    Directive::no_meaning("active-defrag-cycle-min", Integer(1, 99), "1", DEFRAG),
    Directive::no_meaning("active-defrag-cycle-max", Integer(1, 99), "25", DEFRAG),
    Directive::no_meaning("active-defrag-cycle-us", Integer(0, 100_000), "500", DEFRAG),
    Directive::no_meaning("active-defrag-max-scan-fields", Integer(1, MAX_I64), "1000", DEFRAG),
    Directive::no_meaning(
        "jemalloc-bg-thread",
        Flag,
        "yes",
        "the allocator's own background threads are not used",
    ),
    Directive::no_meaning(
        "disable-thp",
        Flag,
        "yes",
        "nothing is forked, so huge pages are not copied; they stay as the system has them",
    )
    .at_start(),
    Directive::not_yet(
        "oom-score-adj",
        Choice(&["no", "yes", "relative", "absolute"]),
        "no",
        "changing the process's OOM score; use systemd's OOMScoreAdjust",
    ),
    Directive::waits(
        "oom-score-adj-values",
        OomScores,
        "0 200 800",
        "changing the process's OOM score",
    ),
];
