//! Bytes a key: of the table alone, and of the resident memory of the process.

use crate::load::{self, Load};
use caudal_table::memory;

/// Fills a store with `keys` keys of 15 bytes and values of `value_bytes`, and reports.
pub(crate) fn run(keys: usize, value_bytes: usize) -> String {
    let engine = load::engine(1);
    let mut load = Load::new(&engine, 0);
    load.turn(|_, request| request.extend_from_slice(b"PING\r\n"));
    let (resident, used) = (memory::resident_bytes(), memory::used_bytes());
    let (value, mut next) = (vec![b'x'; value_bytes], 0);
    while next < keys {
        load.turn(|_, request| {
            let key = next.min(keys - 1);
            let head = format!("*3\r\n$3\r\nSET\r\n$15\r\nk:{key:013}\r\n${value_bytes}\r\n");
            request.extend_from_slice(head.as_bytes());
            request.extend_from_slice(&value);
            request.extend_from_slice(b"\r\n");
            next += 1;
        });
    }
    let each = |bytes: u64| bytes as f64 / keys as f64;
    format!(
        "{keys} keys, values of {value_bytes} bytes: table {:.2}, used {:.1}, resident {:.1} \
         bytes a key\n",
        each(engine.table_bytes()),
        each(memory::used_bytes() - used),
        each(memory::resident_bytes() - resident)
    )
}
