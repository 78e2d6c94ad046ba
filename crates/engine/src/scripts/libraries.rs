//! The libraries of functions: what FUNCTION and FCALL share.
//!
//! A library's text and what it registered are known to all workers; its code runs once in each
//! worker that calls one of its functions, at the first call. So variables of a library are each
//! worker's own. What must stay true: a set of libraries is replaced whole or not at all.

use super::claim::Learned;
use super::shebang::{self, is_name};
use caudal_commands::Error;
use caudal_script::{Flags, Registered, Source};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// A function of a library.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: Vec<u8>,
    pub(crate) description: Option<Vec<u8>>,
    pub(crate) flags: Flags,
    pub(crate) learned: Learned,
}

/// A library.
#[derive(Debug)]
pub(crate) struct Library {
    /// Of no other library or script in this process.
    pub(crate) id: u64,
    pub(crate) name: Vec<u8>,
    pub(crate) body: Box<[u8]>,
    /// Offset in `body` of what is compiled.
    code: usize,
    pub(crate) functions: Vec<Function>,
}

impl Library {
    /// A library whose code has not run yet.
    ///
    /// # Errors
    /// Its first line is not well formed.
    pub(crate) fn new(id: u64, body: &[u8]) -> Result<Library, Error> {
        let metadata = shebang::parse_library(body)?;
        let (name, code) = (metadata.name, metadata.code);
        Ok(Library { id, name, body: body.into(), code, functions: Vec::new() })
    }

    /// What the machine compiles.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { id: self.id, text: &self.body[self.code..] }
    }

    /// Takes what its code registered.
    ///
    /// # Errors
    /// A name is none, or given twice, or there is none at all.
    pub(crate) fn register(&mut self, registered: Vec<Registered>) -> Result<(), Error> {
        for Registered { name, description, flags } in registered {
            if !is_name(&name) {
                return Err(Error::text(
                    "ERR Function names can only contain letters, numbers, or underscores(_) and \
                     must be at least one character long",
                ));
            }
            if self.functions.iter().any(|other| other.name == name) {
                return Err(Error::text("ERR Function already exists in the library"));
            }
            let learned = Learned::default();
            self.functions.push(Function { name, description, flags, learned });
        }
        if self.functions.is_empty() {
            return Err(Error::text("ERR No functions registered"));
        }
        Ok(())
    }

    fn bytes(&self) -> usize {
        let functions = self.functions.iter().map(|at| size_of::<Function>() + at.name.len());
        size_of::<Library>() + self.body.len() + functions.sum::<usize>()
    }
}

/// A function that can be called: its library, and its place there.
pub(crate) type Found = (Arc<Library>, usize);

/// A set of libraries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Set {
    pub(crate) libraries: BTreeMap<Vec<u8>, Arc<Library>>,
    /// Functions by their names in lower case.
    functions: BTreeMap<Vec<u8>, Found>,
}

impl Set {
    /// Adds a library, in place of one of its name if that is allowed.
    ///
    /// # Errors
    /// There is one of that name, or a function of another library has the name of one of its own.
    pub(crate) fn add(&mut self, library: Arc<Library>, replace: bool) -> Result<(), Error> {
        let old = self.libraries.get(&library.name).cloned();
        if old.is_some() && !replace {
            return Err(Error::quoting("ERR Library ", &library.name, " already exists"));
        }
        for function in &library.functions {
            let other = self.functions.get(&function.name.to_ascii_lowercase());
            if other.is_some_and(|(other, _)| other.name != library.name) {
                return Err(Error::quoting("ERR Function ", &function.name, " already exists"));
            }
        }
        if let Some(old) = old {
            self.remove(&old.name);
        }
        for (at, function) in library.functions.iter().enumerate() {
            let name = function.name.to_ascii_lowercase();
            self.functions.insert(name, (Arc::clone(&library), at));
        }
        self.libraries.insert(library.name.clone(), library);
        Ok(())
    }

    /// Removes a library; false: there is none of that name.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        let Some(library) = self.libraries.remove(name) else { return false };
        self.functions.retain(|_, (at, _)| at.id != library.id);
        true
    }

    /// The function of this name, in any case.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&Found> {
        self.functions.get(&name.to_ascii_lowercase())
    }

    /// How many functions there are.
    pub(crate) fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Bytes of all libraries.
    pub(crate) fn bytes(&self) -> usize {
        self.libraries.values().map(|library| library.bytes()).sum()
    }
}

/// The libraries of the store.
#[derive(Debug, Default)]
pub(crate) struct Libraries {
    set: RwLock<Arc<Set>>,
    /// Grows with each change.
    version: AtomicU64,
    /// Serialises changes.
    change: Mutex<()>,
}

impl Libraries {
    /// The set as it stands.
    pub(crate) fn set(&self) -> Arc<Set> {
        Arc::clone(&self.set.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of the last change: workers compare it before a call.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes the set as a whole, or not at all.
    pub(crate) fn change<R>(
        &self,
        change: impl FnOnce(&mut Set) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let _one_at_a_time = self.change.lock().unwrap_or_else(PoisonError::into_inner);
        let mut set = Set::clone(&self.set());
        let result = change(&mut set)?;
        *self.set.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
        self.version.fetch_add(1, Ordering::AcqRel);
        Ok(result)
    }
}
