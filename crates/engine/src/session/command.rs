//! COMMAND: what the catalog knows, as clients ask for it.
//!
//! Everything is read from the specs, so it cannot differ from what the commands do.

use crate::acl::categories::{self, CATEGORIES};
use crate::catalog::{Catalog, Entry};
use crate::session::{DONE, Outcome, Session, SessionCommand, help};
use caudal_commands::syntax::{self, Argument, Kind};
use caudal_commands::{Args, Error, Find, Flags, Group, KeyFlags, KeySpec, OwnedArgs, Spec};
use caudal_text::glob;
use caudal_wire::Reply;
use smallvec::{SmallVec, smallvec};

const fn spec(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary).of("COMMAND").group(Group::Server).since("2.8.13").loading_stale()
}

const fn asked_often(spec: Spec) -> Spec {
    spec.categories(&["connection"])
}

const UNORDERED: &[&str] = &["nondeterministic_output_order"];
const LOOK_UPS: &str = "O(N) where N is the number of commands to look up";

const COMMAND: Spec = asked_often(
    Spec::new("COMMAND", "Describes all commands.")
        .group(Group::Server)
        .since("2.8.13")
        .arity(-1)
        .loading_stale()
        .complexity("O(N) where N is the total number of commands")
        .tips(UNORDERED),
);
const COUNT: Spec = asked_often(spec("COUNT", "Returns the number of commands.").arity(2));
const DOCS: Spec =
    asked_often(spec("DOCS", "Returns the documentation of commands.").syntax("[command-name...]"))
        .since("7.0.0")
        .arity(-2)
        .complexity(LOOK_UPS)
        .tips(UNORDERED);
const GETKEYS: Spec =
    asked_often(spec("GETKEYS", "Returns the keys of a command line.").syntax("command [arg...]"))
        .arity(-3)
        .complexity("O(N) where N is the number of arguments to the command");
const GETKEYSANDFLAGS: Spec = asked_often(
    spec("GETKEYSANDFLAGS", "Returns the keys of a command line, and what happens to each.")
        .syntax("command [arg...]"),
)
.since("7.0.0")
.arity(-3)
.complexity("O(N) where N is the number of arguments to the command");
const INFO: Spec =
    asked_often(spec("INFO", "Describes some commands.").syntax("[command-name...]"))
        .arity(-2)
        .complexity(LOOK_UPS)
        .tips(UNORDERED);
const LIST: Spec = asked_often(
    spec("LIST", "Lists the names of commands.")
        .syntax("[FILTERBY filterby<MODULE module-name|ACLCAT category|PATTERN pattern:pattern>]"),
)
.since("7.0.0")
.arity(-2)
.complexity("O(N) where N is the total number of commands")
.tips(UNORDERED);

/// The family. The command itself comes first, so that the others become its subcommands.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(COMMAND, all),
    SessionCommand::new(COUNT, count),
    SessionCommand::new(DOCS, docs),
    SessionCommand::new(GETKEYS, get_keys),
    SessionCommand::new(GETKEYSANDFLAGS, get_keys_and_flags),
    SessionCommand::new(
        asked_often(help::help("COMMAND", Group::Server, "5.0.0").spec),
        help::apply,
    ),
    SessionCommand::new(INFO, info),
    SessionCommand::new(LIST, list),
];

