//! Commands typed by hand: one line, words between blanks, quotes allowed.

use super::{ProtocolError, Step};
use caudal_text::words;

/// Reads one line. `searched` is the offset before which there is no end of line.
pub(super) fn next(
    input: &[u8],
    searched: &mut usize,
    bytes_max: usize,
) -> Result<Step, ProtocolError> {
    let window = &input[..input.len().min(bytes_max + 1)];
    let start = (*searched).min(window.len());
    let Some(found) = memchr::memchr(b'\n', &window[start..]) else {
        *searched = window.len();
        if window.len() > bytes_max {
            return Err(ProtocolError::TooBigInline);
        }
        return Ok(Step::Incomplete { wanted: input.len() + 1 });
    };
    let end = start + found;
    let consumed = end + 1;
    let line = window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]);
    let words = words::split(line).ok_or(ProtocolError::UnbalancedQuotes)?;
    if words.is_empty() {
        Ok(Step::Empty { consumed })
    } else {
        Ok(Step::Inline { consumed, words })
    }
}
