//! SortedSet.

/// SortedSet.
#[derive(Debug, Clone, Default)]
pub struct SortedSet {
    placeholder: Vec<u8>,
}

impl SortedSet {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.placeholder.capacity()
    }
}

impl SortedSet {
    /// Number.
    #[allow(clippy::len_without_is_empty, reason = "soon")]
    pub fn len(&self) -> usize {
        0
    }
}
