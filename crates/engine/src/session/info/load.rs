//! The sections that say what the server has to do: clients, stats, keyspace.

use super::{Text, commands};
use crate::engine::Engine;
use crate::pubsub::Topic;
use crate::session::Session;
use caudal_keyspace::Totals;
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

/// Connections, and what they wait for.
pub(super) fn clients(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    let (config, now) = (engine.config(), session.worker.now.unix_ms);
    let clients = engine.clients.list();
    let most = |of: fn(&crate::clients::ClientInfo) -> u64| {
        clients.iter().map(|info| of(info)).max().unwrap_or(0)
    };
    let watched: Vec<u32> = clients.iter().map(|info| info.watched.load(Relaxed)).collect();
    let waiters: Vec<_> = clients.iter().filter_map(|info| info.text().waiter.clone()).collect();
    let keys: HashSet<_> = waiters.iter().flat_map(|waiter| &waiter.keys).collect();
    let timed = clients.iter().filter(|info| {
        let text = info.text();
        text.waiter.is_some() && text.waits_for_a_time
    });
    let timed = timed.count();
    text.field("connected_clients", clients.len());
    text.field("cluster_connections", 0);
    text.field("maxclients", config.clients.count_max);
    text.field("client_recent_max_input_buffer", most(|info| info.input.load(Relaxed)));
    text.field("client_recent_max_output_buffer", most(|info| info.output.load(Relaxed)));
    let blocked = clients.iter().filter(|info| info.is_blocked()).count();
    text.field("blocked_clients", blocked);
    text.field("tracking_clients", engine.pubsub.trackers.load(Relaxed));
    text.field("pubsub_clients", clients.iter().filter(|info| info.is_subscriber()).count());
    text.field("watching_clients", watched.iter().filter(|keys| **keys > 0).count());
    text.field("clients_in_timeout_table", timed);
    text.field("total_watched_keys", watched.iter().map(|keys| u64::from(*keys)).sum::<u64>());
    text.field("total_blocking_keys", keys.len());
    text.field("total_blocking_keys_on_nokey", 0);
    let pause = &engine.pause;
    let all = pause.all_until_ms.load(Relaxed) > now;
    let actions = match (all, pause.is_on(now)) {
        (true, _) => "all",
        (_, true) => "write",
        _ => "none",
    };
    let left = pause.writes_until_ms.load(Relaxed).saturating_sub(now);
    text.field("paused_reason", if actions == "none" { "none" } else { "client_pause" });
    text.field("paused_actions", actions);
    text.field("paused_timeout_milliseconds", left);
}

/// Counters since the start or the last CONFIG RESETSTAT.
pub(super) fn stats(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    traffic(engine, text);
    on_keys(engine, text);
    on_replies(engine, text);
    on_turns(engine, text);
    on_denials(engine, text);
}

fn traffic(engine: &Engine, text: &mut Text) {
    let rate = engine.rates.rate();
    let kilobytes = |bytes: u64| format!("{:.2}", bytes as f64 / 1024.0);
    text.field("total_connections_received", engine.sum(|at| &at.stats.connections_received));
    text.field("total_commands_processed", engine.sum(|at| &at.stats.commands_processed));
    text.field("instantaneous_ops_per_sec", rate.commands);
    text.field("total_net_input_bytes", engine.sum(|at| &at.stats.bytes_in));
    text.field("total_net_output_bytes", engine.sum(|at| &at.stats.bytes_out));
    text.field("total_net_repl_input_bytes", 0);
    text.field("total_net_repl_output_bytes", 0);
    text.field("total_net_cluster_slot_import_bytes", 0);
    text.field("total_net_cluster_slot_export_bytes", 0);
    text.field("instantaneous_input_kbps", kilobytes(rate.bytes_in));
    text.field("instantaneous_output_kbps", kilobytes(rate.bytes_out));
    text.field("instantaneous_input_repl_kbps", kilobytes(0));
    text.field("instantaneous_output_repl_kbps", kilobytes(0));
    text.field("rejected_connections", engine.sum(|at| &at.stats.connections_rejected));
    text.field("sync_full", 0);
    text.field("sync_partial_ok", 0);
    text.field("sync_partial_err", 0);
}

