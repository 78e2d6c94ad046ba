//! FUNCTION and FCALL: libraries of functions.
//!
//! A change of the libraries is an effect like a write: its own words redo it.

use crate::scripts::{self, Code, Keys, Library, Request, Set, run};
use crate::session::{ALL_SHARDS_SUCCEED, DONE, Outcome, Session, SessionCommand, help};
use crate::stats;
use caudal_commands::{Args, Error, Flags, Group, KeyFlags, Spec};
use caudal_rdb::{Reader, Version, payload};
use caudal_text::glob::{self, Case};
use std::sync::Arc;

const fn function(name: &'static str, summary: &'static str) -> Spec {
    Spec::new(name, summary)
        .of("FUNCTION")
        .group(Group::Scripting)
        .since("7.0.0")
        .arity(2)
        .no_script()
}

const fn call(name: &'static str, summary: &'static str, keys: KeyFlags) -> Spec {
    super::runs(name, summary, keys)
        .since("7.0.0")
        .complexity("Depends on the function that is executed.")
}

/// The family.
pub(super) const COMMANDS: &[SessionCommand] = &[
    SessionCommand::new(
        call("FCALL", "Calls a function.", super::RW)
            .syntax("function numkeys:int [key...] [arg...]")
            .flag(Flags::MAY_REPLICATE),
        |session, args| call_function(session, args, false),
    ),
    SessionCommand::new(
        call("FCALL_RO", "Calls a function that changes nothing.", super::RO)
            .syntax("function numkeys:int [key...] [arg...]")
            .readonly(),
        |session, args| call_function(session, args, true),
    ),
    SessionCommand::new(
        function("DELETE", "Deletes a library and its functions.")
            .syntax("library-name")
            .arity(3)
            .write()
            .tips(ALL_SHARDS_SUCCEED),
        delete,
    ),
    SessionCommand::new(
        function("DUMP", "Gives all libraries in one string.")
            .complexity("O(N) where N is the number of functions"),
        dump,
    ),
    SessionCommand::new(
        function("FLUSH", "Deletes all functions.")
            .syntax("[flush-type<ASYNC|SYNC>]")
            .arity(-2)
            .write()
            .complexity("O(N) where N is the number of functions deleted")
            .tips(ALL_SHARDS_SUCCEED),
        flush,
    ),
    help::help("FUNCTION", Group::Scripting, "7.0.0"),
    SessionCommand::new(
        function("KILL", "Ends a function that runs too long.")
            .flag(Flags::ALLOW_BUSY)
            .tips(&["request_policy:all_shards", "response_policy:one_succeeded"]),
        kill,
    ),
    SessionCommand::new(
        function("LIST", "Lists the libraries of functions.")
            .syntax("[LIBRARYNAME library-name-pattern] [WITHCODE]")
            .arity(-2)
            .complexity("O(N) where N is the number of functions")
            .tips(&["nondeterministic_output_order"]),
        list,
    ),
    SessionCommand::new(
        function("LOAD", "Adds a library of functions.")
            .syntax("[REPLACE] function-code")
            .arity(-3)
            .write()
            .deny_oom()
            .complexity("O(1) (considering compilation time is redundant)")
            .tips(ALL_SHARDS_SUCCEED),
        load,
    ),
    SessionCommand::new(
        function("RESTORE", "Adds the libraries of a string that FUNCTION DUMP gave.")
            .syntax("serialized-value [policy<FLUSH|APPEND|REPLACE>]")
            .arity(-3)
            .write()
            .deny_oom()
            .complexity("O(N) where N is the number of functions on the payload")
            .tips(ALL_SHARDS_SUCCEED),
        restore,
    ),
    SessionCommand::new(
        function("STATS", "Tells of the function that runs, and how many there are.")
            .flag(Flags::ALLOW_BUSY)
            .tips(&[
                "nondeterministic_output",
                "request_policy:all_shards",
                "response_policy:special",
            ]),
        statistics,
    ),
];

