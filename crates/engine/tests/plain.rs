//! What runs the short way, where nothing special is on, ends as it does the general way: the same
//! replies, effects and counts.

mod support;

use caudal_engine::local::{Client, Local, encode};
use caudal_generator::{Generator, asked};
use caudal_wire::Frame;
use support::store;

const SEED: u64 = 1;
const PIPELINES: usize = 1500;
const PIPELINE_MAX: usize = 24;
/// More than the longest timeout of a blocking command.
const TIMEOUT_MS: u64 = 10;

#[test]
fn the_short_way_ends_as_the_general_way() {
    let seed = asked("CAUDAL_SEED", SEED);
    let mut generator = Generator::new(seed, |_| true);
    let ((mut short, client), (mut general, other)) = (store(), store());
    // Whoever watches all commands is shown each one the general way.
    let monitor = general.connect(0);
    general.call(monitor, &["MONITOR"]);
    for local in [&mut short, &mut general] {
        local.worker(0).listen_to_effects();
    }
    for number in 0..PIPELINES {
        let len = 1 + generator.random().below(PIPELINE_MAX);
        let commands: Vec<_> = (0..len).map(|_| generator.command()).collect();
        let pipeline: Vec<u8> = commands.iter().flat_map(|words| encode(words)).collect();
        let run = |local: &mut Local, client: Client| {
            local.send(client, &pipeline);
            (0..len).for_each(|_| local.advance_ms(TIMEOUT_MS));
            (local.receive(client), local.worker(0).take_effects())
        };
        let (own, others) = (run(&mut short, client), run(&mut general, other));
        assert!(!general.receive(monitor).is_empty(), "it was shown the commands");
        if own != others {
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let lines: Vec<_> = commands.iter().map(|words| show(&words.join(&b' '))).collect();
            let words = lines.join("\n");
            panic!(
                "CAUDAL_SEED={seed}, pipeline {number}:\n{words}\nreplies\n{}\nand\n{}\n\
                 effects\n{}\nand\n{}",
                show(&own.0),
                show(&others.0),
                show(&own.1),
                show(&others.1)
            );
        }
    }
    assert_eq!(counts(&mut short, client), counts(&mut general, other));
}

/// The calls, refusals and failures of each command, and the keyspace's counts.
fn counts(local: &mut Local, client: Client) -> Vec<String> {
    let mut all = Vec::new();
    for section in ["commandstats", "keyspace", "errorstats"] {
        let Frame::Bulk(text) = local.call(client, &["INFO", section]) else {
            panic!("INFO replies with a text");
        };
        let text = String::from_utf8_lossy(&text).into_owned();
        let without_time = |line: &str| {
            let parts = line.split(',').filter(|part| !part.starts_with("usec"));
            parts.collect::<Vec<_>>().join(",")
        };
        let is_own = |line: &&str| !line.contains("cmdstat_monitor") && !line.contains("_info:");
        all.extend(text.lines().filter(is_own).map(without_time));
    }
    all
}
