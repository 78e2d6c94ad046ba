//! The values as the rest of the program reads them: typed, named with their units, grouped by
//! user.
//!
//! Rebuilt whole from the values after every change, so the two never differ. Only directives that
//! work have a field: what is not there cannot be used by mistake. The names in this file are
//! checked by building the default configuration.

use std::path::PathBuf;

use super::directive::Value;
use super::special::{ClientLimits, Events};
use super::table;
use super::tls::{ClientCertificates, SESSIONS_MAX, Sessions, Tls, UserName};

/// Every setting that has an effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Where and how the server listens.
    pub net: Net,
    /// How connections are encrypted.
    pub tls: Tls,
    /// What clients may use.
    pub clients: Clients,
    /// Up to which size values are packed.
    pub limits: Limits,
    /// How much memory may be used.
    pub memory: Memory,
    /// The log, the slow log and latencies.
    pub log: Log,
    /// Who may do what.
    pub security: Security,
    /// The process and its threads.
    pub process: Process,
    /// What writes need.
    pub replication: Replication,
}

/// Which replicas there must be for writes to be taken; either is 0: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replication {
    /// How many.
    pub write_replicas_min: u32,
    /// How long ago each was last heard of.
    pub lag_seconds_max: u32,
}

/// Where and how the server listens.
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    /// 0: no TCP port.
    pub port: u16,
    /// Empty: no TCP port.
    pub bind: Vec<BindAddress>,
    /// A Unix socket to listen on as well.
    pub unix_socket: Option<PathBuf>,
    /// Its permissions, at most 0o777; `None` leaves what the umask gives.
    pub unix_socket_mode: Option<u32>,
    /// Refuse remote clients while there is no password.
    pub protected_mode: bool,
    /// Length of the queue of connections to accept.
    pub tcp_backlog: u32,
    /// `None`: no keepalive probes.
    pub tcp_keepalive_seconds: Option<u32>,
}

/// One address of `bind`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindAddress {
    /// An IPv4 or IPv6 address or a name; `*` stands for every IPv4 and `::*` for every IPv6
    /// address.
    pub address: String,
    /// The server starts even if the machine does not have this address.
    pub optional: bool,
}

/// What clients may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Clients {
    /// Connections at a time, at least 1.
    pub count_max: u32,
    /// `None`: idle clients stay.
    pub idle_seconds_max: Option<u32>,
    /// By class of client.
    pub output_limits: ClientLimits,
    /// Bytes of requests not yet run, at least 1 MiB.
    pub query_buffer_bytes_max: usize,
    /// Bytes of one argument, at least 1 MiB.
    pub bulk_bytes_max: usize,
    /// Keys remembered for client-side caching; `None`: no limit.
    pub tracking_keys_max: Option<usize>,
    /// Keyspace events that are published.
    pub events: Events,
}

/// Up to which size values are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Fields of a packed hash.
    pub hash_packed_entries_max: usize,
    /// Bytes of a field or value of a packed hash.
    pub hash_packed_value_bytes_max: usize,
    /// Items of a list's node if positive; -1 to -5 are 4, 8, 16, 32 and 64 KiB.
    pub list_node_size: i32,
    /// Members of a set packed as integers.
    pub set_integer_entries_max: usize,
    /// Members of a packed set.
    pub set_packed_entries_max: usize,
    /// Bytes of a member of a packed set.
    pub set_packed_value_bytes_max: usize,
    /// Members of a packed sorted set.
    pub zset_packed_entries_max: usize,
    /// Bytes of a member of a packed sorted set.
    pub zset_packed_value_bytes_max: usize,
    /// Bytes of a sparse HyperLogLog.
    pub hll_sparse_bytes_max: usize,
    /// Bytes of a stream's node; 0: no limit.
    pub stream_node_bytes_max: usize,
    /// Entries of a stream's node; 0: no limit.
    pub stream_node_entries_max: usize,
}

/// How much memory may be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Bytes in use at which commands that may grow are refused; `None`: no limit.
    pub bytes_max: Option<u64>,
    /// How it is told which keys are used least.
    pub policy: Policy,
    /// How many more uses count one more.
    pub lfu_log_factor: u32,
    /// Minutes in which the count of an unused key falls by one; 0: never.
    pub lfu_decay_minutes: u32,
}

/// Which keys an eviction would take first, by its name in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy(pub &'static str);

