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
