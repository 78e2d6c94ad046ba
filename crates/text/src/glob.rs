//! Glob patterns, as in KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET and ACL.
//!
//! `*` any run, `?` any byte, `[a-z]` `[^a]` one of a class, `\x` the byte itself. Odd spellings
//! have the meaning that Redis gives them: a class that is not closed ends with the pattern,
//! `[z-a]` is `[a-z]`, `[]` matches nothing and `[^]` any byte.
//!
//! An empty text matches the empty pattern and `*` alone, not `**`.
//!
//! Every element but `*` takes exactly one byte, so going back to the last `*` is enough: the work
//! is at most pattern times text, never exponential.

/// Whether `A` and `a` are the same byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Keys, channels.
    Sensitive,
    /// Names of parameters and commands.
    Insensitive,
}

/// Whether the whole of `text` matches `pattern`.
pub fn matches(pattern: &[u8], text: &[u8], case: Case) -> bool {
    if text.is_empty() {
        return pattern.is_empty() || pattern == b"*";
    }
    let mut at = 0;
    let mut seen = 0;
    // Behind the last `*`: where the pattern goes on, and the first byte that the `*` does not
    // take.
    let mut retry: Option<(usize, usize)> = None;
    while seen < text.len() {
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            if at == pattern.len() {
                return true;
            }
            retry = Some((at, seen));
            continue;
        }
        if at < pattern.len() {
            let (matched, next) = element(&pattern[at..], text[seen], case);
            if matched {
                at += next;
                seen += 1;
                continue;
            }
        }
        let Some((behind_star, taken)) = retry else { return false };
        at = behind_star;
        seen = taken + 1;
        retry = Some((behind_star, seen));
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

/// Whether `pattern` has no special byte: it matches only itself.
pub fn is_literal(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\'))
}

/// Matches one byte against the first element of a pattern that is not empty and not at a `*`.
/// Gives also the element's length.
fn element(pattern: &[u8], byte: u8, case: Case) -> (bool, usize) {
    match pattern {
        [b'?', ..] => (true, 1),
        [b'[', class @ ..] => {
            let (matched, len) = class_matches(class, byte, case);
            (matched, len + 1)
        }
        [b'\\', literal, ..] => (fold(*literal, case) == fold(byte, case), 2),
        [literal, ..] => (fold(*literal, case) == fold(byte, case), 1),
        [] => (false, 0),
    }
}

/// `class` begins behind the `[`. Gives also the class's length, with its `]` if it has one.
fn class_matches(class: &[u8], byte: u8, case: Case) -> (bool, usize) {
    let negated = class.first() == Some(&b'^');
    let mut at = usize::from(negated);
    let mut found = false;
    loop {
        match &class[at..] {
            [] => break,
            [b']', ..] => {
                at += 1;
                break;
            }
            [b'\\', literal, ..] => {
                // The one place where case counts even for names.
                found |= *literal == byte;
                at += 2;
            }
            [first, b'-', last, ..] => {
                let (low, high) = (*first.min(last), *first.max(last));
                found |= (fold(low, case)..=fold(high, case)).contains(&fold(byte, case));
                at += 3;
            }
            [literal, ..] => {
                found |= fold(*literal, case) == fold(byte, case);
                at += 1;
            }
        }
    }
    (found != negated, at)
}

#[inline]
fn fold(byte: u8, case: Case) -> u8 {
    match case {
        Case::Sensitive => byte,
        Case::Insensitive => byte.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests;