impl Policy {
    /// None: writes are refused.
    pub const NONE: Policy = Policy("noeviction");

    /// Whether uses are counted, instead of the time of the last one being kept.
    pub fn counts_uses(self) -> bool {
        self.0.ends_with("-lfu")
    }
}

/// The log, the slow log and latencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Log {
    /// The least important messages that are written.
    pub level: LogLevel,
    /// `None`: standard output.
    pub file: Option<PathBuf>,
    /// Commands that ran for at least so many microseconds.
    pub slow: CommandLog,
    /// Commands whose request had at least so many bytes.
    pub large_requests: CommandLog,
    /// Commands whose reply had at least so many bytes.
    pub large_replies: CommandLog,
    /// `None`: LATENCY records nothing.
    pub latency_threshold_millis: Option<u64>,
    /// Whether each command's latencies are kept.
    pub latency_tracking: bool,
    /// 0.0..=100.0 each.
    pub latency_percentiles: Vec<f64>,
}

/// Which commands one of the command logs keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLog {
    /// Least microseconds or bytes; `None`: the log is off.
    pub threshold: Option<u64>,
    /// Entries kept, the newest.
    pub entries_max: usize,
}

/// Importance of messages in the log, the least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For developers.
    Debug,
    /// Rarely useful.
    Verbose,
    /// What an operator wants to know.
    Notice,
    /// Something is wrong.
    Warning,
    /// Above every message: nothing is logged.
    Nothing,
}

/// Who may do what.
#[derive(Debug, Clone, PartialEq)]
pub struct Security {
    /// The default user's password; `None`: none is asked for.
    pub password: Option<String>,
    /// Who may use DEBUG.
    pub debug_command: Allowance,
    /// Who may change protected directives.
    pub protected_configs: Allowance,
    /// Entries of ACL LOG.
    pub acl_log_entries_max: usize,
    /// The file of ACL users.
    pub acl_file: Option<PathBuf>,
    /// Whether a new user may use all channels.
    pub all_channels: bool,
}

/// To whom something is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// To nobody.
    No,
    /// To everybody.
    Yes,
    /// To clients of this machine.
    Local,
}

impl Allowance {
    /// Whether it is allowed to a client that is, or is not, on this machine.
    pub fn includes(self, client_is_local: bool) -> bool {
        match self {
            Allowance::No => false,
            Allowance::Yes => true,
            Allowance::Local => client_is_local,
        }
    }
}

/// The process and its threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    /// Workers; `None`: as many as cores.
    pub threads: Option<u16>,
    /// How sockets are read and written.
    pub io_backend: IoBackend,
    /// The version of Redis that INFO and HELLO show.
    pub reported_version: String,
    /// At least 1.
    pub databases: u32,
    /// Which supervisor is told when the server is ready.
    pub supervised: Supervised,
    /// Where the process id is written.
    pub pid_file: Option<PathBuf>,
    /// The working directory.
    pub directory: PathBuf,
    /// How long a script runs before other clients are told BUSY; 0: at once.
    pub busy_reply_millis: u64,
}

/// How sockets are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoBackend {
    /// io_uring if the system allows it, else epoll.
    Auto,
    /// io_uring, or no start.
    IoUring,
    /// epoll.
    Epoll,
}

/// Which supervisor is told when the server is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supervised {
    /// None.
    No,
    /// systemd, which gave NOTIFY_SOCKET.
    Systemd,
    /// systemd if it gave NOTIFY_SOCKET.
    Auto,
}

impl Settings {
    pub(super) fn new(values: &[Value]) -> Self {
        let view = View { values };
        Settings {
            net: view.net(),
            tls: view.tls(),
            clients: view.clients(),
            limits: view.limits(),
            memory: view.memory(),
            log: view.log(),
            security: view.security(),
            process: view.process(),
            replication: view.replication(),
        }
    }
}

impl Settings {
    /// Why values that are right by themselves cannot be together.
    pub(super) fn conflict(&self) -> Option<(&'static str, &'static str)> {
        let evicts = self.memory.bytes_max.is_some() && self.memory.policy != Policy::NONE;
        evicts.then_some((
            "maxmemory-policy",
            "eviction is not there yet: use 'maxmemory-policy noeviction', or 'maxmemory 0'",
        ))
    }
}

/// Access to values by name; the kinds in the table decide which methods fit.
struct View<'a> {
    values: &'a [Value],
}

