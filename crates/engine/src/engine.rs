//! What all workers share.

use crate::acl::Access;
use crate::catalog::Catalog;
use crate::clients::Clients;
use crate::command_log::CommandLogs;
use crate::config::{Config, LogLevel, Tls};
use crate::hot_keys::HotKeys;
use crate::latency::Monitor;
use crate::mail::{Mail, Mailbox, Wake};
use crate::pubsub::PubSub;
use crate::rates::Rates;
use crate::scripts::{Libraries, Running, Scripts};
use crate::stats::Stats;
use crate::worker::Worker;
use caudal_keyspace::{Counters, Gate, Keyspace, Parked, Token, Totals};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// What the engine cannot know by itself.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Number of workers.
    pub workers: usize,
    /// Seeds hashes and samples; random in a server, fixed in a test.
    pub seed: u64,
    /// Unix milliseconds at the start.
    pub started_ms: u64,
    /// 40 hexadecimal digits that name this run.
    pub run_id: String,
    /// The process's number, for INFO.
    pub process_id: u32,
    /// The operating system, for INFO.
    pub system: String,
    /// The program's file, for INFO.
    pub executable: String,
    /// The I/O back end, for INFO.
    pub io_backend: &'static str,
    /// Nanoseconds on a clock that only goes forward, cheap enough to read once a command.
    pub nanos: fn() -> u64,
    /// Where `redis.log` writes.
    pub log: LogSink,
    /// Ends the process cleanly: SHUTDOWN calls it.
    pub shutdown: fn(),
    /// What the process uses, for INFO.
    pub usage: fn() -> Usage,
    /// Keeps the calling thread from doing anything, for DEBUG SLEEP.
    pub sleep: fn(Duration),
    /// The file that CONFIG REWRITE replaces; none: the configuration came from elsewhere.
    pub config_file: Option<ConfigFile>,
    /// The file of `aclfile`, which ACL LOAD reads and ACL SAVE replaces.
    pub acl_file: Option<ConfigFile>,
    /// Fills a buffer with bytes that nobody can guess.
    pub entropy: fn(&mut [u8]),
    /// Who encrypts connections; none: there is no TLS port.
    pub encryption: Option<Arc<dyn Encryption>>,
}

/// The program's part of TLS: the engine sees neither files nor keys.
pub trait Encryption: fmt::Debug + Send + Sync {
    /// Reads keys and certificates as these settings say, and uses them for new connections.
    ///
    /// # Errors
    /// They are of no use: what was used before still is. The cause stands in the log.
    fn renew(&self, settings: &Tls) -> Result<(), Useless>;

    /// The certificates in use.
    fn certificates(&self) -> Certificates;
}

/// Settings of TLS that cannot be put to use.
#[derive(Debug)]
pub struct Useless;

/// What INFO tells of the certificates in use.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    /// The server's.
    pub server: Option<Certificate>,
    /// Of the authorities', the one that ends first.
    pub authority: Option<Certificate>,
}

/// What INFO tells of a certificate.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// Its number, in hexadecimal digits.
    pub serial: String,
    /// Unix seconds of the last moment at which it is valid.
    pub expires: u64,
}

/// Where messages of scripts go.
#[derive(Clone)]
pub struct LogSink(pub Arc<WriteLine>);

/// Writes a line of some importance.
pub type WriteLine = dyn Fn(LogLevel, &str) + Send + Sync;

impl LogSink {
    /// Writes a line.
    pub(crate) fn write(&self, level: LogLevel, text: &str) {
        (self.0)(level, text);
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogSink")
    }
}

/// What the system says that the process uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// CPU time in the program.
    pub user: Duration,
    /// CPU time in the system on the program's behalf.
    pub system: Duration,
    /// CPU time of the process's first thread, in the program and in the system.
    pub first_thread: (Duration, Duration),
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Memory of the machine, in bytes.
    pub total_bytes: u64,
}

