//! LATENCY: what took longer than `latency-monitor-threshold`, and how long each command's calls
//! took.

use crate::catalog::Entry;
use crate::latency::Series;
use crate::session::{DONE, Outcome, Session, SessionCommand, help, info, on_server};
use caudal_commands::{Args, Error, Group, Spec};
use std::fmt::Write;

/// Height of LATENCY GRAPH's curve.
const GRAPH_ROWS: u64 = 4;
/// Seconds that it shows: the width of a terminal.
const GRAPH_COLUMNS: usize = 80;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    on_server(name, summary).of("LATENCY").since("2.8.13").tips(&[
        "nondeterministic_output",
        "request_policy:all_nodes",
        "response_policy:special",
    ])
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(spec("DOCTOR", "Reports on the events in words.").arity(2), doctor),
    SessionCommand::new(
        spec("GRAPH", "Draws an event's last seconds.").syntax("event").arity(3),
        graph,
    ),
    help::help("LATENCY", Group::Server, "2.8.13"),
    SessionCommand::new(
        spec("HISTOGRAM", "Returns how many calls of commands took at most how many microseconds.")
            .syntax("[command...]")
            .since("7.0.0")
            .arity(-2)
            .complexity(
                "O(N) where N is the number of commands with latency information being retrieved.",
            ),
        histogram,
    ),
    SessionCommand::new(
        spec("HISTORY", "Returns the seconds with an event, and its time.")
            .syntax("event")
            .arity(3),
        history,
    ),
    SessionCommand::new(spec("LATEST", "Returns the last of each event.").arity(2), latest),
    SessionCommand::new(
        spec("RESET", "Forgets some events, or all.")
            .syntax("[event...]")
            .arity(-2)
            .tips(&["request_policy:all_nodes", "response_policy:agg_sum"]),
        reset,
    ),
];

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn latest(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let engine = session.engine;
    let series = engine.latency.series();
    let mut reply = session.reply();
    let last = |series: &Series| series.samples.back().copied();
    let known: Vec<_> =
        series.iter().filter_map(|(name, at)| Some((name, last(at)?, at.worst_millis))).collect();
    reply.array(known.len());
    for (name, sample, worst) in known {
        reply.array(4);
        reply.bulk(name.as_bytes());
        [sample.at, sample.millis, worst].iter().for_each(|number| reply.integer(signed(*number)));
    }
    DONE
}

/// The name of an event as it was recorded.
fn event<'a>(args: Args<'a>, index: usize) -> &'a str {
    std::str::from_utf8(args.at(index)).unwrap_or_default()
}

fn history(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let engine = session.engine;
    let series = engine.latency.series();
    let samples = series.get(event(args, 2)).map(|at| &at.samples);
    let mut reply = session.reply();
    reply.array(samples.map_or(0, |samples| samples.len()));
    for sample in samples.into_iter().flatten() {
        reply.array(2);
        reply.integer(signed(sample.at));
        reply.integer(signed(sample.millis));
    }
    DONE
}

fn reset(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let mut series = session.engine.latency.series();
    let before = series.len();
    match args.len() {
        2 => series.clear(),
        _ => series.retain(|name, _| !args.from(2).any(|word| word == name.as_bytes())),
    }
    let dropped = before - series.len();
    drop(series);
    session.reply_count(dropped)
}

fn doctor(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let engine = session.engine;
    let Some(threshold) = engine.config().log.latency_threshold_millis else {
        return session.reply_text(
            "Latency monitoring is off. \"CONFIG SET latency-monitor-threshold <milliseconds>\" \
             turns it on.\n",
        );
    };
    let series = engine.latency.series();
    let mut text = String::new();
    if series.is_empty() {
        text = format!("No event has taken {threshold} ms or more.\n");
    }
    for (name, at) in &*series {
        let mean = at.sum_millis / at.count.max(1);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name}: {} times {threshold} ms or more, {mean} ms on average, {} ms at worst.",
            at.count, at.worst_millis
        );
    }
    if series.contains_key("command") || series.contains_key("fast-command") {
        text.push_str("SLOWLOG GET shows which commands were slow.\n");
    }
    drop(series);
    session.reply_text(&text)
}

fn graph(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let name = event(args, 2);
    let series = session.engine.latency.series();
    let Some(at) = series.get(name) else {
        let before = "ERR No samples available for event '";
        return Err(Error::quoting(before, args.at(2), "'"));
    };
    let skipped = at.samples.len().saturating_sub(GRAPH_COLUMNS);
    let millis: Vec<u64> = at.samples.iter().skip(skipped).map(|sample| sample.millis).collect();
    let worst = at.worst_millis;
    drop(series);
    let text = draw(name, &millis, worst);
    session.reply_text(&text)
}

/// A curve: a column a second, a row a quarter of the range.
fn draw(name: &str, millis: &[u64], worst: u64) -> String {
    let low = millis.iter().copied().min().unwrap_or(0);
    let high = millis.iter().copied().max().unwrap_or(0);
    let mut text = format!("{name} - high {high} ms, low {low} ms (all time high {worst} ms)\n");
    text.push_str(&"-".repeat(GRAPH_COLUMNS));
    for row in (0..GRAPH_ROWS).rev() {
        text.push('\n');
        for at in millis {
            let height = (at - low) * (GRAPH_ROWS - 1) / (high - low).max(1);
            text.push(match height.cmp(&row) {
                std::cmp::Ordering::Less => ' ',
                std::cmp::Ordering::Equal => '#',
                std::cmp::Ordering::Greater => '|',
            });
        }
    }
    text.push('\n');
    text
}

fn histogram(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (engine, mut entries) = (session.engine, Vec::<&Entry>::new());
    if args.len() == 2 {
        entries.extend(engine.catalog.entries());
    }
    for name in args.from(2) {
        // A container stands for its commands.
        let (container, subcommand) = match name.iter().position(|byte| *byte == b'|') {
            None => (name, None),
            Some(at) => (&name[..at], Some(&name[at + 1..])),
        };
        let Some(entry) = engine.catalog.find(container) else { continue };
        match subcommand {
            None => {
                entries.push(entry);
                entries.extend(engine.catalog.subcommands(entry));
            }
            Some(name) => entries.extend(engine.catalog.subcommand(entry, name)),
        }
    }
    let measured = entries.into_iter().map(|entry| (entry, info::latencies(engine, entry)));
    let measured: Vec<_> = measured.filter(|(_, latencies)| latencies.calls() > 0).collect();
    let mut reply = session.reply();
    reply.map(measured.len());
    for (entry, latencies) in measured {
        reply.bulk(entry.full_name.as_bytes());
        reply.map(2);
        reply.bulk(b"calls");
        reply.integer(signed(latencies.calls()));
        reply.bulk(b"histogram_usec");
        let pairs = latencies.by_microseconds();
        reply.map(pairs.len());
        for (micros, calls) in pairs {
            reply.integer(signed(micros));
            reply.integer(signed(calls));
        }
    }
    DONE
}

#[cfg(test)]
mod tests {
    use super::draw;

    #[test]
    fn a_curve_has_a_column_a_second() {
        let text = draw("command", &[10, 40, 10], 50);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows, [" # ", " | ", " | ", "#|#"]);
    }
}