fn call_function(session: &mut Session<'_, '_>, args: Args<'_>, read_only: bool) -> Outcome {
    let (libraries, machine) = (&session.engine.libraries, &mut session.worker.machine);
    let found = machine.function(libraries, args.at(1));
    let (library, at) = found.ok_or(Error::text("ERR Function not found"))?;
    let keys = Keys::parse(args, Error::text("ERR Bad number of keys provided"))?;
    let entry = session.engine.catalog.find(args.at(0)).expect("it was called by this name");
    let code = Code::Function(&library, &library.functions[at]);
    run(session, code, Request { entry, args, keys, read_only })
}

/// A library whose code has run in this worker's machine.
fn make(session: &mut Session<'_, '_>, body: &[u8]) -> Result<Arc<Library>, Error> {
    let Session { engine, worker, .. } = session;
    let mut library = Library::new(engine.scripts.next_id(), body)?;
    let mut vm = worker.machine.take(&mut worker.random);
    let registered = scripts::load(&mut vm, &library, engine.environment.nanos);
    worker.machine.put(vm);
    library.register(registered?)?;
    Ok(Arc::new(library))
}

/// Changes the libraries, and notes that as an effect.
fn change<R>(
    session: &mut Session<'_, '_>,
    args: Args<'_>,
    change: impl FnOnce(&mut Set) -> Result<R, Error>,
) -> Result<R, Error> {
    let result = session.engine.libraries.change(change)?;
    stats::add(&session.worker.shared().stats.changes, 1);
    session.worker.effects.push(session.connection.database, args.from(0));
    Ok(result)
}

fn load(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let replace = match args.len() {
        3 => false,
        4 if args.is(2, "REPLACE") => true,
        _ => return Err(Error::quoting("ERR Unknown option given: ", args.at(2), "")),
    };
    let body = args.at(args.len() - 1);
    let name = Library::new(0, body)?.name;
    let is_new = |set: &Set| match set.libraries.contains_key(&name) && !replace {
        true => Err(Error::quoting("ERR Library '", &name, "' already exists")),
        false => Ok(()),
    };
    // Before its code runs, which may take its time.
    is_new(&session.engine.libraries.set())?;
    let library = make(session, body)?;
    change(session, args, |set| is_new(set).and_then(|()| set.add(library, replace)))?;
    session.reply().bulk(&name);
    DONE
}

fn delete(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    change(session, args, |set| {
        if set.remove(args.at(2)) { Ok(()) } else { Err(Error::text("ERR Library not found")) }
    })?;
    session.reply_ok()
}

fn flush(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    if args.len() > 3 {
        return Err(Error::quoting(
            "ERR unknown subcommand or wrong number of arguments for '",
            args.at(1),
            "'. Try FUNCTION HELP.",
        ));
    }
    if !super::says_when(args) {
        return Err(Error::text("ERR FUNCTION FLUSH only supports SYNC|ASYNC option"));
    }
    change(session, args, |set| {
        *set = Set::default();
        Ok(())
    })?;
    session.reply_ok()
}

fn kill(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    session.engine.running.kill(true)?;
    session.reply_ok()
}

fn list(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let (mut has_code, mut pattern) = (false, None);
    let mut at = 2;
    while at < args.len() {
        if !has_code && args.is(at, "WITHCODE") {
            has_code = true;
        } else if pattern.is_none() && args.is(at, "LIBRARYNAME") {
            at += 1;
            let name = args.get(at).ok_or(Error::text("ERR library name argument was not given"));
            pattern = Some(name?);
        } else {
            return Err(Error::quoting("ERR Unknown argument ", args.at(at), ""));
        }
        at += 1;
    }
    let set = session.engine.libraries.set();
    let fits = |library: &&Arc<Library>| {
        pattern.is_none_or(|pattern| glob::matches(pattern, &library.name, Case::Insensitive))
    };
    let libraries: Vec<&Arc<Library>> = set.libraries.values().filter(fits).collect();
    session.reply().array(libraries.len());
    libraries.into_iter().for_each(|library| describe(session, library, has_code));
    DONE
}

