//! One run of a script or a function: its declared keys are locked, its commands run under them and
//! what they need beside, its effects are one.

use super::cache::{Script, parse_digest};
use super::claim::Learned;
use super::host::Host;
use super::libraries::{Function, Library};
use super::machine::{self, Machine};
use super::shebang;
use crate::atomic::{Atomic, Plan};
use crate::catalog::Entry;
use crate::dispatch::FEW_REPLICAS;
use crate::engine::Engine;
use crate::execute::{Progress, WantedSet, want_keys, written_keys};
use crate::session::{Caller, Session};
use crate::stats;
use crate::worker::Worker;
use caudal_commands::{Args, Error};
use caudal_script::{Ended, Flags, Returned, Stop, Vm};
use caudal_table::Mode;
use std::sync::atomic::Ordering::Relaxed;

const READ_ONLY: Error =
    Error::text("ERR Can not execute a script with write flag using *_ro command.");
const MEMORY: Error = Error::text(
    "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
);

/// What runs.
#[derive(Clone, Copy)]
pub(crate) enum Code<'c> {
    /// EVAL.
    Script(&'c Script),
    /// FCALL.
    Function(&'c Library, &'c Function),
}

impl<'c> Code<'c> {
    fn learned(self) -> &'c Learned {
        match self {
            Code::Script(script) => &script.learned,
            Code::Function(_, function) => &function.learned,
        }
    }

    fn flags(self) -> Option<Flags> {
        match self {
            Code::Script(script) => script.flags,
            Code::Function(_, function) => Some(function.flags),
        }
    }

    fn function(self) -> Option<&'c [u8]> {
        match self {
            Code::Script(_) => None,
            Code::Function(_, function) => Some(&function.name),
        }
    }
}

/// What a run may do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permissions {
    /// It changes nothing.
    pub(super) read_only: bool,
    /// It may grow memory that is over its limit.
    pub(super) allow_oom: bool,
}

impl Permissions {
    /// # Errors
    /// The code may not run here and now.
    fn of(worker: &Worker, code: Code<'_>, read_only: bool) -> Result<Permissions, Error> {
        let Some(flags) = code.flags() else {
            return Ok(Permissions { read_only, allow_oom: false });
        };
        if read_only && !flags.no_writes {
            return Err(READ_ONLY);
        }
        let allow_oom = flags.allow_oom || flags.no_writes;
        if worker.over_memory && !allow_oom {
            return Err(MEMORY);
        }
        if worker.lacks_replicas() && !flags.no_writes {
            return Err(FEW_REPLICAS);
        }
        Ok(Permissions { read_only: read_only || flags.no_writes, allow_oom })
    }
}

/// Where a call's keys stand among its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    /// How many there are, from the fourth word on; what follows are the arguments.
    pub(crate) count: usize,
}

impl Keys {
    /// Index of the first key.
    const FIRST: usize = 3;

    /// Reads the number of keys.
    ///
    /// # Errors
    /// It is no number, which `not_a_number` says, or there are not as many words.
    pub(crate) fn parse(args: Args<'_>, not_a_number: Error) -> Result<Keys, Error> {
        let count = caudal_text::integer::parse_i64(args.at(2)).ok_or(not_a_number)?;
        if count > i64::try_from(args.len() - Keys::FIRST).unwrap_or(i64::MAX) {
            let text = "ERR Number of keys can't be greater than number of args";
            return Err(Error::text(text));
        }
        let negative = |_| Error::text("ERR Number of keys can't be negative");
        Ok(Keys { count: usize::try_from(count).map_err(negative)? })
    }

    fn of<'w>(self, args: Args<'w>) -> impl ExactSizeIterator<Item = &'w [u8]> + Clone {
        args.from(Keys::FIRST).take(self.count)
    }

    fn rest<'w>(self, args: Args<'w>) -> impl ExactSizeIterator<Item = &'w [u8]> + Clone {
        args.from(Keys::FIRST + self.count)
    }
}

/// A command that runs a script or a function.
#[derive(Clone, Copy)]
pub(crate) struct Request<'r> {
    pub(crate) entry: &'static Entry,
    pub(crate) args: Args<'r>,
    pub(crate) keys: Keys,
    /// Whether it is one of the read-only commands.
    pub(crate) read_only: bool,
}

