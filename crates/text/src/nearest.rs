//! "Did you mean ...?": the known word that a mistyped one is closest to.
//!
//! For error texts and the command line; never on a request's fast path.

/// Words longer than this are not compared: no name that a user can mistype is longer, and the work
/// grows with the product of the lengths.
const WORD_BYTES_MAX: usize = 64;

/// The candidate that the fewest edits (a letter more, less, other, or two exchanged) make of
/// `word`, letters in any case. `None` if every candidate is more than a third of the word away.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let edits_max = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= edits_max)
        .map(|candidate| (distance(word.as_bytes(), candidate.as_bytes()), candidate))
        .filter(|&(edits, candidate)| edits <= edits_max && edits < candidate.len())
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance, by three rows of its table.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut above = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, &from) in left.iter().enumerate() {
        let mut next = vec![index + 1];
        for (column, &to) in right.iter().enumerate() {
            let same = from.eq_ignore_ascii_case(&to);
            let mut edits = (row[column] + usize::from(!same)).min(row[column + 1] + 1);
            edits = edits.min(next[column] + 1);
            if index > 0 && column > 0 {
                let crossed = from.eq_ignore_ascii_case(&right[column - 1])
                    && left[index - 1].eq_ignore_ascii_case(&to);
                if crossed {
                    let before: &[usize] = &above;
                    edits = edits.min(before[column - 1] + 1);
                }
            }
            next.push(edits);
        }
        above = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = ["get", "set", "hset", "incrby", "maxmemory", "zrangebyscore"];

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        assert_eq!(nearest("INCRYB", NAMES), Some("incrby"));
        assert_eq!(nearest("maxmemroy", NAMES), Some("maxmemory"));
        assert_eq!(nearest("zrangebyscor", NAMES), Some("zrangebyscore"));
        assert_eq!(nearest("hst", NAMES), Some("hset"));
        assert_eq!(nearest("get", NAMES), Some("get"));
    }

    #[test]
    fn what_is_far_from_all_finds_none() {
        assert_eq!(nearest("flush", NAMES), None);
        assert_eq!(nearest("", NAMES), None);
        assert_eq!(nearest("x", ["y"]), None);
        assert_eq!(nearest(&"g".repeat(1_000_000), NAMES), None);
    }

    #[test]
    fn edits_are_counted() {
        for (left, right, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("abc", "ca", 3),
        ] {
            assert_eq!(distance(left.as_bytes(), right.as_bytes()), edits, "{left} {right}");
            assert_eq!(distance(right.as_bytes(), left.as_bytes()), edits, "{right} {left}");
        }
    }
}
