//! Runs that are undone leave no trace; runs that are set aside come to their end.

mod threads;

use super::{Atomic, Claim, Plan, Stop, Trouble, needs_gate};
use crate::batch::command_of;
use crate::catalog::Handler;
use crate::config::Config;
use crate::connection::{Connection, State};
use crate::execute::{Progress, WantedSet};
use crate::local::{Client, Local};
use caudal_commands::OwnedArgs;
use caudal_generator::{Generator, Words};
use caudal_keyspace::{Busy, Cursor, Held, Place, Wanted};
use caudal_table::Mode;
use std::sync::Arc;

const ROUNDS: u64 = 40;
const COMMANDS: usize = 60;
const LATER_MS: u64 = 200_000;

fn local() -> (Local, Client) {
    let arguments = ["--enable-debug-command", "yes"].map(str::to_owned);
    let (config, _) = Config::load(&arguments, &|_| unreachable!("no file is named"))
        .expect("the arguments are directives");
    let mut local = Local::new(config, 2);
    let client = local.connect(0);
    local.worker(0).listen_to_effects();
    (local, client)
}

/// Runs `body` for a connection of worker 0 that knows of no key.
fn run(
    local: &mut Local,
    token: usize,
    claim: Claim,
    body: &mut dyn FnMut(&mut Atomic<'_, '_>),
) -> Result<(), Progress> {
    let engine = Arc::clone(local.engine());
    let worker = local.worker(0);
    let mut connection = worker.connections[token].take().expect("it is open");
    let plan = Plan { wanted: WantedSet::new(), written: None, claim, reaches: true };
    let ran = worker.atomically(&engine, &mut Held::none(), &mut connection, &plan, body);
    worker.connections[token] = Some(connection);
    ran
}

fn call(run: &mut Atomic<'_, '_>, words: &[&[u8]]) -> Result<(), Stop> {
    let args = OwnedArgs::of(words);
    let entry = command_of(run.engine, args.view());
    run.call(entry.expect("a command"), args.view())
}

fn connection(local: &mut Local, token: usize) -> &mut Connection {
    local.worker(0).connections[token].as_mut().expect("it is open")
}

/// All that can be seen of a store, and the bytes of its records.
fn look(local: &mut Local, client: Client) -> (Vec<String>, usize) {
    let lines = ["DEBUG DIGEST", "DBSIZE", "INFO keyspace"];
    let mut seen: Vec<String> = lines.iter().map(|line| local.say(client, line)).collect();
    let counters = local.engine().workers[0].counters.statistics();
    seen.push(format!("{counters:?}"));
    let engine = Arc::clone(local.engine());
    let (mut bytes, mut from) = (0, Some(Cursor::START));
    while let Some(at) = from {
        let mut visit = |record: caudal_table::RecordRef<'_>| {
            bytes += record.memory();
            seen.push(format!("{:?} {:?}", record.key(), record.is_edited()));
        };
        from = engine.keyspace.scan((0, 0), at, 1000, &mut visit).expect("nothing is locked");
    }
    (seen, bytes)
}

#[test]
fn a_run_that_is_undone_leaves_no_trace() {
    let (mut plain, one) = local();
    let (mut tried, two) = local();
    let waits = |name: &str| name.starts_with('B') || name.starts_with("XREAD");
    let mut generator = Generator::new(7, |name| !waits(name));
    let mut undone = Generator::new(8, |_| true);
    for round in 0..ROUNDS {
        for _ in 0..COMMANDS {
            let words = generator.command();
            assert_eq!(plain.call(one, &words), tried.call(two, &words));
        }
        let commands: Vec<Words> = (0..COMMANDS).map(|_| undone.command()).collect();
        let random = tried.worker(0).random.clone();
        let mut runs = 0;
        let ran = run(&mut tried, 0, Claim::Keys, &mut |run| {
            runs += 1;
            for words in &commands {
                let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
                let args = OwnedArgs::of(&words);
                let entry = command_of(run.engine, args.view());
                let fits = |entry: &&crate::catalog::Entry| {
                    entry.spec.accepts(args.view().len())
                        && matches!(entry.handler, Handler::Data(_))
                        && !needs_gate(entry)
                };
                let Some(entry) = entry.filter(fits) else { continue };
                assert!(!matches!(run.call(entry, args.view()), Err(Stop::Again)));
            }
            run.worker.trouble = Some(Trouble::Busy(Busy(Place { database: 0, slot: 0 })));
        });
        assert_eq!((ran, runs), (Err(Progress::RunsAgain), 2), "without and with the token");
        connection(&mut tried, 0).claim = Claim::Keys;
        tried.worker(0).random = random;
        if round % 4 == 3 {
            plain.advance_ms(LATER_MS);
            tried.advance_ms(LATER_MS);
        }
        let ((seen, bytes), (others, other_bytes)) = (look(&mut plain, one), look(&mut tried, two));
        assert_eq!(seen, others);
        // A record that was written anew has no more room than it needs.
        assert!(bytes.abs_diff(other_bytes) <= bytes / 4 + 64, "{bytes} {other_bytes}");
        assert_eq!(plain.worker(0).take_effects(), tried.worker(0).take_effects());
    }
}

