//! The table of directives as a page for people: `docs/configuration.md`.
//!
//! A test holds the page against this function, so that the two cannot differ.

use std::fmt::Write;

use super::directive::{Directive, Kind, Line, Mutability, Standing};
use super::table;

const INTRODUCTION: &str = "\
# Configuration

<!-- Written by `caudal_engine::config::documentation`; a test says how to write it again. -->

Caudal is configured as Redis and Valkey are: by a file of directives, by arguments and by CONFIG
SET.

    caudal [/path/to/redis.conf] [--directive value ...]... [-]

* Each line of the file is a directive and its values; `#` begins a line of comment. Words may be
  quoted: `\"...\"` knows `\\n \\r \\t \\b \\a \\\\ \\\"` and `\\xHH`, `'...'` knows `\\'`.
* `-` as first or last argument reads the standard input as a file. Options come last; whichever
  line or option comes last wins. `save` lines add up; `save \"\"` begins anew. A
  `client-output-buffer-limit` line changes the classes that it names.
* `include` reads another file in place of the line.
* An error ends the start. It names file and line, shows the text and says what to do; an unknown
  directive is answered with the nearest known name.
* Whether a value can be honoured is asked of the value that wins, so `--daemonize no` is enough
  against a file that says `daemonize yes`.
* Sizes: `1k` is 1,000 bytes, `1kb` 1,024, and so on with `m`, `mb`, `g`, `gb`, in any case.
* CONFIG SET changes all the directives that it names or, when one cannot be changed, none. CONFIG
  REWRITE keeps the file's comments and order.

Every directive of Redis 7.2 and Valkey 9.1 is known, and has one of these standings:

| standing | meaning |
|---|---|
| works | does what the note says |
| no meaning | accepted with a notice in the log, shown by CONFIG GET; no effect, as the note says |
| waits | the same until there is what the note names; no notice about the default value |
| not there yet | any value but the default is refused with an error; the default means off |
| never | the same, and it will stay so |

Two of them need a word more:

* `save`. There are no snapshots yet, so `save` with rules is refused, and the default is
  `save \"\"`, where Valkey's is `save 3600 1 300 100 60 10000`. Accepting rules and
  saving nothing would be a promise of durability that is not kept.
* `daemonize`. Only `no`: a server that goes into the background hides its exit status and its first
  errors from whatever started it. systemd, containers and shells (`caudal ... &`) start it in
  the foreground and know when it is ready through `supervised systemd`.
";

/// The text of `docs/configuration.md`.
pub fn documentation() -> String {
    let mut out = INTRODUCTION.to_owned();
    for group in &table::GROUPS {
        let _ = write!(out, "\n## {}\n\n", group.title);
        out.push_str("| directive | value | default | CONFIG SET | standing | note |\n");
        out.push_str("|---|---|---|---|---|---|\n");
        for row in group.rows {
            push_row(&mut out, row);
        }
    }
    out
}

fn push_row(out: &mut String, row: &Directive) {
    let names: Vec<String> = row.names().map(|name| format!("`{name}`")).collect();
    let default = match row.default {
        _ if !row.has_value() => String::new(),
        "" => "`\"\"`".to_owned(),
        text => format!("`{text}`"),
    };
    let set = match row.mutability {
        _ if !row.has_value() => "no",
        Mutability::AtRunTime => "yes",
        Mutability::AtStart => "no",
        Mutability::Protected => "protected",
    };
    let names = names.join(", ");
    let (value, standing) = (value_text(&row.kind), standing_text(row.standing));
    let note = row.note;
    let _ = writeln!(out, "| {names} | {value} | {default} | {set} | {standing} | {note} |");
}

fn value_text(kind: &Kind) -> String {
    let any = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        words.join(", ")
    };
    match *kind {
        Kind::Flag => any(&["yes", "no"]),
        Kind::Integer(least, most) => bounds(least.into(), most.into()),
        Kind::Clamped(low, high) => format!("number, brought into {low} to {high}"),
        Kind::Memory(least, most) => format!("size, {}", bounds(least, most)),
        Kind::MemoryOrPercent => "size or percentage".to_owned(),
        Kind::Octal => "octal, 0 to 777".to_owned(),
        Kind::Text(_) => "text".to_owned(),
        Kind::Choice(words) => any(words),
        Kind::Choices(words) => format!("some of {}", any(words)),
        Kind::Addresses(most) => format!("up to {most} addresses"),
        Kind::Save => "`seconds changes` pairs".to_owned(),
        Kind::OutputLimits => "`class hard soft seconds`".to_owned(),
        Kind::Events => "letters of `Ag$lshzxeKEtmdn`".to_owned(),
        Kind::Percentiles => "numbers, 0 to 100".to_owned(),
        Kind::OomScores => "three numbers, -2000 to 2000".to_owned(),
        Kind::Master => "`host port` or `no one`".to_owned(),
        Kind::Line(Line::Include) => "path".to_owned(),
        Kind::Line(_) => String::new(),
    }
}

fn bounds(least: i128, most: i128) -> String {
    if most >= i64::MAX.into() { format!("from {least}") } else { format!("{least} to {most}") }
}

fn standing_text(standing: Standing) -> String {
    let (name, accepted) = match standing {
        Standing::Works => ("works", &[][..]),
        Standing::NoMeaning => ("no meaning", &[][..]),
        Standing::Waits => ("waits", &[][..]),
        Standing::NotYet(accepted) => ("not there yet", accepted),
        Standing::Never(accepted) => ("never", accepted),
    };
    if accepted.is_empty() {
        return name.to_owned();
    }
    let words: Vec<String> = accepted.iter().map(|word| format!("`{word}`")).collect();
    format!("{name}, but for {}", words.join(", "))
}
