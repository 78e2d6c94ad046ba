//! One connection as a line of CLIENT LIST.

use crate::clients::ClientInfo;
use crate::engine::Engine;
use crate::tracking::face;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

/// The letters that say what a connection is, in Valkey's order; `N` if there is nothing to say.
pub(super) fn flags(info: &ClientInfo) -> String {
    let mut flags = String::new();
    let tracking = info.tracking.load(Relaxed);
    let marks = [
        ('O', info.is_monitor.load(Relaxed)),
        ('P', info.is_subscriber()),
        ('x', info.queued.load(Relaxed) > 0),
        ('b', info.is_blocked()),
        ('t', tracking & face::ON != 0),
        ('R', tracking & face::BROKEN != 0),
        ('B', tracking & face::BROADCAST != 0),
        ('U', info.peer.unix),
        ('e', info.no_evict.load(Relaxed)),
        ('T', info.no_touch.load(Relaxed)),
    ];
    flags.extend(marks.iter().filter(|(_, set)| *set).map(|(flag, _)| flag));
    if flags.is_empty() {
        flags.push('N');
    }
    flags
}

/// The line, without its end. Every figure is what the connection's worker last noted.
pub(crate) fn line(engine: &Engine, info: &ClientInfo, now_ms: u64) -> Vec<u8> {
    let seconds = |since: u64| now_ms.saturating_sub(since) / 1000;
    let queued = info.queued.load(Relaxed);
    let (input, output) = (info.input.load(Relaxed), info.output.load(Relaxed));
    let command = info.command.load(Relaxed).checked_sub(1);
    let command = command.map_or("NULL", |id| engine.catalog.entry(id).full_name.as_str());
    let flags = flags(info);
    let capa = if info.follows_redirections.load(Relaxed) { "r" } else { "" };
    let text = info.text();
    let memory = size_of::<ClientInfo>() as u64 + input + output;
    let mut line = Vec::with_capacity(400);
    let mut push = |part: std::fmt::Arguments<'_>| {
        line.write_fmt(part).expect("a vector takes everything");
    };
    push(format_args!(
        "id={} addr={} laddr={}",
        info.id, info.peer.address, info.peer.local_address
    ));
    push(format_args!(" fd={} name={}", info.peer.fd, Shown(&text.name)));
    push(format_args!(
        " age={} idle={}",
        seconds(info.opened_ms),
        seconds(info.heard_ms.load(Relaxed))
    ));
    push(format_args!(" flags={flags} capa={capa} db={}", info.database.load(Relaxed)));
    let [channels, patterns, shard_channels] =
        [0, 1, 2].map(|at| info.subscriptions[at].load(Relaxed));
    push(format_args!(" sub={channels} psub={patterns} ssub={shard_channels}"));
    push(format_args!(" multi={}", i64::from(queued) - 1));
    push(format_args!(" watch={} qbuf={input} qbuf-free=0", info.watched.load(Relaxed)));
    push(format_args!(" argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl={output} oll=0 omem={output}"));
    push(format_args!(" tot-mem={memory} events={}", if output > 0 { "rw" } else { "r" }));
    push(format_args!(" cmd={command} user="));
    line.extend_from_slice(&text.user);
    let mut push = |part: std::fmt::Arguments<'_>| {
        line.write_fmt(part).expect("a vector takes everything");
    };
    match info.tracking.load(Relaxed) {
        0 => push(format_args!(" redir=-1")),
        _ => push(format_args!(" redir={}", info.redirection.load(Relaxed))),
    }
    push(format_args!(" resp={}", info.protocol.load(Relaxed)));
    push(format_args!(
        " lib-name={} lib-ver={}",
        Shown(&text.library_name),
        Shown(&text.library_version)
    ));
    push(format_args!(" tot-net-in={}", info.bytes_in.load(Relaxed)));
    push(format_args!(" tot-net-out={}", info.bytes_out.load(Relaxed)));
    push(format_args!(" tot-cmds={} worker={}", info.commands.load(Relaxed), info.worker));
    line
}

/// Words that were checked to be printable ASCII.
struct Shown<'a>(&'a [u8]);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{}", *byte as char))
    }
}
