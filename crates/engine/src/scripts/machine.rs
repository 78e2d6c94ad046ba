//! A worker's Lua machine, and the scripts and libraries that it has met.

use super::cache::{Digest, Script, Scripts};
use super::libraries::{Found, Libraries, Library, Set};
use caudal_commands::{Args, Error, Random};
use caudal_script::{AclError, Host, LogLevel, Registered, Stop, Vm};
use caudal_wire::{Output, Protocol};
use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// Scripts that a worker keeps at hand; beyond it all are looked up anew.
const KNOWN_MAX: usize = 1024;
/// What the code of a library may take to register its functions: Valkey's limit.
const LOAD_NS_MAX: u64 = 500_000_000;

/// A script at hand: counted by this worker alone, so that a script that all workers run does not
/// have them pass one count around.
pub(crate) type Known = Rc<Arc<Script>>;

/// A worker's machine.
#[derive(Default)]
pub(crate) struct Machine {
    /// Made when the first script runs; away while one runs.
    vm: Option<Box<Vm>>,
    by_digest: HashMap<Digest, Known>,
    by_body: HashSet<ByBody>,
    /// Removals from the cache when the scripts at hand were last known to be in it.
    removals: u64,
    libraries: Arc<Set>,
    /// The change of the libraries that `libraries` is of.
    libraries_version: u64,
}

impl Machine {
    /// Takes the machine for a run.
    pub(crate) fn take(&mut self, random: &mut Random) -> Box<Vm> {
        self.vm.take().unwrap_or_else(|| Box::new(Vm::new(random.next_u64())))
    }

    /// Gives it back.
    pub(crate) fn put(&mut self, vm: Box<Vm>) {
        self.vm = Some(vm);
    }

    /// Forgets compiled scripts; libraries stay.
    pub(crate) fn forget_scripts(&mut self) {
        self.forget();
        if let Some(vm) = &mut self.vm {
            vm.forget_scripts();
        }
    }

    /// The script with this digest.
    pub(crate) fn find(&mut self, scripts: &Scripts, digest: &Digest) -> Option<Known> {
        self.catch_up(scripts);
        if let Some(known) = self.by_digest.get(digest) {
            return Some(Rc::clone(known));
        }
        scripts.find(digest).map(|script| self.know(script))
    }

    /// The script with this text, which is compiled and added to the cache if it is new.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub(crate) fn find_or_add(
        &mut self,
        scripts: &Scripts,
        random: &mut Random,
        body: &[u8],
        is_loaded: bool,
    ) -> Result<Known, Error> {
        self.catch_up(scripts);
        if !is_loaded && let Some(ByBody(known)) = self.by_body.get(body) {
            return Ok(Rc::clone(known));
        }
        let script = Script::new(scripts.next_id(), body)?;
        let mut vm = self.take(random);
        let compiled = match scripts.find(&script.digest) {
            Some(_) => Ok(()),
            None => vm.compile(script.source()),
        };
        self.put(vm);
        compiled.map_err(|text| Error(text.into()))?;
        let known = self.know(scripts.add(script, is_loaded));
        // What was added may have put out what is at hand.
        self.catch_up(scripts);
        Ok(known)
    }

    /// The function with this name.
    pub(crate) fn function(&mut self, libraries: &Libraries, name: &[u8]) -> Option<Found> {
        let version = libraries.version();
        if self.libraries_version != version {
            self.libraries_version = version;
            self.libraries = libraries.set();
            if let Some(vm) = &mut self.vm {
                let live: HashSet<u64> =
                    self.libraries.libraries.values().map(|library| library.id).collect();
                vm.keep_libraries(|id| live.contains(&id));
            }
        }
        self.libraries.find(name).cloned()
    }

    fn know(&mut self, script: Arc<Script>) -> Known {
        if self.by_digest.len() >= KNOWN_MAX {
            self.forget();
        }
        let known = Rc::new(script);
        self.by_digest.insert(known.digest, Rc::clone(&known));
        self.by_body.insert(ByBody(Rc::clone(&known)));
        known
    }

    fn catch_up(&mut self, scripts: &Scripts) {
        let removals = scripts.removals();
        if self.removals != removals {
            self.removals = removals;
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.by_digest.clear();
        self.by_body.clear();
    }
}

/// Runs a library's code in a machine, which has its functions then.
///
/// # Errors
/// The code does not compile, failed, or took too long.
pub(crate) fn load(
    vm: &mut Vm,
    library: &Library,
    nanos: fn() -> u64,
) -> Result<Vec<Registered>, Error> {
    let mut loader = Loader { nanos, until_ns: nanos().saturating_add(LOAD_NS_MAX) };
    vm.load(library.source(), &mut loader).map_err(|text| Error(text.into()))
}

/// The host of a library's code: there is nothing to call.
struct Loader {
    nanos: fn() -> u64,
    until_ns: u64,
}

impl Host for Loader {
    fn call(&mut self, _: Args<'_>, _: Protocol, _: &mut Output) -> Result<(), Stop> {
        unreachable!("no command can be called while a library is loaded")
    }

    fn log(&mut self, _: LogLevel, _: &[u8]) {}

    fn may_call(&mut self, _: Args<'_>) -> Result<bool, AclError> {
        Err(AclError)
    }

    fn poll(&mut self) -> Option<Stop> {
        ((self.nanos)() > self.until_ns).then_some(Stop::TimedOut)
    }
}

/// A script, found by its text.
struct ByBody(Known);

impl Borrow<[u8]> for ByBody {
    fn borrow(&self) -> &[u8] {
        &self.0.body
    }
}

impl Hash for ByBody {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.body.hash(state);
    }
}

impl PartialEq for ByBody {
    fn eq(&self, other: &ByBody) -> bool {
        self.0.body == other.0.body
    }
}

impl Eq for ByBody {}
