//! A large hash of which some fields are to end.
//!
//! The tree of its fields, each with its moment where it has one, and beside it a tree of what ends
//! when: the moment and the hash of the field, 12 bytes. What must stay true: an entry of `due` for
//! each moment and hash that a field of `fields` has, and no other; fields that share both share
//! the entry.

use crate::Item;
use crate::seed;
use crate::tree::{Due, Entry, Fields, Place, Tree};

#[derive(Debug, Clone)]
pub(super) struct Timed {
    pub(super) fields: Tree<Fields>,
    due: Tree<Due>,
}

impl Timed {
    /// No field of `fields` has a moment.
    pub(super) fn new(fields: Tree<Fields>) -> Timed {
        Timed { fields, due: Tree::new() }
    }

    /// Whether no field has a moment: the hash need not be of this form.
    pub(super) fn is_plain(&self) -> bool {
        self.due.len() == 0
    }

    /// The lowest moment of any field.
    pub(super) fn first_moment(&self) -> Option<u64> {
        Some(self.due.nth(0)?.word())
    }

    /// Bytes allocated.
    pub(super) fn memory(&self) -> usize {
        size_of::<Timed>() + self.fields.memory() + self.due.memory()
    }

    pub(super) fn find(&self, field: &[u8]) -> Option<Place<'_, Fields>> {
        self.fields.find(seed::hash(field), field)
    }

    /// Sets a field's value and moment. True when the field is new.
    pub(super) fn insert(&mut self, field: &[u8], value: &[u8], moment: Option<u64>) -> bool {
        let word = seed::hash(field);
        let before = self.fields.find(word, field).and_then(|place| place.moment());
        let added = self.fields.insert(&Entry::new(word, field).value(value).moment(moment));
        if before != moment {
            self.forget(word, before);
            if let Some(moment) = moment {
                self.due.insert(&Entry::new(moment, &word.to_be_bytes()));
            }
        }
        added
    }

    /// Takes a field away. True when it existed.
    pub(super) fn remove(&mut self, field: &[u8]) -> bool {
        let word = seed::hash(field);
        let Some(place) = self.fields.find(word, field) else { return false };
        let before = place.moment();
        self.fields.remove_found(word, field);
        self.forget(word, before);
        true
    }

    /// Takes up to `max` fields away whose moment is before `now`, giving each to `each`. Returns
    /// how many.
    pub(super) fn drop_dead(
        &mut self,
        now: u64,
        max: usize,
        mut each: impl FnMut(Item<'_>),
    ) -> usize {
        let mut dropped = 0;
        while dropped < max {
            let Some(first) = self.due.nth(0).filter(|first| first.word() < now) else { break };
            let moment = first.word();
            let word = first.key().first_chunk().expect("a key of this tree is a hash");
            let word = u32::from_be_bytes(*word);
            let field = self.with(word, moment).expect("a field has the moment");
            let field = field.key().to_vec();
            each(Item::Bytes(&field));
            self.remove(&field);
            dropped += 1;
        }
        dropped
    }

    /// A field of that hash had a moment and has it no more.
    fn forget(&mut self, word: u32, moment: Option<u64>) {
        if let Some(moment) = moment
            && self.with(word, moment).is_none()
        {
            self.due.remove(moment, &word.to_be_bytes());
        }
    }

    /// A field with that hash and moment.
    fn with(&self, word: u32, moment: u64) -> Option<Place<'_, Fields>> {
        let (Ok(index) | Err(index)) = self.fields.rank(word, &[]);
        let mut same = self.fields.iter_from(index).take_while(|place| place.word() == word);
        same.find(|place| place.moment() == Some(moment))
    }
}
