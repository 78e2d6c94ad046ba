//! The log: lines in the shape that Redis's have, to standard output or a file.
//!
//! Beside every path, on none: workers log what scripts tell them to, and nothing else. What must
//! stay true: a line is written whole, by one call; losing the log never stops the server.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use caudal_engine::config::LogLevel;

/// Where the process says what it does.
#[derive(Debug)]
pub(crate) struct Log {
    /// The least important level that is written.
    level: AtomicU8,
    process_id: u32,
    sink: Mutex<Sink>,
}

#[derive(Debug)]
enum Sink {
    Output,
    File(File),
}

impl Log {
    /// A log to `file`, or to standard output.
    ///
    /// # Errors
    /// The file cannot be opened for appending.
    pub(crate) fn open(file: Option<&Path>, level: LogLevel) -> io::Result<Self> {
        let sink = match file {
            None => Sink::Output,
            Some(path) => Sink::File(OpenOptions::new().append(true).create(true).open(path)?),
        };
        let level = AtomicU8::new(level as u8);
        Ok(Self { level, process_id: std::process::id(), sink: Mutex::new(sink) })
    }

    /// Writes only what is at least so important from now on.
    pub(crate) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }

    /// What an operator wants to know.
    pub(crate) fn notice(&self, text: impl fmt::Display) {
        self.write(LogLevel::Notice, &text);
    }

    /// Something that is wrong.
    pub(crate) fn warning(&self, text: impl fmt::Display) {
        self.write(LogLevel::Warning, &text);
    }

    /// Writes a line of some importance.
    pub(crate) fn write(&self, level: LogLevel, text: &dyn fmt::Display) {
        if (level as u8) < self.level.load(Ordering::Relaxed) {
            return;
        }
        let mark = match level {
            LogLevel::Debug => '.',
            LogLevel::Verbose => '-',
            LogLevel::Notice => '*',
            LogLevel::Warning | LogLevel::Nothing => '#',
        };
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut line = format!("{}:M ", self.process_id);
        // Writing to a string does not fail, but for a Display that says so: then it is left out.
        let _ = writeln!(line, "{} {mark} {text}", Time(since));
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk or a closed pipe is no reason to stop serving.
        let _ = match &mut *sink {
            Sink::Output => io::stdout().lock().write_all(line.as_bytes()),
            Sink::File(file) => file.write_all(line.as_bytes()),
        };
    }
}

/// A time since 1970, shown as `30 Nov 2026 12:00:00.000`, in UTC.
struct Time(Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let seconds = self.0.as_secs();
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let (year, month, day) = date(seconds / 86_400);
        let month = MONTHS[month];
        let millis = self.0.subsec_millis();
        write!(f, "{day:02} {month} {year} {hour:02}:{minute:02}:{second:02}.{millis:03}")
    }
}

/// Year, month (from 0) and day (from 1) of a day counted from 1970-01-01.
fn date(mut day: u64) -> (u64, usize, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    // 400 years have always 146,097 days: the loops below are short whatever the day.
    let mut year = 1970 + day / 146_097 * 400;
    day %= 146_097;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelled_as_redis_does() {
        let at =
            |seconds, millis: u32| Time(Duration::new(seconds, millis * 1_000_000)).to_string();
        assert_eq!(at(0, 0), "01 Jan 1970 00:00:00.000");
        assert_eq!(at(951_782_399, 999), "28 Feb 2000 23:59:59.999");
        assert_eq!(at(951_782_400, 0), "29 Feb 2000 00:00:00.000");
        assert_eq!(at(1_796_040_000, 7), "30 Nov 2026 12:00:00.007");
        assert_eq!(at(4_107_542_400, 0), "01 Mar 2100 00:00:00.000");
    }

    #[test]
    fn a_file_gets_whole_lines_of_its_level() {
        let path = std::env::temp_dir().join(format!("caudal-log-{}", std::process::id()));
        let log = Log::open(Some(&path), LogLevel::Warning).unwrap();
        log.notice("not this");
        log.warning("but this");
        log.set_level(LogLevel::Notice);
        log.notice("and this");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].starts_with(&format!("{}:M ", std::process::id())), "{text}");
        assert!(lines[0].ends_with(" # but this"), "{text}");
        assert!(lines[1].ends_with(" * and this"), "{text}");
    }
}