/// A file that the configuration is kept in.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Its whole path.
    pub path: PathBuf,
    /// Reads a file.
    pub read: fn(&Path) -> io::Result<String>,
    /// Puts a text in the place of a file: all of it or nothing.
    pub replace: fn(&Path, &str) -> io::Result<()>,
}

/// One worker's part that others may read or write to. On cache lines of its own: its counters are
/// written with every command.
#[repr(align(128))]
pub(crate) struct Shared {
    pub(crate) mailbox: Mailbox,
    pub(crate) counters: Counters,
    pub(crate) stats: Stats,
    /// Bytes of its Lua machine when a script last ended.
    pub(crate) machine_bytes: AtomicU64,
}

/// CLIENT PAUSE, as every worker reads it.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// Unix milliseconds until which writes wait.
    pub(crate) writes_until_ms: AtomicU64,
    /// Unix milliseconds until which all commands wait. <= writes_until_ms
    pub(crate) all_until_ms: AtomicU64,
}

impl Pause {
    /// Whether no pause is going on.
    #[inline]
    pub(crate) fn is_over(&self, now_ms: u64) -> bool {
        self.writes_until_ms.load(Ordering::Relaxed) <= now_ms
    }

    /// Holds writes, or all commands, until `until_ms`. A pause that is going on is never shortened
    /// or weakened.
    pub(crate) fn begin(&self, until_ms: u64, all: bool, now_ms: u64) {
        let going_on = self.writes_until_ms.load(Ordering::Relaxed);
        let until_ms = if going_on > now_ms { going_on.max(until_ms) } else { until_ms };
        if all || self.all_until_ms.load(Ordering::Relaxed) > now_ms {
            self.all_until_ms.store(until_ms, Ordering::Relaxed);
        }
        self.writes_until_ms.store(until_ms, Ordering::Relaxed);
    }

    /// Holds nothing any more.
    pub(crate) fn end(&self) {
        self.all_until_ms.store(0, Ordering::Relaxed);
        self.writes_until_ms.store(0, Ordering::Relaxed);
    }

    /// Whether anything is held.
    pub(crate) fn is_on(&self, now_ms: u64) -> bool {
        self.writes_until_ms.load(Ordering::Relaxed) > now_ms
    }
}

/// The store. One a process.
pub struct Engine {
    pub(crate) keyspace: Keyspace,
    pub(crate) gate: Gate,
    pub(crate) token: Token,
    pub(crate) catalog: &'static Catalog,
    pub(crate) workers: Arc<[Shared]>,
    pub(crate) clients: Clients,
    pub(crate) pause: Pause,
    pub(crate) pubsub: Arc<PubSub>,
    pub(crate) command_logs: CommandLogs,
    pub(crate) latency: Monitor,
    pub(crate) hot_keys: HotKeys,
    pub(crate) rates: Rates,
    pub(crate) scripts: Scripts,
    pub(crate) libraries: Libraries,
    pub(crate) running: Running,
    /// Memory in use when the store was made.
    pub(crate) startup_bytes: u64,
    /// Whether expired keys that nobody asks for are reclaimed: DEBUG SET-ACTIVE-EXPIRE.
    pub(crate) reclaims_expired: AtomicBool,
    /// Whether scripts may call DEBUG: DEBUG SET-DISABLE-DENY-SCRIPTS.
    pub(crate) scripts_may_debug: AtomicBool,
    /// Whether the workers' upkeep stands still: DEBUG PAUSE-CRON.
    pub(crate) pauses_upkeep: AtomicBool,
    /// Whether RESTORE does without checksums: DEBUG SET-SKIP-CHECKSUM-VALIDATION.
    pub(crate) trusts_checksums: AtomicBool,
    pub(crate) environment: Environment,
    pub(crate) access: Access,
    config: RwLock<Arc<Config>>,
    /// Grows with each change of the configuration.
    config_version: AtomicU64,
    /// Serialises changes of the configuration.
    config_change: Mutex<()>,
}

