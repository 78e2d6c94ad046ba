//! Rules as users write them: words, some of them between parentheses, and what can be wrong with
//! them.

use std::fmt;

/// Why a rule cannot be applied. As text in Valkey's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleError {
    /// It is no rule.
    Syntax,
    /// No command, subcommand or category has this name.
    UnknownCommand,
    /// `+container|command|word`.
    FirstWordOfSubcommand,
    /// A pattern where all keys are allowed.
    AllKeysAlready,
    /// A pattern where all channels are allowed.
    AllChannelsAlready,
    /// Removes a password that the user does not have.
    NoSuchPassword,
    /// No SHA-256 in hexadecimal digits.
    BadHash,
    /// No number of a database.
    DatabaseRange,
    /// A second line about one user.
    DuplicateUser,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RuleError::Syntax => "Syntax error",
            RuleError::UnknownCommand => "Unknown command or category name in ACL",
            RuleError::FirstWordOfSubcommand => {
                "Allowing first-arg of a subcommand is not supported"
            }
            RuleError::AllKeysAlready => {
                "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and \
                 does not have any effect. Try 'resetkeys' to start with an empty list of patterns"
            }
            RuleError::AllChannelsAlready => {
                "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and \
                 does not have any effect. Try 'resetchannels' to start with an empty list of \
                 channels"
            }
            RuleError::NoSuchPassword => {
                "The password you are trying to remove from the user does not exist"
            }
            RuleError::BadHash => {
                "The password hash must be exactly 64 characters and contain only lowercase \
                 hexadecimal characters"
            }
            RuleError::DatabaseRange => "The provided database ID is out of range",
            RuleError::DuplicateUser => {
                "Duplicate user found. A user can only be defined once in config files"
            }
        })
    }
}

/// Joins words into rules: from an opening parenthesis to the word that ends with the closing one
/// is one rule.
///
/// # Errors
/// The word with the parenthesis that nothing closes.
pub(crate) fn join<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Vec<u8>>, &'a [u8]> {
    let mut rules = Vec::new();
    let mut open: Option<(&[u8], Vec<u8>)> = None;
    for word in words {
        let (start, mut rule) = match open.take() {
            Some((start, rule)) => (start, [rule.as_slice(), word].join(&b' ')),
            None => (word, word.to_vec()),
        };
        if rule.first() == Some(&b'(') && word.last() != Some(&b')') {
            open = Some((start, rule));
        } else {
            rule.shrink_to_fit();
            rules.push(rule);
        }
    }
    open.map_or(Ok(rules), |(start, _)| Err(start))
}
