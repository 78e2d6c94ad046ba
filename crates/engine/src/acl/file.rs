//! The file of users: a line for each, as ACL LIST shows them.
//!
//! Reads and writes through functions that the engine is given. What must stay true: a file with
//! an error anywhere changes nothing.

use super::rules::{RuleError, join};
use super::user::{DEFAULT, Ground, User};
use super::{Users, ground};
use crate::engine::Engine;
use crate::mail::Mail;
use std::fmt::Write;
use std::path::Path;

/// Why ACL LOAD and SAVE have nothing to do.
pub(crate) const NO_FILE: &str = "ERR This instance is not configured to use an ACL file. You may \
    want to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming \
    you have a configuration file set) in order to store users in the configuration.";

/// Why a file is not taken.
const NOTHING_CHANGED: &str = "WARNING: ACL errors detected, no change to the previously active \
    ACL rules was performed";

impl Engine {
    /// Reads the users from the file of `aclfile`, if there is one.
    ///
    /// # Errors
    /// Every error in the file, as one line; the users are then as before.
    pub fn load_users(&self) -> Result<(), String> {
        let Some(file) = &self.environment.acl_file else { return Ok(()) };
        let text = (file.read)(&file.path).map_err(|error| {
            let path = file.path.display();
            format!("Error loading ACLs, opening file '{path}': {}", system_text(&error))
        })?;
        let config = self.config();
        let mut loaded = read(&text, &file.path, ground(&config))?;
        if loaded.iter().all(|user| *user.name != *DEFAULT) {
            loaded.push(User::first(ground(&config)));
        }
        self.change_users(|users| {
            let gone = |name: &[u8]| loaded.iter().all(|user| *user.name != *name);
            let old: Vec<Box<[u8]>> = users.all().map(|user| user.name.clone()).collect();
            old.iter().filter(|name| gone(name)).for_each(|name| {
                users.remove(name);
            });
            loaded.into_iter().for_each(|user| users.put(user));
            Ok(())
        })
    }

    /// Writes the users to the file of `aclfile`: all of it, or nothing.
    ///
    /// # Errors
    /// There is no such file, or it cannot be written.
    pub(crate) fn save_users(&self) -> Result<(), &'static str> {
        let file = self.environment.acl_file.as_ref().ok_or(NO_FILE)?;
        let mut text = Vec::new();
        for user in self.access.users().all() {
            text.extend_from_slice(&user.describe());
            text.push(b'\n');
        }
        let failed = "ERR There was an error trying to save the ACLs. Please check the server logs \
                      for more information";
        let text = String::from_utf8(text).map_err(|_| failed)?;
        (file.replace)(&file.path, &text).map_err(|_| failed)
    }

    /// Changes the users, as a whole or not at all, and has every worker look at its connections.
    pub(crate) fn change_users<T, E>(
        &self,
        change: impl FnOnce(&mut Users) -> Result<T, E>,
    ) -> Result<T, E> {
        let result = self.access.change(change)?;
        self.broadcast(|| Mail::Users);
        Ok(result)
    }
}

/// The users of a file.
fn read(text: &str, path: &Path, ground: Ground) -> Result<Vec<User>, String> {
    let (mut users, mut errors): (Vec<User>, String) = (Vec::new(), String::new());
    for (at, line) in text.split('\n').enumerate() {
        // As in Valkey, a line ends at a zero byte.
        let line = line.split('\0').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let origin = format!("{}:{}", path.display(), at + 1);
        match read_line(line, &origin, ground) {
            Ok(user) if users.iter().any(|known| known.name == user.name) => {
                let name = String::from_utf8_lossy(&user.name);
                let _ =
                    write!(errors, "WARNING: Duplicate user '{name}' found on line {}. ", at + 1);
            }
            Ok(user) => users.push(user),
            Err(error) => errors.push_str(&error),
        }
    }
    if errors.is_empty() { Ok(users) } else { Err(errors + NOTHING_CHANGED) }
}

fn read_line(line: &str, origin: &str, ground: Ground) -> Result<User, String> {
    let words: Vec<&[u8]> =
        line.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes).collect();
    let [keyword, name, words @ ..] = words.as_slice() else {
        return Err(format!("{origin} should start with user keyword followed by the username. "));
    };
    if *keyword != b"user" {
        return Err(format!("{origin} should start with user keyword followed by the username. "));
    }
    if !is_name(name) {
        let name = String::from_utf8_lossy(name);
        return Err(format!("'{origin}: username '{name}' contains invalid characters. "));
    }
    let rules = join(words.iter().copied())
        .map_err(|_| format!("{origin}: Unmatched parenthesis in selector definition."))?;
    let mut user = User::new(name, ground);
    let mut errors = String::new();
    for rule in rules {
        match user.apply(ground, &rule) {
            Ok(()) => {}
            Err(error @ RuleError::UnknownCommand) => {
                let rule = String::from_utf8_lossy(&rule);
                let _ = write!(errors, "{origin}: Error in applying operation '{rule}': {error}. ");
            }
            Err(error) => {
                let _ = write!(errors, "{origin}: {error}. ");
            }
        }
    }
    if errors.is_empty() { Ok(user) } else { Err(errors) }
}

/// Whether a user may have this name.
pub(crate) fn is_name(name: &[u8]) -> bool {
    !name.iter().any(|byte| byte.is_ascii_whitespace() || matches!(byte, 0 | 0x0b))
}

/// What the system says, without the number behind it.
fn system_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
