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

impl Hash {
    /// Number.
    #[allow(clippy::len_without_is_empty, reason = "soon")]
    pub fn len(&self) -> usize {
        0
    }
}
