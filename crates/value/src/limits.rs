//! Up to which size a collection stays in its small form.
//!
//! The values of the configuration's `*-max-listpack-*` family, handed to whatever adds elements.
//! What must stay true: the defaults and the comparisons are Valkey 9.1's, for OBJECT ENCODING
//! tells.

/// Sizes up to which collections stay small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Fields of a packed hash: `hash-max-listpack-entries`.
    pub hash_packed_entries_max: usize,
    /// Bytes of a packed hash's longest field or value: `hash-max-listpack-value`.
    pub hash_packed_value_bytes_max: usize,
    /// Members of a set of integers: `set-max-intset-entries`.
    pub set_integers_max: usize,
    /// Members of a packed set: `set-max-listpack-entries`.
    pub set_packed_entries_max: usize,
    /// Bytes of a packed set's longest member: `set-max-listpack-value`.
    pub set_packed_value_bytes_max: usize,
    /// Members of a packed sorted set: `zset-max-listpack-entries`.
    pub sorted_set_packed_entries_max: usize,
    /// Bytes of a packed sorted set's longest member: `zset-max-listpack-value`.
    pub sorted_set_packed_value_bytes_max: usize,
    /// Bytes of a sparse HyperLogLog: `hll-sparse-max-bytes`.
    pub hll_sparse_bytes_max: usize,
    /// Elements of a list's node, or minus the number of its size class: `list-max-listpack-size`.
    pub list_packed_size: i64,
    /// Nodes at each end of a list that are never compressed, 0 for all: `list-compress-depth`.
    pub list_compress_depth: usize,
    /// Bytes of a stream's block, 0 for no limit: `stream-node-max-bytes`.
    pub stream_block_bytes_max: usize,
    /// Entries of a stream's block, 0 for no limit: `stream-node-max-entries`.
    pub stream_block_entries_max: usize,
}

impl Limits {
    /// Valkey's defaults.
    pub const DEFAULT: Limits = Limits {
        hash_packed_entries_max: 512,
        hash_packed_value_bytes_max: 64,
        set_integers_max: 512,
        set_packed_entries_max: 128,
        set_packed_value_bytes_max: 64,
        sorted_set_packed_entries_max: 128,
        sorted_set_packed_value_bytes_max: 64,
        hll_sparse_bytes_max: 3000,
        list_packed_size: -2,
        list_compress_depth: 0,
        stream_block_bytes_max: 4096,
        stream_block_entries_max: 100,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}
