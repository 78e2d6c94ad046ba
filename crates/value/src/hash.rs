//! Hash.

/// Hash.
#[derive(Debug, Clone, Default)]
pub struct Hash {
    placeholder: Vec<u8>,
}

impl Hash {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.placeholder.capacity()
    }
}
