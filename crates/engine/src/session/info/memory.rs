//! The section on memory.

use super::Text;
use crate::session::Session;

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

/// What the allocator has given out, what the system has given, and the limit.
pub(super) fn memory(session: &mut Session<'_, '_>, text: &mut Text) {
    let engine = session.engine;
    let config = engine.config();
    let used = caudal_table::memory::used_bytes();
    let peak = engine.rates.note_memory(used);
    let usage = (engine.environment.usage)();
    let allocator = caudal_table::memory::statistics();
    let limit = config.memory.bytes_max.unwrap_or(0);
    let ratio = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let mut bytes = |name: &str, amount: u64| {
        text.field(name, amount);
        text.field(&format!("{name}_human"), human(amount));
    };
    bytes("used_memory", used);
    bytes("used_memory_rss", usage.resident_bytes);
    bytes("used_memory_peak", peak);
    text.field("used_memory_peak_perc", format_args!("{:.2}%", 100.0 * ratio(used, peak)));
    text.field("used_memory_startup", engine.startup_bytes);
    text.field("allocator_allocated", allocator.allocated);
    text.field("allocator_active", allocator.active);
    text.field("allocator_resident", allocator.resident);
    text.field("total_system_memory", usage.total_bytes);
    text.field("total_system_memory_human", human(usage.total_bytes));
    text.field("used_memory_lua", 0);
    text.field("used_memory_lua_human", human(0));
    text.field("used_memory_scripts", 0);
    text.field("used_memory_scripts_human", human(0));
    text.field("number_of_cached_scripts", 0);
    text.field("number_of_functions", 0);
    text.field("number_of_libraries", 0);
    text.field("maxmemory", limit);
    text.field("maxmemory_human", human(limit));
    text.field("maxmemory_policy", "noeviction");
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
    text.field("mem_fragmentation_ratio", format_args!("{:.2}", ratio(usage.resident_bytes, used)));
    #[allow(clippy::cast_possible_wrap, reason = "memory stays below 2^63 bytes")]
    text.field("mem_fragmentation_bytes", usage.resident_bytes as i64 - used as i64);
    text.field("mem_not_counted_for_evict", 0);
    text.field("mem_replication_backlog", 0);
    text.field("mem_clients_slaves", 0);
    let clients = engine.clients.list();
    let buffered = |info: &crate::clients::ClientInfo| {
        use std::sync::atomic::Ordering::Relaxed;
        size_of_val(info) as u64 + info.input.load(Relaxed) + info.output.load(Relaxed)
    };
    text.field("mem_clients_normal", clients.iter().map(|info| buffered(info)).sum::<u64>());
    text.field("mem_cluster_links", 0);
    text.field("mem_aof_buffer", 0);
    text.field("mem_allocator", "jemalloc");
    text.field("active_defrag_running", 0);
    text.field(
        "lazyfree_pending_objects",
        session.worker.garbage.iter().map(|table| table.len()).sum::<usize>(),
    );
}