#[test]
fn a_watched_key_is_touched_only_by_a_run_that_stays() {
    let (mut local, client) = local();
    let other = local.connect(0);
    local.say(client, "WATCH k");
    let mut fails = true;
    let mut body = |run: &mut Atomic<'_, '_>| {
        assert!(call(run, &[b"SET", b"k", b"1"]).is_ok());
        if std::mem::take(&mut fails) {
            run.worker.trouble = Some(Trouble::Busy(Busy(Place { database: 0, slot: 9 })));
            assert!(!run.connection.watching.as_ref().expect("it watches").is_dirty());
        }
    };
    run(&mut local, 0, Claim::Keys, &mut body).expect("the second time it stays");
    assert_eq!(local.receive(client), b"+OK\r\n", "the undone run's reply is gone");
    local.say(client, "MULTI");
    assert_eq!(local.say(client, "EXEC"), "(nil)");
    assert_eq!(local.say(other, "GET k"), "1");
}

#[test]
fn who_meets_a_busy_slot_waits_with_the_token_and_runs_when_it_is_free() {
    let (mut local, client) = local();
    local.say(client, "MSET a 1 b 2");
    let engine = Arc::clone(local.engine());
    let place = Place { database: 0, slot: engine.keyspace.hash(b"b").slot().0 };
    let held = Held::one(&engine.keyspace, Wanted { place, mode: Mode::Exclusive });
    let mut body = |run: &mut Atomic<'_, '_>| {
        if call(run, &[b"INCR", b"a"]).is_ok() {
            drop(call(run, &[b"INCR", b"b"]));
        }
    };
    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Err(Progress::RunsAgain));
    assert!(matches!(connection(&mut local, 0).state, State::Parked));
    assert_eq!(connection(&mut local, 0).claim, Claim::Token);
    assert!(local.worker(0).has_token, "until the end of the batch");
    local.advance_ms(0);
    assert!(engine.token.take(1), "the token was given back");
    drop(held);
    local.advance_ms(0);
    assert!(matches!(connection(&mut local, 0).state, State::Running));

    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Err(Progress::RunsAgain));
    assert!(matches!(connection(&mut local, 0).state, State::AtToken));
    local.worker(1).give_token_back();
    local.advance_ms(0);
    assert!(matches!(connection(&mut local, 0).state, State::Running));
    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Ok(()));
    assert_eq!(local.receive(client), b":2\r\n:3\r\n");
    assert_eq!(connection(&mut local, 0).claim, Claim::Keys);
}

#[test]
fn a_run_that_needs_the_gate_begins_again_there() {
    let (mut local, client) = local();
    local.say(client, "SET a 1");
    let mut body = |run: &mut Atomic<'_, '_>| {
        for words in [[b"INCR".as_slice(), b"a"].as_slice(), &[b"FLUSHALL"], &[b"INCR", b"a"]] {
            if call(run, words).is_err() {
                return;
            }
        }
    };
    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Ok(()));
    assert_eq!(local.receive(client), b":2\r\n+OK\r\n:1\r\n");
    assert!(local.engine().gate.enter(1), "the gate was opened");
}

#[test]
fn a_run_that_makes_a_key_ready_serves_who_waits_for_it() {
    let (mut local, client) = local();
    let (waiter, next) = (local.connect(0), local.connect(1));
    local.send(waiter, &crate::local::encode(&["BLMOVE", "from", "to", "LEFT", "LEFT", "0"]));
    local.send(next, &crate::local::encode(&["BLPOP", "to", "0"]));
    let mut body = |run: &mut Atomic<'_, '_>| drop(call(run, &[b"RPUSH", b"from", b"x"]));
    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Ok(()));
    local.advance_ms(0);
    assert_eq!(local.receive(waiter), b"$1\r\nx\r\n");
    assert_eq!(local.receive(next), b"*2\r\n$2\r\nto\r\n$1\r\nx\r\n");
    assert_eq!(local.receive(client), b":1\r\n");
    assert_eq!(local.say(client, "EXISTS from to"), ":0");
}

#[test]
fn what_an_undone_run_published_is_never_sent() {
    let (mut local, client) = local();
    let listener = local.connect(1);
    local.say(listener, "PSUBSCRIBE *");
    let mut fails = true;
    let mut body = |run: &mut Atomic<'_, '_>| {
        assert!(call(run, &[b"PUBLISH", b"news", b"1"]).is_ok());
        if std::mem::take(&mut fails) {
            run.worker.trouble = Some(Trouble::Busy(Busy(Place { database: 0, slot: 9 })));
        }
    };
    assert_eq!(run(&mut local, 0, Claim::Keys, &mut body), Ok(()));
    local.advance_ms(0);
    assert_eq!(local.receive(client), b":1\r\n");
    let message = String::from_utf8(local.receive(listener)).expect("ASCII");
    assert_eq!(message.matches("news").count(), 1, "{message}");
}
