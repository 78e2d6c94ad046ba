//! What every command needs of the configuration, in the form it needs it: made anew when the
//! configuration changes.

use crate::config::{Config, Log, Memory, OutputLimit};
use crate::connection::{Close, Connection, Peer};
use crate::engine::Engine;
use crate::hot_keys::Search;
use caudal_commands::Settings;
use caudal_keyspace::Frequency;
use caudal_value::Limits;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A worker's view of the configuration.
pub(crate) struct Tuning {
    pub(crate) config: Arc<Config>,
    /// The change of the configuration that this view is of.
    pub(crate) version: u64,
    pub(crate) limits: Limits,
    pub(crate) settings: Settings,
    /// How uses of records are counted, under an LFU policy.
    pub(crate) frequency: Option<Frequency>,
    parser: caudal_wire::Limits,
    /// When unsent replies close a client.
    pub(crate) output_limit: OutputLimit,
    /// When unsent messages and replies close a subscriber.
    pub(crate) subscriber_output_limit: OutputLimit,
    /// What a command must reach to be logged; `u64::MAX` where nothing is.
    pub(crate) thresholds: Thresholds,
    /// Whether each command's latencies are kept.
    pub(crate) tracks_latency: bool,
    /// The search for hot keys that runs.
    pub(crate) hot_keys: Option<Arc<Search>>,
}

/// When a command is remembered by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    /// For the slow log and for LATENCY, whichever is less; 0 while hot keys are searched for.
    pub(crate) duration_ns: u64,
    pub(crate) slow_ns: u64,
    pub(crate) latency_ns: u64,
    pub(crate) request_bytes: u64,
    pub(crate) reply_bytes: u64,
}

impl Thresholds {
    fn of(log: &Log) -> Thresholds {
        let nanos = |units: Option<u64>, each: u64| {
            units.map_or(u64::MAX, |units| units.saturating_mul(each))
        };
        let slow_ns = nanos(log.slow.threshold, 1000);
        let latency_ns = nanos(log.latency_threshold_millis, 1_000_000);
        Thresholds {
            duration_ns: slow_ns.min(latency_ns),
            slow_ns,
            latency_ns,
            request_bytes: log.large_requests.threshold.unwrap_or(u64::MAX),
            reply_bytes: log.large_replies.threshold.unwrap_or(u64::MAX),
        }
    }
}

impl Tuning {
    /// The view of the configuration as it stands.
    pub(crate) fn of(engine: &Engine) -> Tuning {
        let version = engine.config_version();
        let config = engine.config();
        let hot_keys = engine.hot_keys.running();
        let mut thresholds = Thresholds::of(&config.log);
        if hot_keys.is_some() {
            thresholds.duration_ns = 0;
        }
        let bulk_bytes_max = config.clients.bulk_bytes_max as u64;
        Tuning {
            version,
            limits: value_limits(&config),
            settings: Settings {
                string_bytes_max: bulk_bytes_max,
                trusts_checksums: engine.trusts_checksums.load(Relaxed),
            },
            frequency: config.memory.policy.counts_uses().then(|| {
                let Memory { lfu_log_factor, lfu_decay_minutes, .. } = config.memory;
                Frequency::new(lfu_log_factor, lfu_decay_minutes, engine.environment.seed ^ version)
            }),
            parser: caudal_wire::Limits { bulk_bytes_max, ..caudal_wire::Limits::default() },
            output_limit: config.clients.output_limits.normal,
            subscriber_output_limit: config.clients.output_limits.pubsub,
            thresholds,
            tracks_latency: config.log.latency_tracking,
            hot_keys,
            config,
        }
    }

    /// Marks a connection to be closed if its unsent bytes pass its limit. True: it did now.
    #[inline]
    pub(crate) fn closes_for_output(&self, connection: &mut Connection, now_ms: u64) -> bool {
        let limit = match connection.subscriptions {
            None => &self.output_limit,
            Some(_) => &self.subscriber_output_limit,
        };
        let unsent = connection.output.bytes() as u64;
        let passes = |bytes: u64| bytes > 0 && unsent > bytes;
        let mut is_over = passes(limit.hard_bytes);
        if passes(limit.soft_bytes) {
            let since = *connection.over_soft_limit_ms.get_or_insert(now_ms);
            let over_ms = now_ms.saturating_sub(since);
            is_over |= over_ms > limit.soft_seconds.saturating_mul(1000);
        } else {
            connection.over_soft_limit_ms = None;
        }
        if is_over {
            connection.close = Close::Now;
        }
        is_over
    }

    /// What a client may send.
    pub(crate) fn parser_limits(&self, authenticated: bool) -> caudal_wire::Limits {
        caudal_wire::Limits { authenticated, ..self.parser.clone() }
    }
}

fn value_limits(config: &Config) -> Limits {
    let from = &config.limits;
    Limits {
        hash_packed_entries_max: from.hash_packed_entries_max,
        hash_packed_value_bytes_max: from.hash_packed_value_bytes_max,
        set_integers_max: from.set_integer_entries_max,
        set_packed_entries_max: from.set_packed_entries_max,
        set_packed_value_bytes_max: from.set_packed_value_bytes_max,
        sorted_set_packed_entries_max: from.zset_packed_entries_max,
        sorted_set_packed_value_bytes_max: from.zset_packed_value_bytes_max,
        hll_sparse_bytes_max: from.hll_sparse_bytes_max,
        list_packed_size: i64::from(from.list_node_size),
        stream_block_bytes_max: from.stream_node_bytes_max,
        stream_block_entries_max: from.stream_node_entries_max,
        ..Limits::default()
    }
}

/// Why a new connection is not taken: the text of its error reply.
pub(crate) fn refusal(
    config: &Config,
    peer: &Peer,
    clients: usize,
    needs_no_password: bool,
) -> Option<&'static str> {
    if clients >= config.clients.count_max as usize {
        return Some("ERR max number of clients reached");
    }
    let open = !config.net.protected_mode || !needs_no_password;
    (!open && !peer.loopback && !peer.unix).then_some(PROTECTED)
}

const PROTECTED: &str = "\
    DENIED Caudal is running in protected mode because protected mode is enabled and no \
    password is set for the default user. In this mode connections are only accepted from \
    the loopback interface. If you want to connect from external computers, you may adopt \
    one of the following solutions: 1) Disable protected mode by sending 'CONFIG SET \
    protected-mode no' from the loopback interface, and make sure that the server is not \
    reachable from the internet. 2) Set 'protected-mode no' in the configuration file and \
    restart. 3) Start with '--protected-mode no'. 4) Set an authentication password for the \
    default user.";