fn on_keys(engine: &Engine, text: &mut Text) {
    text.field("expired_keys", engine.sum(|at| &at.counters.expired));
    text.field("expired_fields", engine.sum(|at| &at.counters.expired_fields));
    // An expired key is reclaimed by its place in an index: none is missed by a sample.
    text.field("expired_stale_perc", "0.00");
    text.field("expired_keys_with_volatile_items_stale_perc", "0.00");
    text.field("expired_time_cap_reached_count", engine.sum(|at| &at.stats.expiry_overruns));
    let expiry_ms = engine.sum(|at| &at.stats.expiry_ns) / 1_000_000;
    text.field("expire_cycle_cpu_milliseconds", expiry_ms);
    text.field("evicted_keys", 0);
    text.field("evicted_clients", 0);
    text.field("evicted_scripts", engine.scripts.evicted());
    text.zeros(&["total_eviction_exceeded_time", "current_eviction_exceeded_time"]);
    text.field("keyspace_hits", engine.sum(|at| &at.counters.hits));
    text.field("keyspace_misses", engine.sum(|at| &at.counters.misses));
    text.field("pubsub_channels", engine.pubsub.len(Topic::Channel));
    text.field("pubsub_patterns", engine.pubsub.len(Topic::Pattern));
    text.field("pubsubshard_channels", engine.pubsub.len(Topic::ShardChannel));
    text.field("latest_fork_usec", 0);
    text.field("total_forks", 0);
    text.field("migrate_cached_sockets", 0);
    text.field("slave_expires_tracked_keys", 0);
    text.zeros(&[
        "active_defrag_hits",
        "active_defrag_misses",
        "active_defrag_key_hits",
        "active_defrag_key_misses",
        "total_active_defrag_time",
        "current_active_defrag_time",
    ]);
    text.field("tracking_total_keys", engine.pubsub.interest.keys.load(Relaxed));
    text.field("tracking_total_items", engine.pubsub.interest.marks.load(Relaxed));
    text.field("tracking_total_prefixes", engine.pubsub.interest.prefixes.load(Relaxed));
}

fn on_replies(engine: &Engine, text: &mut Text) {
    text.field("unexpected_error_replies", 0);
    text.field("total_error_replies", engine.sum(|at| &at.stats.error_replies));
    text.field(
        "dump_payload_sanitizations",
        commands::calls(engine, &["restore", "restore-asking"]),
    );
    text.field("total_reads_processed", engine.sum(|at| &at.stats.reads));
    text.field("total_writes_processed", engine.sum(|at| &at.stats.writes));
    // Workers read and write their own connections: no thread does it for another.
    text.zeros(&[
        "io_threaded_reads_processed",
        "io_threaded_writes_processed",
        "io_threaded_freed_objects",
        "io_threaded_accept_processed",
        "io_threaded_poll_processed",
        "io_threaded_total_prefetch_batches",
        "io_threaded_total_prefetch_entries",
    ]);
    let queries = engine.sum(|at| &at.stats.query_limit_closed);
    let outputs = engine.sum(|at| &at.stats.output_limit_closed);
    text.field("client_query_buffer_limit_disconnections", queries);
    text.field("client_output_buffer_limit_disconnections", outputs);
    text.field("reply_buffer_shrinks", 0);
    text.field("reply_buffer_expands", 0);
}

fn on_turns(engine: &Engine, text: &mut Text) {
    // Commands are timed, whole turns are not.
    text.field("eventloop_duration_sum", 0);
    text.field("eventloop_duration_cmd_sum", commands::total_micros(engine));
    text.field("instantaneous_eventloop_duration_usec", 0);
    text.field("eventloop_cycles", engine.sum(|at| &at.stats.turns));
    text.field("instantaneous_eventloop_cycles_per_sec", engine.rates.rate().turns);
}

fn on_denials(engine: &Engine, text: &mut Text) {
    text.field("acl_access_denied_auth", engine.sum(|at| &at.stats.auth_refused));
    text.field("acl_access_denied_cmd", engine.sum(|at| &at.stats.commands_denied));
    text.field("acl_access_denied_key", engine.sum(|at| &at.stats.keys_denied));
    text.field("acl_access_denied_channel", engine.sum(|at| &at.stats.channels_denied));
    text.field("acl_access_denied_tls_cert", engine.sum(|at| &at.stats.certificates_refused));
    text.field("acl_access_denied_db", engine.sum(|at| &at.stats.databases_denied));
    text.field("commands_parked_on_busy_slots", engine.sum(|at| &at.stats.parked));
}

/// The databases that hold keys. A mean TTL of 0 is Redis's word for none known.
pub(super) fn keyspace(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    for database in 0..engine.keyspace.databases() {
        let totals = engine.totals(u8::try_from(database).unwrap_or(u8::MAX));
        if totals.keys > 0 {
            let Totals { keys, volatile, timed } = totals;
            text.field(
                &format!("db{database}"),
                format_args!(
                    "keys={keys},expires={volatile},avg_ttl=0,keys_with_volatile_items={timed}"
                ),
            );
        }
    }
}
