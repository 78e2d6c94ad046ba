//! The section on memory.

use super::Text;
use crate::clients::ClientInfo;
use crate::engine::Engine;
use crate::session::Session;
use std::sync::atomic::Ordering::Relaxed;

/// A number of bytes for people: `1.00K`, `1.50M`.
fn human(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "K", "M", "G", "T", "P"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let (mut amount, mut unit) = (bytes as f64, 0);
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    format!("{amount:.2}{}", UNITS[unit])
}

/// What scripts and functions take: the workers' machines, which run both, and what is cached.
fn scripts(session: &Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    let machines = engine.sum(|worker| &worker.machine_bytes);
    let (cached, scripts) = engine.scripts.size();
    let libraries = engine.libraries.set();
    let functions = libraries.bytes();
    text.field("used_memory_vm_eval", machines);
    text.field("used_memory_lua", machines);
    text.field("used_memory_lua_human", human(machines));
    text.field("used_memory_scripts_eval", scripts);
    text.field("number_of_cached_scripts", cached);
    text.field("number_of_functions", libraries.functions());
    text.field("number_of_libraries", libraries.libraries.len());
    text.field("used_memory_vm_functions", 0);
    text.field("used_memory_vm_total", machines);
    text.field("used_memory_vm_total_human", human(machines));
    text.field("used_memory_functions", functions);
    text.field("used_memory_scripts", scripts + functions);
    text.field("used_memory_scripts_human", human((scripts + functions) as u64));
}

/// What the allocator has given out, what the system has given, and the limit.
pub(super) fn memory(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    let config = engine.config();
    let used = caudal_table::memory::used_bytes();
    let peak = engine.rates.note_memory(used);
    let usage = (engine.environment.usage)();
    let allocator = caudal_table::memory::statistics();
    let limit = config.memory.bytes_max.unwrap_or(0);
    let clients = client_bytes(engine);
    let overhead = engine.startup_bytes + clients;
    let mut bytes = |name: &str, amount: u64| {
        text.field(name, amount);
        text.field(&format!("{name}_human"), human(amount));
    };
    bytes("used_memory", used);
    bytes("used_memory_rss", usage.resident_bytes);
    bytes("used_memory_peak", peak);
    text.field("used_memory_peak_perc", format_args!("{:.2}%", 100.0 * ratio(used, peak)));
    text.field("used_memory_overhead", overhead);
    text.field("used_memory_startup", engine.startup_bytes);
    let data = used.saturating_sub(overhead);
    let all_data = used.saturating_sub(engine.startup_bytes);
    text.field("used_memory_dataset", data);
    let percent = 100.0 * ratio(data.min(all_data), all_data);
    text.field("used_memory_dataset_perc", format_args!("{percent:.2}%"));
    text.field("allocator_allocated", allocator.allocated);
    text.field("allocator_active", allocator.active);
    text.field("allocator_resident", allocator.resident);
    text.field("allocator_muzzy", 0);
    text.field("total_system_memory", usage.total_bytes);
    text.field("total_system_memory_human", human(usage.total_bytes));
    scripts(session, text);
    text.field("maxmemory", limit);
    text.field("maxmemory_human", human(limit));
    text.field("maxmemory_policy", config.memory.policy.0);
    fragmentation(text, used, usage.resident_bytes);
    text.zeros(&[
        "mem_not_counted_for_evict",
        "mem_replication_backlog",
        "mem_total_replication_buffers",
        "mem_replicas_repl_buffer",
        "mem_clients_slaves",
    ]);
    text.field("mem_clients_normal", clients);
    text.zeros(&[
        "mem_cluster_links",
        "mem_cluster_slot_import",
        "mem_cluster_slot_export",
        "mem_aof_buffer",
    ]);
    text.field("mem_allocator", "jemalloc");
    text.field("mem_overhead_db_hashtable_rehashing", 0);
    text.field("active_defrag_running", 0);
    text.field(
        "lazyfree_pending_objects",
        session.worker.garbage.iter().map(|table| table.len()).sum::<usize>(),
    );
    text.field("lazyfreed_objects", engine.sum(|at| &at.stats.freed_later));
}

/// How much more is held than is in use, and by whom.
fn fragmentation(text: &mut Text, used: u64, resident: u64) {
    let allocator = caudal_table::memory::statistics();
    let fragmented = allocator.active.saturating_sub(allocator.allocated);
    let kept = allocator.resident.saturating_sub(allocator.active);
    text.field(
        "allocator_frag_ratio",
        format_args!("{:.2}", ratio(allocator.active, allocator.allocated)),
    );
    text.field("allocator_frag_bytes", fragmented);
    text.field(
        "allocator_rss_ratio",
        format_args!("{:.2}", ratio(allocator.resident, allocator.active)),
    );
    text.field("allocator_rss_bytes", kept);
    #[allow(clippy::cast_possible_wrap, reason = "memory stays below 2^63 bytes")]
    let beyond = resident as i64 - allocator.resident as i64;
    text.field("rss_overhead_ratio", format_args!("{:.2}", ratio(resident, allocator.resident)));
    text.field("rss_overhead_bytes", beyond);
    text.field("mem_fragmentation_ratio", format_args!("{:.2}", ratio(resident, used)));
    #[allow(clippy::cast_possible_wrap, reason = "memory stays below 2^63 bytes")]
    text.field("mem_fragmentation_bytes", resident as i64 - used as i64);
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// What connections hold: their buffers and what is known of them.
pub(in crate::session) fn client_bytes(engine: &Engine) -> u64 {
    let bytes = |info: &ClientInfo| {
        size_of::<ClientInfo>() as u64 + info.input.load(Relaxed) + info.output.load(Relaxed)
    };
    engine.clients.list().iter().map(|info| bytes(info)).sum()
}
