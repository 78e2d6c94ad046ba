//! List.

/// List.
#[derive(Debug, Clone, Default)]
pub struct List {
    placeholder: Vec<u8>,
}

impl List {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.placeholder.capacity()
    }
}