impl Engine {
    /// An empty store.
    pub fn new(config: Config, environment: Environment) -> Arc<Engine> {
        let catalog = Catalog::get();
        let workers: Arc<[Shared]> = (0..environment.workers)
            .map(|_| Shared {
                mailbox: Mailbox::default(),
                counters: Counters::default(),
                stats: Stats::new(catalog.entries().len()),
                machine_bytes: AtomicU64::new(0),
            })
            .collect();
        let mailboxes = Arc::clone(&workers);
        let resume = move |parked: Parked| {
            let mail = Mail::Unparked { connection: parked.connection };
            mailboxes[usize::from(parked.worker)].mailbox.send(mail);
        };
        let pubsub = Arc::new(PubSub::new(Arc::clone(&workers)));
        Arc::new(Engine {
            keyspace: Keyspace::new(config.process.databases as usize, environment.seed, resume),
            gate: Gate::new(environment.workers),
            token: Token::new(),
            catalog,
            workers,
            clients: Clients::default(),
            pause: Pause::default(),
            pubsub,
            command_logs: CommandLogs::default(),
            latency: Monitor::default(),
            hot_keys: HotKeys::default(),
            rates: Rates::default(),
            scripts: Scripts::default(),
            libraries: Libraries::default(),
            running: Running::default(),
            startup_bytes: caudal_table::memory::used_bytes(),
            reclaims_expired: AtomicBool::new(true),
            scripts_may_debug: AtomicBool::new(false),
            pauses_upkeep: AtomicBool::new(false),
            trusts_checksums: AtomicBool::new(false),
            environment,
            access: Access::new(&config),
            config: RwLock::new(Arc::new(config)),
            config_version: AtomicU64::new(1),
            config_change: Mutex::new(()),
        })
    }

    /// Takes the worker numbered `id`, once; `wake` ends its thread's sleep when it has mail.
    pub fn worker(
        self: &Arc<Engine>,
        id: usize,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Worker {
        self.workers[id].mailbox.set_wake(Box::new(wake) as Wake);
        Worker::new(Arc::clone(self), id)
    }

    /// The configuration as it stands.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of the configuration's last change: workers compare it once a turn.
    pub(crate) fn config_version(&self) -> u64 {
        self.config_version.load(Ordering::Acquire)
    }

    /// Changes the configuration as a whole, or not at all.
    pub(crate) fn change_config<E>(
        &self,
        change: impl FnOnce(&mut Config) -> Result<(), E>,
    ) -> Result<(), E> {
        let _one_at_a_time = self.config_change.lock().unwrap_or_else(PoisonError::into_inner);
        let mut config = Config::clone(&self.config());
        change(&mut config)?;
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
        self.config_version.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Has every worker look at the configuration again: something beside it has changed.
    pub(crate) fn renew_tuning(&self) {
        self.config_version.fetch_add(1, Ordering::AcqRel);
    }

    /// Number of keys and volatile keys of a database, summed over the workers.
    pub(crate) fn totals(&self, database: u8) -> Totals {
        Totals::of(self.workers.iter().map(|worker| &worker.counters), database)
    }

    /// Bytes of the tables of all databases, without the records.
    pub fn table_bytes(&self) -> u64 {
        self.keyspace.table_bytes() as u64
    }

    /// Sums a statistic over the workers.
    pub(crate) fn sum(&self, of: impl Fn(&Shared) -> &AtomicU64) -> u64 {
        self.workers.iter().map(|worker| of(worker).load(Ordering::Relaxed)).sum()
    }

    /// Ends the scripts that run, so that their workers can stop.
    pub fn end_scripts(&self) {
        self.running.end_all();
    }

    /// Sends every worker a message.
    pub(crate) fn broadcast(&self, mail: impl Fn() -> Mail) {
        self.workers.iter().for_each(|worker| worker.mailbox.send(mail()));
    }

    /// Opens the gate that `worker` closed and wakes those that wait for it.
    pub(crate) fn open_gate(&self, worker: usize) {
        self.gate.open(worker);
        self.broadcast(|| Mail::Gate);
    }
}