fn describe(session: &mut Session<'_, '_>, library: &Library, has_code: bool) {
    let mut reply = session.reply();
    reply.map(3 + usize::from(has_code));
    reply.bulk(b"library_name");
    reply.bulk(&library.name);
    reply.bulk(b"engine");
    reply.bulk(b"LUA");
    reply.bulk(b"functions");
    reply.array(library.functions.len());
    for function in &library.functions {
        reply.map(3);
        reply.bulk(b"name");
        reply.bulk(&function.name);
        reply.bulk(b"description");
        match &function.description {
            Some(text) => reply.bulk(text),
            None => reply.null(),
        }
        reply.bulk(b"flags");
        let flags = function.flags.named();
        reply.set(flags.iter().filter(|(_, is_set)| *is_set).count());
        for (name, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
            reply.status(name);
        }
    }
    if has_code {
        reply.bulk(b"library_code");
        reply.bulk(&library.body);
    }
}

fn dump(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let mut bytes = Vec::new();
    for library in session.engine.libraries.set().libraries.values() {
        bytes.push(payload::FUNCTION_LIBRARY);
        caudal_rdb::string(&mut bytes, &library.body);
    }
    payload::seal(&mut bytes, Version::REDIS_7);
    session.reply().bulk(&bytes);
    DONE
}

/// What FUNCTION RESTORE does with libraries that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// They go.
    Flush,
    /// One of the same name is an error.
    Append,
    /// One of the same name is replaced.
    Replace,
}

fn restore(session: &mut Session<'_, '_>, args: Args<'_>) -> Outcome {
    let policy = match args.len() {
        3 => Policy::Append,
        4 if args.is(3, "FLUSH") => Policy::Flush,
        4 if args.is(3, "APPEND") => Policy::Append,
        4 if args.is(3, "REPLACE") => Policy::Replace,
        4 => {
            return Err(Error::text(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
        _ => {
            return Err(Error::quoting(
                "ERR unknown subcommand or wrong number of arguments for '",
                args.at(1),
                "'. Try FUNCTION HELP.",
            ));
        }
    };
    let bodies = read(args.at(2), session.worker.tuning.config.clients.bulk_bytes_max)?;
    let mut libraries = Vec::new();
    for body in &bodies {
        libraries.push(make(session, body)?);
    }
    change(session, args, |set| {
        if policy == Policy::Flush {
            *set = Set::default();
        }
        libraries.into_iter().try_for_each(|library| set.add(library, policy == Policy::Replace))
    })?;
    session.reply_ok()
}

/// The texts of the libraries in a payload.
fn read(payload: &[u8], string_bytes_max: usize) -> Result<Vec<Vec<u8>>, Error> {
    let footer = |_| Error::text("ERR DUMP payload version or checksum are wrong");
    let (body, _) = payload::open(payload, false).map_err(footer)?;
    let mut reader = Reader::new(body, string_bytes_max);
    let mut bodies = Vec::new();
    while !reader.is_empty() {
        let damaged = |_| Error::text("ERR failed loading functions from payload");
        if reader.byte().map_err(damaged)? != payload::FUNCTION_LIBRARY {
            return Err(Error::text("ERR given type is not a function"));
        }
        bodies.push(reader.string().map_err(damaged)?.into_bytes());
    }
    Ok(bodies)
}

fn statistics(session: &mut Session<'_, '_>, _: Args<'_>) -> Outcome {
    let engine = session.engine;
    let running = engine.running.longest();
    if running.as_ref().is_some_and(|running| !running.is_function)
        && let Some(refusal) = engine.running.refusal()
    {
        return Err(refusal);
    }
    let now = (engine.environment.nanos)();
    let set = engine.libraries.set();
    let mut reply = session.reply();
    reply.map(2);
    reply.bulk(b"running_script");
    match running.filter(|running| running.is_function) {
        None => reply.null(),
        Some(running) => {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(&running.name);
            reply.bulk(b"command");
            reply.array(running.words.len());
            running.words.iter().for_each(|word| reply.bulk(word));
            reply.bulk(b"duration_ms");
            let duration_ms = now.saturating_sub(running.started_ns) / 1_000_000;
            reply.integer(i64::try_from(duration_ms).unwrap_or(i64::MAX));
        }
    }
    reply.bulk(b"engines");
    reply.map(1);
    reply.bulk(b"LUA");
    reply.map(2);
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    reply.bulk(b"libraries_count");
    reply.integer(count(set.libraries.len()));
    reply.bulk(b"functions_count");
    reply.integer(count(set.functions()));
    DONE
}
