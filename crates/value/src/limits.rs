//! Limits of the small encodings.

/// Sizes up to which collections are packed.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// `list-max-listpack-size`.
    pub list_max_listpack_size: i64,
}
