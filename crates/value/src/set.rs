//! Set.

/// Set.
#[derive(Debug, Clone, Default)]
pub struct Set {
    placeholder: Vec<u8>,
}

impl Set {
    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.placeholder.capacity()
    }
}

impl Set {
    /// Number.
    #[allow(clippy::len_without_is_empty, reason = "soon")]
    pub fn len(&self) -> usize {
        0
    }
}