/// Commands and containers, without subcommands.
fn top_level(catalog: &'static Catalog) -> Vec<&'static Entry> {
    catalog.entries().iter().filter(|entry| entry.spec.parent.is_none()).collect()
}

/// The command, container or (`client|id`) subcommand of this name.
fn find(catalog: &'static Catalog, name: &[u8]) -> Option<&'static Entry> {
    match name.iter().position(|byte| *byte == b'|') {
        None => catalog.find(name),
        Some(at) => catalog.subcommand(catalog.find(&name[..at])?, &name[at + 1..]),
    }
}

fn all(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let catalog = session.engine.catalog;
    let entries = top_level(catalog);
    let mut reply = session.reply();
    reply.array(entries.len());
    entries.iter().for_each(|entry| describe(&mut reply, catalog, entry));
    DONE
}

fn info(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() == 2 {
        return all(session, args);
    }
    let catalog = session.engine.catalog;
    let mut reply = session.reply();
    reply.array(args.len() - 2);
    for name in args.from(2) {
        match find(catalog, name) {
            Some(entry) => describe(&mut reply, catalog, entry),
            None => reply.null(),
        }
    }
    DONE
}

/// The ten parts of a command's description.
fn describe(reply: &mut Reply<'_>, catalog: &Catalog, entry: &Entry) {
    let spec = &entry.spec;
    let (first, last, step) = spec.legacy_keys();
    reply.array(10);
    reply.bulk(entry.full_name.as_bytes());
    reply.integer(i64::from(spec.arity));
    let flags = Flags::NAMES.iter().filter(|(flag, _)| spec.flags.has(*flag));
    let flags: Vec<&str> = flags.map(|(_, name)| *name).collect();
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.status(flag));
    [first, last, step].iter().for_each(|number| reply.integer(*number));
    let within = |category: &&str| categories::contains(category, entry);
    let categories: Vec<&str> = CATEGORIES.into_iter().filter(within).collect();
    reply.set(categories.len());
    categories.iter().for_each(|category| reply.status(&format!("@{category}")));
    reply.set(spec.tips.len());
    spec.tips.iter().for_each(|tip| reply.bulk(tip.as_bytes()));
    reply.set(spec.keys().len());
    spec.keys().iter().for_each(|key| describe_key(reply, key));
    reply.array(entry.subcommands.len());
    catalog.subcommands(entry).for_each(|entry| describe(reply, catalog, entry));
}

fn describe_key(reply: &mut Reply<'_>, key: &KeySpec) {
    reply.map(3 + usize::from(!key.note.is_empty()));
    if !key.note.is_empty() {
        reply.bulk(b"notes");
        reply.bulk(key.note.as_bytes());
    }
    reply.bulk(b"flags");
    key_flags(reply, key.flags);
    let first = i64::from(key.first);
    let (kind, keyword, numbers) = begin_search(key, first);
    search(reply, "begin_search", kind, keyword, &numbers);
    let (kind, numbers) = find_keys(key, first);
    search(reply, "find_keys", kind, None, numbers.as_slice());
}

/// A part of a key's place: its kind, and the numbers that it takes.
fn search(
    reply: &mut Reply<'_>,
    part: &str,
    kind: &str,
    keyword: Option<&str>,
    numbers: &[(&str, i64)],
) {
    reply.bulk(part.as_bytes());
    reply.map(2);
    reply.bulk(b"type");
    reply.bulk(kind.as_bytes());
    reply.bulk(b"spec");
    reply.map(numbers.len() + usize::from(keyword.is_some()));
    if let Some(keyword) = keyword {
        reply.bulk(b"keyword");
        reply.bulk(keyword.as_bytes());
    }
    for (name, number) in numbers {
        reply.bulk(name.as_bytes());
        reply.integer(*number);
    }
}

/// Numbers of a part, with their names.
type Numbers = SmallVec<[(&'static str, i64); 3]>;

fn begin_search(key: &KeySpec, first: i64) -> (&'static str, Option<&'static str>, Numbers) {
    match key.find {
        Find::InContent | Find::AfterStore => ("unknown", None, smallvec![]),
        Find::AllBehind(word) => ("keyword", Some(word), smallvec![("startfrom", -first)]),
        Find::After(word) | Find::Behind(word) => {
            ("keyword", Some(word), smallvec![("startfrom", first)])
        }
        Find::Range { .. } | Find::Counted | Find::CountedPairs => {
            ("index", None, smallvec![("index", first)])
        }
    }
}

fn find_keys(key: &KeySpec, first: i64) -> (&'static str, Numbers) {
    let range = |last: i64, step: i64, limit: i64| {
        ("range", smallvec![("lastkey", last), ("keystep", step), ("limit", limit)])
    };
    let counted =
        |step: i64| ("keynum", smallvec![("keynumidx", 0), ("firstkey", 1), ("keystep", step)]);
    match key.find {
        Find::InContent | Find::AfterStore => ("unknown", smallvec![]),
        Find::Range { last, step } => {
            // The last key counts from the first one, or from the end.
            let last = i64::from(last);
            range(if last < 0 { last } else { last - first }, i64::from(step), 0)
        }
        // Half of what follows.
        Find::Behind(_) => range(-1, 1, 2),
        Find::AllBehind(_) => range(-1, 1, 0),
        Find::After(_) => range(0, 1, 0),
        Find::Counted => counted(1),
        Find::CountedPairs => counted(2),
    }
}

fn key_flags(reply: &mut Reply<'_>, flags: KeyFlags) {
    let names: Vec<&str> = KeyFlags::NAMES
        .iter()
        .filter(|(flag, _)| flags.has(*flag))
        .map(|(_, name)| *name)
        .collect();
    reply.set(names.len());
    names.iter().for_each(|name| reply.status(name));
}

fn count(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let count = top_level(session.engine.catalog).len();
    session.reply_count(count)
}

fn docs(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let catalog = session.engine.catalog;
    let entries = match args.len() {
        2 => top_level(catalog),
        _ => args.from(2).filter_map(|name| find(catalog, name)).collect(),
    };
    let mut reply = session.reply();
    reply.map(entries.len());
    entries.iter().for_each(|entry| document(&mut reply, catalog, entry));
    DONE
}

/// A command's name and its documentation.
fn document(reply: &mut Reply<'_>, catalog: &Catalog, entry: &Entry) {
    let spec = &entry.spec;
    reply.bulk(entry.full_name.as_bytes());
    let facts = [
        ("summary", spec.summary),
        ("since", spec.since),
        ("group", spec.group.name()),
        ("complexity", spec.complexity),
    ];
    let has_subcommands = !entry.subcommands.is_empty();
    let flags: Vec<&str> =
        [("deprecated", spec.deprecated.is_some()), ("syscmd", spec.is_internal)]
            .into_iter()
            .filter_map(|(flag, is_set)| is_set.then_some(flag))
            .collect();
    let fate = spec.deprecated.map(|(since, instead)| {
        [("deprecated_since", since.to_owned()), ("replaced_by", format!("`{instead}`"))]
    });
    let optional = usize::from(!flags.is_empty()) + fate.as_ref().map_or(0, |fate| fate.len());
    let arguments = syntax::parse(spec.syntax).expect("a test reads every syntax");
    let has_arguments = !arguments.is_empty();
    reply.map(facts.len() + optional + usize::from(has_arguments) + usize::from(has_subcommands));
    for (name, text) in facts {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
    if !flags.is_empty() {
        reply.bulk(b"doc_flags");
        reply.set(flags.len());
        flags.iter().for_each(|flag| reply.status(flag));
    }
    for (name, text) in fate.into_iter().flatten() {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
    if has_arguments {
        reply.bulk(b"arguments");
        reply.array(arguments.len());
        arguments.iter().for_each(|argument| document_argument(reply, argument));
    }
    if has_subcommands {
        reply.bulk(b"subcommands");
        reply.map(entry.subcommands.len());
        catalog.subcommands(entry).for_each(|entry| document(reply, catalog, entry));
    }
}

/// An argument and those within.
fn document_argument(reply: &mut Reply<'_>, argument: &Argument) {
    let is_group = matches!(argument.kind, Kind::OneOf | Kind::Block);
    let shown = argument.display.unwrap_or(&argument.name);
    let texts = [
        ("name", Some(&argument.name[..])),
        ("type", Some(argument.kind.name())),
        ("display_text", Some(shown).filter(|_| !is_group)),
    ];
    let more = [
        ("token", argument.token),
        ("since", argument.since),
        ("deprecated_since", argument.deprecated),
    ];
    let flags: SmallVec<[&str; 3]> = [
        (argument.is_optional, "optional"),
        (argument.is_multiple, "multiple"),
        (argument.repeats_token, "multiple_token"),
    ]
    .into_iter()
    .filter_map(|(is_set, flag)| is_set.then_some(flag))
    .collect();
    let key = argument.key_spec;
    let said = texts.iter().chain(&more).filter(|(_, text)| text.is_some()).count();
    let lists = [key.is_some(), !flags.is_empty(), is_group];
    reply.map(said + lists.iter().filter(|is_there| **is_there).count());
    let say = |reply: &mut Reply<'_>, (name, text): &(&str, Option<&str>)| {
        if let Some(text) = text {
            reply.bulk(name.as_bytes());
            reply.bulk(text.as_bytes());
        }
    };
    texts.iter().for_each(|text| say(reply, text));
    if let Some(spec) = key {
        reply.bulk(b"key_spec_index");
        reply.integer(i64::from(spec));
    }
    more.iter().for_each(|text| say(reply, text));
    if !flags.is_empty() {
        reply.bulk(b"flags");
        reply.set(flags.len());
        flags.iter().for_each(|flag| reply.status(flag));
    }
    if is_group {
        reply.bulk(b"arguments");
        reply.array(argument.arguments.len());
        argument.arguments.iter().for_each(|argument| document_argument(reply, argument));
    }
}

fn list(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let entries = session.engine.catalog.entries();
    let filter = args.get(4);
    let by = |name| args.is(2, "FILTERBY") && args.is(3, name);
    let names: Vec<&str> = match (args.len(), filter) {
        (2, _) => entries.iter().map(|entry| entry.full_name.as_str()).collect(),
        // There are no modules, and so no commands of one.
        (5, Some(_)) if by("MODULE") => Vec::new(),
        (5, Some(category)) if by("ACLCAT") => {
            let category = categories::named(category);
            let is_in = |entry: &&Entry| category.is_some_and(|at| categories::contains(at, entry));
            entries.iter().filter(is_in).map(|entry| entry.full_name.as_str()).collect()
        }
        (5, Some(pattern)) if by("PATTERN") => {
            let names = entries.iter().map(|entry| entry.full_name.as_str());
            names
                .filter(|name| glob::matches(pattern, name.as_bytes(), glob::Case::Insensitive))
                .collect()
        }
        _ => return Err(Error::SYNTAX),
    };
    let mut reply = session.connection.reply();
    reply.set(names.len());
    names.iter().for_each(|name| reply.bulk(name.as_bytes()));
    DONE
}

/// The keys of the command line that begins at argument 2, with what happens to each.
fn keys_of(session: &Session<'_, '_>, args: Args<'_>) -> Result<Vec<(Vec<u8>, KeyFlags)>, Error> {
    let words: Vec<&[u8]> = args.from(2).collect();
    let line = OwnedArgs::of(&words);
    let line = line.view();
    let catalog = session.engine.catalog;
    let mut entry = catalog.find(line.at(0)).ok_or(Error::text("ERR Invalid command specified"))?;
    if let Some(name) = line.get(1)
        && !entry.subcommands.is_empty()
    {
        entry =
            catalog.subcommand(entry, name).ok_or(Error::text("ERR Invalid command specified"))?;
    }
    if entry.spec.keys().iter().all(|key| key.flags.has(KeyFlags::NOT_KEY)) {
        return Err(Error::text("ERR The command has no key arguments"));
    }
    if !entry.spec.accepts(line.len()) {
        return Err(Error::text("ERR Invalid number of arguments specified for command"));
    }
    let mut keys = Vec::new();
    entry.each_key(line, |at, flags| keys.push((line.at(at).to_vec(), entry.settled(line, flags))));
    if !entry.counts_hold(line) {
        keys.clear();
    }
    if keys.is_empty() && !entry.spec.flags.has(Flags::NO_MANDATORY_KEYS) {
        return Err(Error::text("ERR Invalid arguments specified for command"));
    }
    Ok(keys)
}

fn get_keys(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let keys = keys_of(session, args)?;
    let mut reply = session.reply();
    reply.array(keys.len());
    keys.iter().for_each(|(key, _)| reply.bulk(key));
    DONE
}

fn get_keys_and_flags(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let keys = keys_of(session, args)?;
    let mut reply = session.reply();
    reply.array(keys.len());
    for (key, flags) in keys {
        reply.array(2);
        reply.bulk(&key);
        key_flags(&mut reply, flags);
    }
    DONE
}
