//! From the command line to a running server, and back to a clean end.
//!
//! The frame around all paths. What must stay true: what can fail for an operator's reason fails
//! here, before the first connection is taken, with one line that says what to change; whatever
//! was made on disk (unix socket, pid file) is removed on every way out.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use caudal_engine::config::{Config, IoBackend, STANDARD_INPUT, Supervised};
use caudal_engine::{ConfigFile, Engine, Environment, LogSink, Usage};
use caudal_reactor::{Acceptor, Arrival, Backend, Kind, Reactor, Signals};

use crate::crew::Crew;
use crate::inbox::Newcomer;
use crate::listen::{self, Listeners};
use crate::log::Log;
use crate::tls::Keeper;

/// Descriptors beside those of connections: logs, event loops, listeners, files being read.
const FILES_RESERVED: u64 = 32;

/// How often the main thread looks whether the log level was changed.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);

/// Least time between two complaints about connections that cannot be accepted: they would be ten a
/// second while the process is out of descriptors.
const QUIET: Duration = Duration::from_secs(10);

/// Why the server did not start, or how it ended: one line for the operator.
#[derive(Debug)]
pub(crate) struct Fatal(String);

impl Fatal {
    fn new(text: impl fmt::Display) -> Self {
        Self(text.to_string())
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Runs a server as these arguments say, until a signal or SHUTDOWN ends it.
pub(crate) fn run(arguments: &[String]) -> Result<(), Fatal> {
    let (config, notices) = Config::load(arguments, &read_file).map_err(Fatal::new)?;
    // Before any thread starts: threads inherit what is blocked.
    let signals = Signals::catch().map_err(Fatal::new)?;
    let log = Log::open(config.log.file.as_deref(), config.log.level)
        .map_err(|error| Fatal::new(format_args!("Can't open the log file: {error}")))?;
    let log = Arc::new(log);
    for notice in notices {
        log.notice(format_args!("{}: {}", notice.directive, notice.text));
    }
    let ended = serve(config, config_file(arguments), signals, &log);
    if let Err(fatal) = &ended {
        log.warning(fatal);
        // The log has said it; the caller only needs the exit status.
        return Err(Fatal(String::new()));
    }
    log.notice("Caudal is now ready to exit, bye bye...");
    Ok(())
}

/// The text that a configuration is made of.
fn read_file(path: &Path) -> io::Result<String> {
    if path == Path::new(STANDARD_INPUT) {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs::read_to_string(path)
}

/// The file that CONFIG REWRITE replaces: the one that the command line begins with.
fn config_file(arguments: &[String]) -> Option<ConfigFile> {
    let named = arguments.first().filter(|word| !word.starts_with('-'))?;
    // Before the working directory changes.
    let path = fs::canonicalize(named).ok()?;
    Some(ConfigFile { path, read: |path| fs::read_to_string(path), replace: replace_file })
}

/// The file that ACL LOAD and SAVE use, from the working directory.
fn acl_file(named: &Path) -> ConfigFile {
    let path = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    ConfigFile { path, read: |path| fs::read_to_string(path), replace: replace_file }
}

/// Puts a text in the place of a file: all of it or, on any error, nothing.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.tmp", std::process::id()));
    let written = fs::File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let replaced = written.and_then(|()| fs::rename(&beside, path));
    if replaced.is_err() {
        // What was left half written is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    replaced
}

fn serve(
    mut config: Config,
    config_file: Option<ConfigFile>,
    signals: Signals,
    log: &Arc<Log>,
) -> Result<(), Fatal> {
    enter_directory(&mut config)?;
    raise_limits(&config, log);
    let (backend, kind) = choose_backend(config.process.io_backend, log)?;
    let threads = config.process.threads.map_or_else(cores, usize::from);
    let keeper = keeper(&config, log)?;
    let listeners = listen::listen(&config.net, config.tls.port).map_err(Fatal::new)?;
    let _pid_file = config.process.pid_file.as_deref().map(|path| PidFile::write(path, log));
    announce(&listeners, threads, kind, log);
    let supervised = config.process.supervised;
    let acl_file = config.security.acl_file.as_deref().map(acl_file);
    let mut environment =
        environment(threads, kind, config_file, acl_file, Arc::clone(log)).map_err(Fatal::new)?;
    environment.encryption = keeper.clone().map(|keeper| keeper as _);
    let engine = Engine::new(config, environment);
    engine.load_users().map_err(|errors| {
        Fatal::new(format_args!("Aborting Caudal startup because of ACL errors: {errors}"))
    })?;
    let Listeners { all, plain } = listeners;
    let acceptor = Acceptor::new(all, Some(signals)).map_err(Fatal::new)?;
    let crew = Crew::start(&engine, threads, backend, keeper.as_ref(), &acceptor.waker())
        .map_err(|error| Fatal::new(format_args!("Can't start a worker: {error}")))?;
    log.notice("Ready to accept connections");
    tell_supervisor(supervised, "READY=1\nSTATUS=Ready to accept connections\n", log);
    let entrance = Entrance { acceptor, plain, keeper };
    let outcome = accept(entrance, crew, &engine, log);
    tell_supervisor(supervised, "STOPPING=1\n", log);
    outcome
}

/// What connections to the TLS port are encrypted with; none without such a port.
fn keeper(config: &Config, log: &Arc<Log>) -> Result<Option<Arc<Keeper>>, Fatal> {
    if config.tls.port == 0 {
        return Ok(None);
    }
    let keeper = Keeper::new(&config.tls, Arc::clone(log))
        .map_err(|reason| Fatal::new(format_args!("Failed to configure TLS: {reason}")))?;
    Ok(Some(Arc::new(keeper)))
}

/// Where connections come in.
struct Entrance {
    acceptor: Acceptor,
    /// How many of the listeners, the first ones, are not for TLS.
    plain: usize,
    keeper: Option<Arc<Keeper>>,
}

/// The main thread's loop.
fn accept(entrance: Entrance, crew: Crew, engine: &Engine, log: &Log) -> Result<(), Fatal> {
    let Entrance { mut acceptor, plain, keeper } = entrance;
    let mut arrivals = Vec::new();
    let mut is_stopping = false;
    let mut complained: Option<Instant> = None;
    while !crew.is_gone() {
        acceptor.turn(Some(WATCH_INTERVAL), &mut arrivals).map_err(Fatal::new)?;
        let config = engine.config();
        log.set_level(config.log.level);
        if let Some(keeper) = &keeper {
            keeper.look(config.tls.reload_seconds);
        }
        for arrival in arrivals.drain(..) {
            match arrival {
                Arrival::Connection(socket, peer, listener) => {
                    crew.give(Newcomer { socket, peer, is_encrypted: listener >= plain });
                }
                Arrival::Refused(_) if complained.is_some_and(|at| at.elapsed() < QUIET) => {}
                Arrival::Refused(error) => {
                    complained = Some(Instant::now());
                    log.warning(format_args!("Error accepting a client connection: {error}"));
                }
                Arrival::Signal(signal) if is_stopping => {
                    return Err(Fatal::new(format_args!(
                        "{signal:?} again while stopping: leaving without the workers"
                    )));
                }
                Arrival::Signal(signal) => {
                    log.warning(format_args!("User requested shutdown ({signal:?})..."));
                    is_stopping = true;
                }
            }
        }
        if is_stopping || crew.has_loss() {
            acceptor.close();
            engine.end_scripts();
            crew.stop();
        }
    }
    crew.join().map_err(Fatal::new)
}

fn enter_directory(config: &mut Config) -> Result<(), Fatal> {
    let directory = config.process.directory.clone();
    let entered = std::env::set_current_dir(&directory).and_then(|()| std::env::current_dir());
    let entered = entered.map_err(|error| {
        Fatal::new(format_args!("Can't chdir to '{}': {error}", directory.display()))
    })?;
    config.record_directory(&entered.to_string_lossy());
    Ok(())
}

fn raise_limits(config: &Config, log: &Log) {
    let wanted = u64::from(config.clients.count_max) + FILES_RESERVED;
    let allowed = caudal_reactor::raise_files_max(wanted);
    if allowed < wanted {
        log.warning(format_args!(
            "maxclients asks for {wanted} open files, and the system allows {allowed}: further \
             connections will wait. Raise the limit ('ulimit -n') or lower maxclients."
        ));
    }
}

/// Which back end the workers use: tried out here, so that all have the same.
fn choose_backend(asked: IoBackend, log: &Log) -> Result<(Backend, Kind), Fatal> {
    let asked = match asked {
        IoBackend::Auto => Backend::Auto,
        IoBackend::IoUring => Backend::IoUring,
        IoBackend::Epoll => Backend::Epoll,
    };
    let trial = Reactor::new(asked).map_err(|error| match asked {
        Backend::IoUring => Fatal::new(format_args!(
            "io-backend io_uring is not to be had here ({error}): use auto or epoll"
        )),
        Backend::Auto | Backend::Epoll => Fatal::new(error),
    })?;
    if let Some(reason) = trial.fallback() {
        log.notice(format_args!("io_uring is not to be had here ({reason}): using epoll"));
    }
    Ok(match trial.kind() {
        Kind::IoUring => (Backend::IoUring, Kind::IoUring),
        Kind::Epoll => (Backend::Epoll, Kind::Epoll),
    })
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn announce(listeners: &Listeners, threads: usize, kind: Kind, log: &Log) {
    let name = |(index, listener)| {
        let how = if index < listeners.plain { "" } else { " (TLS)" };
        format!("{listener}{how}")
    };
    let names: Vec<String> = listeners.all.iter().enumerate().map(name).collect();
    let process_id = std::process::id();
    log.notice(format_args!("Caudal {} starts, PID: {process_id}", env!("CARGO_PKG_VERSION")));
    log.notice(format_args!("Listening on {}", names.join(", ")));
    let plural = if threads == 1 { "" } else { "s" };
    log.notice(format_args!("Serving with {threads} thread{plural} over {kind}"));
}

/// What the engine cannot know by itself.
fn environment(
    workers: usize,
    kind: Kind,
    config_file: Option<ConfigFile>,
    acl_file: Option<ConfigFile>,
    log: Arc<Log>,
) -> io::Result<Environment> {
    let mut random = [0; 28];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let (seed, run) = random.split_first_chunk().expect("28 is more than 8");
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Ok(Environment {
        workers,
        seed: u64::from_ne_bytes(*seed),
        started_ms: u64::try_from(started.as_millis()).unwrap_or(u64::MAX),
        run_id: run.iter().map(|byte| format!("{byte:02x}")).collect(),
        process_id: std::process::id(),
        system: format!("Linux {} {}", release.trim(), std::env::consts::ARCH),
        executable: std::env::current_exe()
            .map(|path| path.display().to_string())
            .unwrap_or_default(),
        io_backend: match kind {
            Kind::IoUring => "io_uring",
            Kind::Epoll => "epoll",
        },
        nanos: caudal_reactor::nanos,
        log: LogSink(Arc::new(move |level, text| log.write(level, &text))),
        shutdown: caudal_reactor::terminate_self,
        usage,
        sleep: thread::sleep,
        config_file,
        acl_file,
        entropy,
        encryption: None,
    })
}

/// Random bytes from the system.
fn entropy(bytes: &mut [u8]) {
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes));
    read.expect("the system's random numbers were there when the process started");
}

/// What the system says that this process uses.
fn usage() -> Usage {
    let (user, system) = cpu_time("/proc/self/stat");
    let process_id = std::process::id();
    let kib = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    Usage {
        user,
        system,
        first_thread: cpu_time(&format!("/proc/self/task/{process_id}/stat")),
        resident_bytes: kib("/proc/self/status", "VmRSS:") * 1024,
        total_bytes: kib("/proc/meminfo", "MemTotal:") * 1024,
    }
}

/// CPU time in the program and in the system, by a line of Linux on a process or a thread.
fn cpu_time(file: &str) -> (Duration, Duration) {
    /// Ticks a second in which Linux tells programs of CPU time (USER_HZ).
    const TICKS: u64 = 100;
    // Fields 14 and 15 of the line, of which the second, in parentheses, may hold anything.
    let stat = fs::read_to_string(file).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut times = fields.split_whitespace().skip(11).map_while(|word| word.parse::<u64>().ok());
    let mut time = || Duration::from_millis(times.next().unwrap_or(0) * (1000 / TICKS));
    (time(), time())
}

fn tell_supervisor(supervised: Supervised, state: &str, log: &Log) {
    if supervised == Supervised::No {
        return;
    }
    match std::env::var("NOTIFY_SOCKET") {
        Ok(socket) => {
            if let Err(error) = caudal_reactor::notify_supervisor(&socket, state) {
                log.warning(format_args!("Can't reach the supervisor at {socket}: {error}"));
            }
        }
        Err(_) if supervised == Supervised::Systemd => {
            log.warning("systemd supervision requested, but NOTIFY_SOCKET is not set");
        }
        Err(_) => {}
    }
}

/// A file with the process's number, removed at the end.
struct PidFile(PathBuf);

impl PidFile {
    fn write(path: &Path, log: &Log) -> Self {
        if let Err(error) = fs::write(path, format!("{}\n", std::process::id())) {
            log.warning(format_args!("Failed to write PID file '{}': {error}", path.display()));
        }
        Self(path.to_owned())
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        // If somebody else removed it, it is as it should be.
        let _ = fs::remove_file(&self.0);
    }
}