impl View<'_> {
    fn net(&self) -> Net {
        let bind = self.words("bind").iter().map(|word| match word.strip_prefix('-') {
            Some(address) => BindAddress { address: address.to_owned(), optional: true },
            None => BindAddress { address: word.clone(), optional: false },
        });
        Net {
            port: self.number("port"),
            bind: bind.collect(),
            unix_socket: self.path("unixsocket"),
            unix_socket_mode: non_zero(self.number("unixsocketperm")),
            protected_mode: self.flag("protected-mode"),
            tcp_backlog: self.number("tcp-backlog"),
            tcp_keepalive_seconds: non_zero(self.number("tcp-keepalive")),
        }
    }

    fn tls(&self) -> Tls {
        let count_max = self.number("tls-session-cache-size");
        let sessions = Sessions {
            count_max: if count_max == 0 { SESSIONS_MAX } else { SESSIONS_MAX.min(count_max) },
            seconds_max: self.number("tls-session-cache-timeout"),
        };
        Tls {
            port: self.number("tls-port"),
            certificate_file: self.path("tls-cert-file"),
            key_file: self.path("tls-key-file"),
            authority_file: self.path("tls-ca-cert-file"),
            authority_directory: self.path("tls-ca-cert-dir"),
            clients: match self.choice("tls-auth-clients") {
                "no" => ClientCertificates::No,
                "optional" => ClientCertificates::Optional,
                _ => ClientCertificates::Required,
            },
            user_name: match self.choice("tls-auth-clients-user") {
                "CN" => Some(UserName::CommonName),
                "URI" => Some(UserName::Uri),
                _ => None,
            },
            protocols: self.text("tls-protocols").to_owned(),
            ciphers: self.text("tls-ciphers").to_owned(),
            cipher_suites: self.text("tls-ciphersuites").to_owned(),
            prefers_own_order: self.flag("tls-prefer-server-ciphers"),
            sessions: self.flag("tls-session-caching").then_some(sessions),
            reload_seconds: non_zero(self.number("tls-auto-reload-interval")),
            handshakes_per_turn: self.number("max-new-tls-connections-per-cycle"),
            handshake_seconds_max: self.number("tls-handshake-timeout"),
        }
    }

    fn clients(&self) -> Clients {
        Clients {
            count_max: self.number("maxclients"),
            idle_seconds_max: non_zero(self.number("timeout")),
            output_limits: match self.value("client-output-buffer-limit") {
                Value::OutputLimits(limits) => *limits,
                _ => wrong_kind("client-output-buffer-limit"),
            },
            query_buffer_bytes_max: self.number("client-query-buffer-limit"),
            bulk_bytes_max: self.number("proto-max-bulk-len"),
            tracking_keys_max: non_zero(self.number("tracking-table-max-keys")),
            events: match self.value("notify-keyspace-events") {
                Value::Events(events) => *events,
                _ => wrong_kind("notify-keyspace-events"),
            },
        }
    }

    fn memory(&self) -> Memory {
        Memory {
            bytes_max: non_zero(self.number("maxmemory")),
            policy: Policy(self.choice("maxmemory-policy")),
            lfu_log_factor: self.number("lfu-log-factor"),
            lfu_decay_minutes: self.number("lfu-decay-time"),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            hash_packed_entries_max: self.number("hash-max-listpack-entries"),
            hash_packed_value_bytes_max: self.number("hash-max-listpack-value"),
            list_node_size: self.number("list-max-listpack-size"),
            set_integer_entries_max: self.number("set-max-intset-entries"),
            set_packed_entries_max: self.number("set-max-listpack-entries"),
            set_packed_value_bytes_max: self.number("set-max-listpack-value"),
            zset_packed_entries_max: self.number("zset-max-listpack-entries"),
            zset_packed_value_bytes_max: self.number("zset-max-listpack-value"),
            hll_sparse_bytes_max: self.number("hll-sparse-max-bytes"),
            stream_node_bytes_max: self.number("stream-node-max-bytes"),
            stream_node_entries_max: self.number("stream-node-max-entries"),
        }
    }

    fn log(&self) -> Log {
        let command_log = |threshold, entries_max| CommandLog {
            threshold: u64::try_from(self.integer(threshold)).ok(),
            entries_max: self.number(entries_max),
        };
        let percentiles = self.words("latency-tracking-info-percentiles").iter();
        Log {
            level: match self.choice("loglevel") {
                "debug" => LogLevel::Debug,
                "verbose" => LogLevel::Verbose,
                "notice" => LogLevel::Notice,
                "warning" => LogLevel::Warning,
                _ => LogLevel::Nothing,
            },
            file: self.path("logfile"),
            slow: command_log("slowlog-log-slower-than", "slowlog-max-len"),
            large_requests: command_log(
                "commandlog-request-larger-than",
                "commandlog-large-request-max-len",
            ),
            large_replies: command_log(
                "commandlog-reply-larger-than",
                "commandlog-large-reply-max-len",
            ),
            latency_threshold_millis: non_zero(self.number("latency-monitor-threshold")),
            latency_tracking: self.flag("latency-tracking"),
            latency_percentiles: percentiles.filter_map(|word| word.parse().ok()).collect(),
        }
    }

    fn security(&self) -> Security {
        Security {
            password: self.optional_text("requirepass").map(str::to_owned),
            debug_command: self.allowance("enable-debug-command"),
            protected_configs: self.allowance("enable-protected-configs"),
            acl_log_entries_max: self.number("acllog-max-len"),
            acl_file: self.path("aclfile"),
            all_channels: self.choice("acl-pubsub-default") == "allchannels",
        }
    }

    fn replication(&self) -> Replication {
        Replication {
            write_replicas_min: self.number("min-replicas-to-write"),
            lag_seconds_max: self.number("min-replicas-max-lag"),
        }
    }

    fn process(&self) -> Process {
        Process {
            threads: non_zero(self.number("threads")),
            io_backend: match self.choice("io-backend") {
                "io_uring" => IoBackend::IoUring,
                "epoll" => IoBackend::Epoll,
                _ => IoBackend::Auto,
            },
            reported_version: self.text("reported-version").to_owned(),
            databases: self.number("databases"),
            supervised: match self.choice("supervised") {
                "systemd" => Supervised::Systemd,
                "auto" => Supervised::Auto,
                _ => Supervised::No,
            },
            pid_file: self.path("pidfile"),
            directory: self.text("dir").into(),
            busy_reply_millis: self.number("busy-reply-threshold"),
        }
    }

    fn value(&self, name: &str) -> &Value {
        &self.values[table::find(name).expect("settings name directives of the table")]
    }

    fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Flag(on) => *on,
            _ => wrong_kind(name),
        }
    }

    fn integer(&self, name: &str) -> i128 {
        match self.value(name) {
            Value::Integer(number) => *number,
            _ => wrong_kind(name),
        }
    }

    /// A number whose bounds in the table fit the type; on machines with less than 64 bits the
    /// nearest that fits.
    fn number<N: TryFrom<i128> + Bounded>(&self, name: &str) -> N {
        let number = self.integer(name);
        N::try_from(number).unwrap_or(if number < 0 { N::LEAST } else { N::MOST })
    }

    fn text(&self, name: &str) -> &str {
        match self.value(name) {
            Value::Text(text) => text,
            _ => wrong_kind(name),
        }
    }

    fn optional_text(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.optional_text(name).map(PathBuf::from)
    }

    fn choice(&self, name: &str) -> &'static str {
        match self.value(name) {
            Value::Choice(word) => word,
            _ => wrong_kind(name),
        }
    }

    fn words(&self, name: &str) -> &[String] {
        match self.value(name) {
            Value::Words(words) => words,
            _ => wrong_kind(name),
        }
    }

    fn allowance(&self, name: &str) -> Allowance {
        match self.choice(name) {
            "yes" => Allowance::Yes,
            "local" => Allowance::Local,
            _ => Allowance::No,
        }
    }
}

/// Both names stand in this crate, and the default configuration runs through each.
fn wrong_kind(name: &str) -> ! {
    panic!("the table gives '{name}' another kind than the settings read");
}

fn non_zero<N: PartialEq + Default>(number: N) -> Option<N> {
    (number != N::default()).then_some(number)
}

/// The bounds of an integer type, for numbers that it cannot hold.
trait Bounded {
    const LEAST: Self;
    const MOST: Self;
}

macro_rules! bounded {
    ($($integer:ty),*) => {
        $(impl Bounded for $integer {
            const LEAST: Self = <$integer>::MIN;
            const MOST: Self = <$integer>::MAX;
        })*
    };
}

bounded!(u16, u32, u64, usize, i32);
