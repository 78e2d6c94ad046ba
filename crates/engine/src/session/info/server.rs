//! The sections that say what the server is: server, persistence, replication, CPU.

use super::Text;
use crate::config::Config;
use crate::session::{Session, server};
use std::time::Duration;

/// Version, system, addresses, uptime.
pub(super) fn server(session: &mut Session<'_, '_>, text: &mut Text) {
    const SECONDS_A_DAY: u64 = 24 * 60 * 60;
    let environment = &session.engine.environment;
    let config = session.engine.config();
    let now = session.worker.now;
    let uptime = now.unix_ms.saturating_sub(environment.started_ms) / 1000;
    text.field("redis_version", &config.process.reported_version);
    text.field("server_name", "caudal");
    text.field("caudal_version", env!("CARGO_PKG_VERSION"));
    text.field("redis_git_sha1", "00000000");
    text.field("redis_git_dirty", 0);
    text.field("redis_build_id", env!("CARGO_PKG_VERSION"));
    text.field("redis_mode", "standalone");
    text.field("server_mode", "standalone");
    text.field("os", &environment.system);
    text.field("arch_bits", usize::BITS);
    text.field("monotonic_clock", "POSIX clock_gettime");
    text.field("multiplexing_api", environment.io_backend);
    text.field("gcc_version", "0.0.0");
    text.field("io_backend", environment.io_backend);
    text.field("threads", environment.workers);
    text.field("process_id", environment.process_id);
    text.field("process_supervised", supervised(config.process.supervised));
    text.field("run_id", &environment.run_id);
    let port = if config.net.port == 0 { config.tls.port } else { config.net.port };
    text.field("tcp_port", port);
    let micros = now.unix_ms * 1000 + u64::from(now.unix_us_rest);
    text.field("server_time_usec", micros);
    text.field("uptime_in_seconds", uptime);
    text.field("uptime_in_days", uptime / SECONDS_A_DAY);
    text.field("hz", 10);
    text.field("configured_hz", 10);
    text.field("clients_hz", 10);
    text.field("lru_clock", caudal_keyspace::access_clock(now.unix_ms));
    text.field("executable", &environment.executable);
    let file = environment.config_file.as_ref().map(|file| file.path.display().to_string());
    text.field("config_file", file.unwrap_or_default());
    text.field("io_threads_active", 0);
    text.field("availability_zone", "");
    listeners(&config, text);
}

/// A line for each kind of socket that is listened on, with Valkey's number of the kind.
fn listeners(config: &Config, text: &mut Text) {
    let mark = |optional| if optional { "-" } else { "" };
    let binds = config.net.bind.iter();
    let binds = binds.map(|at| format!(",bind={}{}", mark(at.optional), at.address));
    let binds = binds.collect::<String>();
    let ports = [("listener0", "tcp", config.net.port), ("listener2", "tls", config.tls.port)];
    let [tcp, tls] = ports.map(|(number, name, port)| {
        let is_open = port != 0 && !binds.is_empty();
        is_open.then(|| (number, format!("name={name}{binds},port={port}")))
    });
    let unix = config.net.unix_socket.as_ref();
    let unix = unix.map(|path| ("listener1", format!("name=unix,bind={}", path.display())));
    for (number, line) in [tcp, unix, tls].into_iter().flatten() {
        text.field(number, line);
    }
}

/// The certificates in use. There is none for a client's part yet.
pub(super) fn tls(session: &mut Session<'_, '_>, text: &mut Text) {
    let encryption = session.engine.environment.encryption.as_ref();
    let used = encryption.map(|encryption| encryption.certificates()).unwrap_or_default();
    let now = session.worker.now.unix_ms / 1000;
    for (whose, certificate) in
        [("server_cert", used.server), ("client_cert", None), ("ca_cert", used.authority)]
    {
        let serial = certificate.as_ref().map_or("none", |it| it.serial.as_str());
        let left = certificate.as_ref().map_or(0, |it| it.expires.saturating_sub(now));
        text.field(&format!("tls_{whose}_serial"), serial);
        text.field(&format!("tls_{whose}_expires_in_seconds"), left);
    }
}

fn supervised(supervised: crate::config::Supervised) -> &'static str {
    use crate::config::Supervised;
    match supervised {
        Supervised::No => "no",
        Supervised::Systemd | Supervised::Auto => "systemd",
    }
}

/// Nothing is on disk, and nothing is being brought there.
pub(super) fn persistence(session: &mut Session<'_, '_>, text: &mut Text) {
    text.field("loading", 0);
    text.field("async_loading", 0);
    // Nothing forks, so nothing is copied on write.
    text.zeros(&["current_cow_peak", "current_cow_size", "current_cow_size_age"]);
    text.field("current_fork_perc", "0.00");
    text.field("current_save_keys_processed", 0);
    text.field("current_save_keys_total", 0);
    text.field("rdb_changes_since_last_save", server::changes(session));
    text.field("rdb_bgsave_in_progress", 0);
    text.field("rdb_last_save_time", session.engine.environment.started_ms / 1000);
    text.field("rdb_last_bgsave_status", "ok");
    text.field("rdb_last_bgsave_time_sec", -1);
    text.field("rdb_current_bgsave_time_sec", -1);
    text.zeros(&[
        "rdb_saves",
        "rdb_last_cow_size",
        "rdb_last_load_keys_expired",
        "rdb_last_load_keys_loaded",
    ]);
    text.field("aof_enabled", 0);
    text.field("aof_rewrite_in_progress", 0);
    text.field("aof_rewrite_scheduled", 0);
    text.field("aof_last_rewrite_time_sec", -1);
    text.field("aof_current_rewrite_time_sec", -1);
    text.field("aof_last_bgrewrite_status", "ok");
    text.field("aof_rewrites", 0);
    text.field("aof_rewrites_consecutive_failures", 0);
    text.field("aof_last_write_status", "ok");
    text.zeros(&[
        "aof_last_cow_size",
        "module_fork_in_progress",
        "module_fork_last_cow_size",
        "slot_migration_fork_in_progress",
    ]);
}

/// A master that nobody replicates from.
pub(super) fn replication(session: &mut Session<'_, '_>, text: &mut Text) {
    text.field("role", "master");
    text.field("connected_slaves", 0);
    if session.worker.lacks_replicas() {
        text.field("min_slaves_good_slaves", 0);
    }
    text.field("replicas_waiting_psync", 0);
    text.field("master_failover_state", "no-failover");
    text.field("master_replid", &session.engine.environment.run_id);
    text.field("master_replid2", "0".repeat(40));
    text.field("master_repl_offset", 0);
    text.field("second_repl_offset", -1);
    text.field("repl_backlog_active", 0);
    text.field("repl_backlog_size", 0);
    text.field("repl_backlog_first_byte_offset", 0);
    text.field("repl_backlog_histlen", 0);
}

/// CPU time of the process. It has no children.
pub(super) fn cpu(session: &mut Session<'_, '_>, text: &mut Text) {
    let usage = (session.engine.environment.usage)();
    let seconds = |time: Duration| format!("{:.6}", time.as_secs_f64());
    text.field("used_cpu_sys", seconds(usage.system));
    text.field("used_cpu_user", seconds(usage.user));
    text.field("used_cpu_sys_children", seconds(Duration::ZERO));
    text.field("used_cpu_user_children", seconds(Duration::ZERO));
    let (user, system) = usage.first_thread;
    text.field("used_cpu_sys_main_thread", seconds(system));
    text.field("used_cpu_user_main_thread", seconds(user));
    text.field("used_active_time_main_thread", seconds(user + system));
}
