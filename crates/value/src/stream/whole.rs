//! Streams as files keep them: block by block, with all that is counted.

use super::block::Block;
use super::{Entry, Stream, StreamId};
use crate::{Item, ItemBytes};
use std::sync::Arc;

/// A block, to be written.
#[derive(Debug, Clone, Copy)]
pub struct BlockView<'a>(&'a Block);

impl<'a> BlockView<'a> {
    /// What its ids may be told from: not above the first of them.
    pub fn base_id(&self) -> StreamId {
        self.0.first_id()
    }

    /// Number of entries.
    #[allow(clippy::len_without_is_empty, reason = "a block has an entry")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The names that entries may share.
    pub fn names(&self) -> impl Iterator<Item = Item<'a>> + Clone + use<'a> {
        self.0.names()
    }

    /// The entries in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'a>> + use<'a> {
        self.0.iter()
    }
}

/// An entry of a block that was read.
#[derive(Debug, Clone)]
pub struct Restored {
    /// Its id.
    pub id: StreamId,
    /// Whether its fields have the block's names.
    pub shares_names: bool,
    /// Values if it does, else names and values in turn.
    pub words: Vec<ItemBytes>,
}

impl Stream {
    /// The blocks in order.
    pub fn block_views(&self) -> impl Iterator<Item = BlockView<'_>> {
        self.body.blocks.ascending(StreamId::MIN).map(|(_, block)| BlockView(block))
    }

    /// Adds a block with its entries as they once stood, whatever today's limits say. False, and
    /// nothing is added, if their ids do not ascend from what is there, or an entry is no entry.
    pub fn restore_block(
        &mut self,
        base: StreamId,
        names: &[ItemBytes],
        entries: &[Restored],
    ) -> bool {
        let ascends = |pair: &[Restored]| pair[0].id < pair[1].id;
        let is_entry = |at: &Restored| match at.shares_names {
            true => at.words.len() == names.len() && !names.is_empty(),
            false => at.words.len() >= 2 && at.words.len().is_multiple_of(2),
        };
        let Some(first) = entries.first() else { return true };
        let follows = first.id > self.last_id() && first.id >= base;
        if !follows || !entries.windows(2).all(ascends) || !entries.iter().all(is_entry) {
            return false;
        }
        // A base that an earlier block holds would stand before it.
        let base = if base > self.last_id() { base } else { first.id };
        let mut block = Block::named(base, names.iter().map(|name| &**name));
        for Restored { id, shares_names, words } in entries {
            let pairs = if *shares_names { words.len() } else { words.len() / 2 };
            block.push(*id, *shares_names, pairs, words.iter().map(|word| &**word));
        }
        let body = Arc::make_mut(&mut self.body);
        body.block_bytes += block.memory();
        body.len += block.len();
        body.entries_added = body.entries_added.wrapping_add(block.len() as u64);
        body.last_id = entries[entries.len() - 1].id;
        body.blocks.insert(base, Arc::new(block));
        true
    }
}
