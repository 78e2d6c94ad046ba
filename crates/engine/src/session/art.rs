//! LOLWUT: a river, and the version.

use crate::session::{Outcome, Session, SessionCommand};
use caudal_commands::{Args, Error, Group, Spec};
use std::f64::consts::TAU;
use std::fmt::Write;

const LOLWUT: Spec = Spec::new("LOLWUT", "Draws a river, and tells the version.")
    .syntax("[VERSION version:int]")
    .group(Group::Server)
    .since("5.0.0")
    .arity(-1)
    .readonly()
    .fast();

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[SessionCommand::new(LOLWUT, draw)];

/// Size of the picture if none is asked for, and the largest one.
const COLUMNS: (usize, usize) = (66, 160);
const ROWS: (usize, usize) = (12, 60);
/// From the shore to the middle of the stream.
const WATER: [char; 5] = ['.', '-', '~', '=', '\u{2248}'];

/// `LOLWUT [VERSION version] [columns rows]`: there is one picture, whatever the version.
fn draw(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let mut words = args.cursor(1);
    if words.left() > 1 && words.take("VERSION") {
        args.integer(words.index())?;
        words.next();
    }
    let mut size = |(default, most): (usize, usize)| -> Result<usize, Error> {
        let Some(_) = words.peek() else { return Ok(default) };
        let asked = args.integer(words.index())?;
        words.next();
        Ok(usize::try_from(asked).unwrap_or(1).clamp(1, most))
    };
    let (columns, rows) = (size(COLUMNS)?, size(ROWS)?);
    if words.left() > 0 {
        return Err(Error::text("ERR Syntax error. Use: LOLWUT [VERSION version] [columns rows]"));
    }
    let seed = session.worker.random.next_u64();
    let mut text = river(columns, rows, seed);
    // Writing to a string does not fail.
    let _ = writeln!(text, "Caudal ver. {}", env!("CARGO_PKG_VERSION"));
    session.reply_text(&text)
}

/// A stream that winds from the top to the bottom and grows wider on its way.
fn river(columns: usize, rows: usize, seed: u64) -> String {
    let phase = TAU * (seed % 100) as f64 / 100.0;
    let bends = 1.0 + (seed / 100 % 3) as f64;
    let mut text = String::with_capacity(rows * (columns + 1));
    for row in 0..rows {
        let way = row as f64 / rows as f64;
        let middle = columns as f64 * (0.5 + 0.3 * (phase + bends * way * TAU).sin());
        let half = 1.0 + columns as f64 * (0.04 + 0.12 * way);
        for column in 0..columns {
            let depth = 1.0 - (column as f64 - middle).abs() / half;
            text.push(water(depth));
        }
        text.push('\n');
    }
    text
}

/// What the water looks like: `depth` is 1 in the middle, 0 at the shore, and below on land.
fn water(depth: f64) -> char {
    let last = WATER.len() - 1;
    let steps = WATER.iter().enumerate().rev();
    let found = steps.into_iter().find(|(step, _)| depth > *step as f64 / (last + 1) as f64);
    found.map_or(' ', |(_, look)| *look)
}

#[cfg(test)]
mod tests {
    use super::river;

    #[test]
    fn a_river_fills_its_rows() {
        for seed in [0, 1, 12345, u64::MAX] {
            let text = river(40, 5, seed);
            assert_eq!(text.lines().count(), 5);
            assert!(text.lines().all(|line| line.chars().count() == 40));
            assert!(text.contains('~'), "{text}");
        }
    }
}
