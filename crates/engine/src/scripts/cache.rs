//! The scripts that the store knows, by their SHA-1: what EVAL, EVALSHA and SCRIPT share.
//!
//! One cache for all workers. Each worker keeps what it has met beside its machine and asks here
//! only for what it has not; a removal makes all of them forget. What must stay true: EVALSHA never
//! runs what the cache no longer has.

use super::claim::Learned;
use super::shebang;
use caudal_commands::Error;
use caudal_script::{Flags, Source};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Scripts kept that nobody loaded on purpose: Valkey's number. The one unused longest goes first.
const EVALUATED_MAX: usize = 500;

/// A SHA-1.
pub(crate) type Digest = [u8; 20];

/// A script of the cache.
#[derive(Debug)]
pub(crate) struct Script {
    /// Of no other script in this process.
    pub(crate) id: u64,
    pub(crate) digest: Digest,
    pub(crate) body: Box<[u8]>,
    /// None: it has no first line that says them.
    pub(crate) flags: Option<Flags>,
    /// Offset in `body` of what is compiled.
    code: usize,
    pub(crate) learned: Learned,
    /// Whether SCRIPT LOAD asked for it: then it stays.
    is_loaded: AtomicBool,
    /// Number of scripts that had been added when it last ran.
    used: AtomicU64,
}

impl Script {
    /// A script that may be compiled.
    ///
    /// # Errors
    /// Its first line is not well formed.
    pub(crate) fn new(id: u64, body: &[u8]) -> Result<Script, Error> {
        let shebang = shebang::parse(body)?;
        Ok(Script {
            id,
            digest: sha1_smol::Sha1::from(body).digest().bytes(),
            body: body.into(),
            flags: shebang.flags,
            code: shebang.code,
            learned: Learned::default(),
            is_loaded: AtomicBool::new(false),
            used: AtomicU64::new(0),
        })
    }

    /// What the machine compiles.
    pub(crate) fn source(&self) -> Source<'_> {
        Source { id: self.id, text: &self.body[self.code..] }
    }

    fn bytes(&self) -> usize {
        size_of::<Script>() + self.body.len()
    }
}

/// All scripts.
#[derive(Debug, Default)]
pub(crate) struct Scripts {
    by_digest: Mutex<HashMap<Digest, Arc<Script>>>,
    /// Grows with each removal.
    removals: AtomicU64,
    ids: AtomicU64,
    /// Grows with each addition: the clock of [`Script::used`].
    additions: AtomicU64,
    evicted: AtomicU64,
}

impl Scripts {
    /// A number for a script or a library.
    pub(crate) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Changes when a script is removed.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// The script with this digest.
    pub(crate) fn find(&self, digest: &Digest) -> Option<Arc<Script>> {
        self.lock().get(digest).cloned()
    }

    /// Adds a script that compiles; gives the one that is there if it is no longer new.
    pub(crate) fn add(&self, script: Script, is_loaded: bool) -> Arc<Script> {
        let mut scripts = self.lock();
        let script = Arc::clone(scripts.entry(script.digest).or_insert_with(|| {
            self.additions.fetch_add(1, Ordering::Relaxed);
            Arc::new(script)
        }));
        if is_loaded {
            script.is_loaded.store(true, Ordering::Relaxed);
        }
        self.use_now(&script);
        self.evict(&mut scripts);
        script
    }

    /// A script runs.
    #[inline]
    pub(crate) fn use_now(&self, script: &Script) {
        let now = self.additions.load(Ordering::Relaxed);
        if script.used.load(Ordering::Relaxed) != now {
            script.used.store(now, Ordering::Relaxed);
        }
    }

    fn evict(&self, scripts: &mut HashMap<Digest, Arc<Script>>) {
        let evaluated = |script: &&Arc<Script>| !script.is_loaded.load(Ordering::Relaxed);
        if scripts.len() <= EVALUATED_MAX
            || scripts.values().filter(evaluated).count() <= EVALUATED_MAX
        {
            return;
        }
        let age = |script: &&Arc<Script>| (script.used.load(Ordering::Relaxed), script.id);
        let oldest = scripts.values().filter(evaluated).min_by_key(age);
        let digest = oldest.expect("there are some hundreds").digest;
        scripts.remove(&digest);
        self.evicted.fetch_add(1, Ordering::Relaxed);
        self.removals.fetch_add(1, Ordering::Release);
    }

    /// Forgets all.
    pub(crate) fn flush(&self) {
        let scripts = std::mem::take(&mut *self.lock());
        self.removals.fetch_add(1, Ordering::Release);
        drop(scripts);
    }

    /// How many there are, and their bytes.
    pub(crate) fn size(&self) -> (usize, usize) {
        let scripts = self.lock();
        (scripts.len(), scripts.values().map(|script| script.bytes()).sum())
    }

    /// How many were evicted.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Arc<Script>>> {
        self.by_digest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hexadecimal digits of a digest.
pub(crate) const DIGITS: usize = 40;

/// A digest from its 40 hexadecimal digits.
pub(crate) fn parse_digest(text: &[u8]) -> Option<Digest> {
    let digits: &[u8; DIGITS] = text.try_into().ok()?;
    let mut digest = [0; 20];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? << 4 | digit(1)?).expect("two digits of four bits");
    }
    Some(digest)
}

/// A digest's 40 hexadecimal digits.
pub(crate) fn hex(digest: &Digest) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
