//! ACL: the users, what they may do, and what they were denied.
//!
//! | file | commands |
//! |---|---|
//! | `users` | SETUSER, GETUSER, DELUSER, LIST, USERS |
//! | `inspect` | CAT, DRYRUN, LOG, WHOAMI |
//! | here | GENPASS, LOAD, SAVE |

mod inspect;
mod users;

pub(super) use users::user_lines;

use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::{Args, Error, Group, Spec};
use caudal_text::integer;

/// Bits of a password if no number is said.
const PASSWORD_BITS: i64 = 256;
/// Bits of the longest password.
const PASSWORD_BITS_MAX: i64 = 4096;

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .of("ACL")
        .group(Group::Server)
        .since("6.0.0")
        .no_script()
        .loading_stale()
}

const GENPASS: Spec = spec("GENPASS", "Makes a password up, of 256 bits or as many as asked for.")
    .syntax("[bits:int]")
    .arity(-2);
const LOAD: Spec = spec("LOAD", "Reads the users from the file again.")
    .arity(2)
    .admin()
    .complexity("O(N). Where N is the number of configured users.");
const SAVE: Spec = spec("SAVE", "Writes the users to the file.")
    .arity(2)
    .admin()
    .complexity("O(N). Where N is the number of configured users.")
    .tips(super::ALL_NODES_SUCCEED);

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    inspect::CAT,
    users::DELUSER,
    inspect::DRYRUN,
    SessionCommand::new(GENPASS, generate_password),
    users::GETUSER,
    help::help("ACL", Group::Server, "6.0.0"),
    users::LIST,
    SessionCommand::new(LOAD, load),
    inspect::LOG,
    SessionCommand::new(SAVE, save),
    users::SETUSER,
    users::USERS,
    inspect::WHOAMI,
];

/// What is said to too many words.
fn too_many(args: Args<'_>) -> Error {
    let before = "ERR unknown subcommand or wrong number of arguments for '";
    Error::quoting(before, args.at(1), "'. Try ACL HELP.")
}

fn generate_password(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let bits = match args.len() {
        2 => PASSWORD_BITS,
        3 => integer::parse_i64(args.at(2)).ok_or(Error::NOT_INTEGER)?,
        _ => return Err(too_many(args)),
    };
    if !(1..=PASSWORD_BITS_MAX).contains(&bits) {
        return Err(Error::new(format!(
            "ERR ACL GENPASS argument must be the number of bits for the output password, a \
             positive number up to {PASSWORD_BITS_MAX}"
        )));
    }
    let digits = usize::try_from(bits).expect("at most 4096").div_ceil(4);
    let mut bytes = vec![0; digits.div_ceil(2)];
    (session.engine.environment.entropy)(&mut bytes);
    let mut password: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    password.truncate(digits);
    session.reply().bulk(password.as_bytes());
    DONE
}

fn load(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    if session.engine.environment.acl_file.is_none() {
        return Err(Error::text(crate::acl::NO_FILE));
    }
    session.engine.load_users().map_err(|text| Error::new(format!("ERR {text}")))?;
    session.worker.follow_users();
    session.reply_ok()
}

fn save(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.engine.save_users().map_err(Error::text)?;
    session.reply_ok()
}