/// What the code that a command would run declares. None: the command runs none, there is no such
/// code, or it declares nothing.
pub(crate) fn declared_flags(
    engine: &Engine,
    machine: &mut Machine,
    (entry, args): (&Entry, Args<'_>),
) -> Option<Flags> {
    match entry.spec.name {
        "EVAL" | "EVAL_RO" => shebang::parse(args.at(1)).ok()?.flags,
        "EVALSHA" | "EVALSHA_RO" => {
            machine.find(&engine.scripts, &parse_digest(args.at(1))?)?.flags
        }
        "FCALL" | "FCALL_RO" => {
            let (library, at) = machine.function(&engine.libraries, args.at(1))?;
            Some(library.functions[at].flags)
        }
        _ => None,
    }
}

/// Runs a script or a function for a connection, perhaps several times of which all but the last
/// are undone.
pub(crate) fn run(
    session: &mut Session<'_, '_>,
    code: Code<'_>,
    request: Request<'_>,
) -> Result<Progress, Error> {
    let Session { engine, worker, connection, held } = session;
    let permissions = Permissions::of(worker, code, request.read_only)?;
    let (entry, args, database) = (request.entry, request.args, connection.database);
    let mut wanted = WantedSet::new();
    let marks = connection.may_mark();
    want_keys(engine, entry, args, (database, marks), &mut wanted);
    if permissions.read_only && !marks {
        wanted.iter_mut().for_each(|want| want.mode = Mode::Shared);
    }
    let written = || written_keys(engine, entry, args, database);
    let plan = Plan {
        wanted,
        written: (!permissions.read_only).then_some(&written),
        claim: code.learned().claim(),
        reaches: true,
    };
    let mut body = |run: &mut Atomic<'_, '_>| attempt(run, code, request, permissions);
    worker.atomically(engine, held, connection, &plan, &mut body).unwrap_or_else(Ok)
}

/// Runs the code once.
fn attempt(
    run: &mut Atomic<'_, '_>,
    code: Code<'_>,
    request: Request<'_>,
    permissions: Permissions,
) -> Result<Progress, Error> {
    let database = run.connection.database;
    if run.engine.pubsub.monitored.load(Relaxed) != 0 {
        let caller = Caller::Client(&run.connection.info.peer);
        run.worker.show_to_monitors((&request.entry.spec, request.args), database, caller);
    }
    let mut vm = run.worker.machine.take(&mut run.worker.random);
    run.worker.in_script = true;
    let outcome = enter(run, &mut vm, code, request, permissions);
    run.worker.in_script = false;
    if run.connection.database != database {
        run.connection.select(database);
    }
    let result = match outcome {
        Ok(returned) => reply(run, &mut vm, request.entry, &returned),
        Err(ended) => Err(ended),
    };
    let bytes = &run.engine.workers[run.worker.id].machine_bytes;
    bytes.store(vm.memory_bytes() as u64, Relaxed);
    run.worker.machine.put(vm);
    result.or_else(|ended| end(run, code, request.entry, ended))
}

/// Runs the code in the machine.
fn enter(
    run: &mut Atomic<'_, '_>,
    vm: &mut Vm,
    code: Code<'_>,
    request: Request<'_>,
    permissions: Permissions,
) -> Result<Returned, Ended> {
    let Request { args, keys, .. } = request;
    if let Code::Function(library, _) = code
        && !vm.has_library(library.id)
    {
        let loaded = machine::load(vm, library, run.engine.environment.nanos);
        loaded.map_err(|error| Ended::error(error.0.into_owned()))?;
    }
    let mut host = Host::new(run, permissions, args, code.function());
    match code {
        Code::Script(script) => vm.run(script.source(), keys.of(args), keys.rest(args), &mut host),
        Code::Function(library, function) => {
            let function = (library.id, function.name.as_slice());
            vm.call(function, keys.of(args), keys.rest(args), &mut host)
        }
    }
}

fn reply(
    run: &mut Atomic<'_, '_>,
    vm: &mut Vm,
    entry: &Entry,
    returned: &Returned,
) -> Result<Progress, Ended> {
    if let Some(error) = vm.reply(returned, &mut run.connection.reply())? {
        let stats = &run.engine.workers[run.worker.id].stats;
        stats::add(&stats.commands[usize::from(entry.id)].failed, 1);
        if !error.is_counted {
            stats.count_error(&error.text);
        }
    }
    Ok(Progress::Done)
}

/// What becomes of code that did not return.
fn end(
    run: &mut Atomic<'_, '_>,
    code: Code<'_>,
    entry: &Entry,
    ended: Ended,
) -> Result<Progress, Error> {
    match ended {
        Ended::Error { text, is_counted: false } => Err(Error(text.into())),
        Ended::Error { text, is_counted: true } => {
            let stats = &run.engine.workers[run.worker.id].stats;
            stats::add(&stats.commands[usize::from(entry.id)].failed, 1);
            run.connection.reply().error_bytes(&text);
            Ok(Progress::Done)
        }
        Ended::Stopped(Stop::RunsAgain, _) => {
            let trouble = run.worker.trouble.expect("that is why it was stopped");
            code.learned().learn(trouble);
            Ok(Progress::Done)
        }
        Ended::Stopped(Stop::Killed | Stop::TimedOut, position) => {
            let how = if code.function().is_some() { "FUNCTION" } else { "SCRIPT" };
            let text = format!("ERR Script killed by user with {how} KILL.");
            Err(Error([text.as_bytes(), &position].concat().into()))
        }
    }
}
