//! HOTKEYS: starts and ends the search for hot keys, and says what it has found.
//!
//! As in Redis 8.6: Valkey 9.1 has no such command.

use crate::hot_keys::{Search, Terms};
use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Cursor, Error, Group, Spec};
use std::sync::Arc;

/// Keys shown if COUNT is not said.
const COUNT: i64 = 10;
/// Most keys that COUNT may ask for.
const COUNT_MAX: i64 = 64;
/// Longest DURATION, in seconds: more than eleven days.
const DURATION_MAX_SECONDS: i64 = 1_000_000;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    let spec = Spec::new(name, summary).of("HOTKEYS").group(Group::Server).since("8.6.0");
    spec.arity(2).admin().no_script()
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        spec("GET", "Returns the keys that cost most since the search began.")
            .complexity("O(K) where K is the number of keys returned."),
        get,
    ),
    help::help("HOTKEYS", Group::Server, "8.6.0"),
    SessionCommand::new(spec("RESET", "Forgets what a search that has ended found."), reset),
    SessionCommand::new(
        spec("START", "Starts to look for the keys that cost most CPU time or network bytes.")
            .syntax(
                "METRICS metrics(count:int [CPU] [NET]) [COUNT k:int] [DURATION seconds:int] \
                 [SAMPLE ratio:int] [SLOTS slots(count:int slot:int...)]",
            )
            .arity(-2),
        start,
    ),
    SessionCommand::new(spec("STOP", "Ends the search, and keeps what it found."), stop),
];

fn parse(args: Args<'_>) -> Result<Terms, Error> {
    let mut options = args.cursor(2);
    if !options.take("METRICS") || options.left() == 0 {
        return Err(Error::text("ERR METRICS parameter is required"));
    }
    let (cpu, net) = metrics(args, &mut options)?;
    let mut terms = Terms { cpu, net, count: usize_of(COUNT), duration_ms: None, sample: 1 };
    while options.left() > 0 {
        let has_value = options.left() > 1;
        if has_value && options.take("COUNT") {
            let text = "ERR COUNT must be between 1 and 64";
            terms.count = usize_of(number(args, &mut options, 1..=COUNT_MAX, text)?);
        } else if has_value && options.take("DURATION") {
            let text = "ERR DURATION must be between 1 and 1000000";
            let seconds = number(args, &mut options, 1..=DURATION_MAX_SECONDS, text)?;
            terms.duration_ms = Some(seconds.unsigned_abs() * 1000);
        } else if has_value && options.take("SAMPLE") {
            let text = "ERR SAMPLE ratio must be positive";
            terms.sample = usize_of(number(args, &mut options, 1..=i64::from(i32::MAX), text)?);
        } else if options.take("SLOTS") {
            let text = "ERR SLOTS parameter cannot be used in non-cluster mode";
            return Err(Error::text(text));
        } else {
            return Err(Error::SYNTAX);
        }
    }
    Ok(terms)
}

/// The number of metrics and the metrics: whether CPU and NET are among them.
fn metrics(args: Args<'_>, options: &mut Cursor<'_>) -> Result<(bool, bool), Error> {
    let text = "ERR METRICS count must be > 0 and <= 2";
    let count = number(args, options, 1..=2, text)?;
    let (mut cpu, mut net) = (false, false);
    loop {
        let (metric, name) = if options.take("CPU") {
            (&mut cpu, "CPU")
        } else if options.take("NET") {
            (&mut net, "NET")
        } else {
            break;
        };
        if std::mem::replace(metric, true) {
            return Err(Error::new(format!("ERR METRICS {name} defined more than once!")));
        }
    }
    match i64::from(cpu) + i64::from(net) {
        0 => Err(Error::text("ERR METRICS no valid metrics passed. Supported: CPU|NET")),
        said if said == count => Ok((cpu, net)),
        _ => Err(Error::text("ERR METRICS count does not match number of metric types provided")),
    }
}

fn number(
    args: Args<'_>,
    options: &mut Cursor<'_>,
    within: std::ops::RangeInclusive<i64>,
    text: &'static str,
) -> Result<i64, Error> {
    let number = args.integer(options.index()).ok().filter(|number| within.contains(number));
    options.next();
    number.ok_or(Error::text(text))
}

fn usize_of(number: i64) -> usize {
    usize::try_from(number).expect("it was found to be positive")
}

/// The last search, which ends if its time has passed.
fn last(session: &Session<'_, '_>) -> Option<Arc<Search>> {
    let (engine, now_ms) = (session.engine, session.worker.now.unix_ms);
    let search = engine.hot_keys.last();
    search.inspect(|search| {
        if search.is_over(now_ms) {
            search.stop(engine, now_ms);
        }
    })
}

/// The search that runs.
fn running(session: &Session<'_, '_>) -> Option<Arc<Search>> {
    last(session).and_then(|_| session.engine.hot_keys.running())
}

fn start(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if running(session).is_some() {
        return Err(Error::text("ERR hotkey tracking session already in progress"));
    }
    let terms = parse(args)?;
    let engine = session.engine;
    let search = Search::new(engine, terms, session.worker.now.unix_ms);
    engine.hot_keys.set(Some(Arc::new(search)));
    engine.renew_tuning();
    session.reply_ok()
}

fn stop(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    match running(session) {
        Some(search) => {
            search.stop(session.engine, session.worker.now.unix_ms);
            session.reply_ok()
        }
        None => {
            session.reply().null();
            DONE
        }
    }
}

fn reset(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    if running(session).is_some() {
        let text = "ERR hotkey tracking session in progress, stop tracking first";
        return Err(Error::text(text));
    }
    session.engine.hot_keys.set(None);
    session.reply_ok()
}

fn get(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let Some(search) = last(session) else {
        session.reply().null();
        return DONE;
    };
    let found = search.found(session.engine, session.worker.now.unix_ms);
    let terms = search.terms;
    let mut numbers = vec![
        ("all-commands-all-slots-us", found.all.nanos / 1000),
        ("net-bytes-all-commands-all-slots", found.all.bytes),
        ("collection-start-time-unix-ms", search.started_ms),
        ("collection-duration-ms", found.duration_ms),
    ];
    if terms.cpu {
        numbers.push(("total-cpu-time-user-ms", found.user_ms));
        numbers.push(("total-cpu-time-sys-ms", found.system_ms));
    }
    if terms.net {
        numbers.push(("total-net-bytes", found.net_bytes));
    }
    let by_cpu = found.by_cpu.into_iter().map(|(key, nanos)| (key, nanos / 1000)).collect();
    let rankings =
        [("by-cpu-time-us", terms.cpu, by_cpu), ("by-net-bytes", terms.net, found.by_net)];
    let mut reply = session.reply();
    reply.map(3 + numbers.len() + usize::from(terms.cpu) + usize::from(terms.net));
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    reply.bulk(b"tracking-active");
    reply.integer(i64::from(found.is_running));
    reply.bulk(b"sample-ratio");
    reply.integer(i64::try_from(terms.sample).unwrap_or(i64::MAX));
    reply.bulk(b"selected-slots");
    reply.array(0);
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply.integer(signed(number));
    }
    for (name, _, keys) in rankings.into_iter().filter(|(_, is_wanted, _)| *is_wanted) {
        reply.bulk(name.as_bytes());
        reply.array(2 * keys.len());
        for (key, cost) in keys {
            reply.bulk(&key);
            reply.integer(signed(cost));
        }
    }
    DONE
}
