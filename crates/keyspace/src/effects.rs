//! The effects of commands: each write as the deterministic commands that redo it.
//!
//! Beside them the news of keys for whoever listens: both follow from every change.
//!
//! Nothing is kept while no journal, replica or test listens. What must stay true: replaying the
//! effects from an empty keyspace, in order, gives the same keyspace.

use crate::News;

/// The effects of the commands run so far, as RESP commands.
#[derive(Default)]
pub struct Effects {
    /// What is told of keys.
    pub news: News,
    listening: bool,
    bytes: Vec<u8>,
    /// Database of the last effect in `bytes`.
    selected: Option<u8>,
    count: u64,
}

/// Where a transaction's effects begin.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    at: usize,
    selected: Option<u8>,
    count: u64,
}

impl Effects {
    /// Keeps the effects from now on: somebody will take them.
    pub fn listen(&mut self) {
        self.listening = true;
    }

    /// Whether anybody listens; if not, making effects can be left out.
    #[inline]
    pub fn wanted(&self) -> bool {
        self.listening
    }

    /// Adds one command on `database`.
    pub fn push<'w>(&mut self, database: u8, words: impl ExactSizeIterator<Item = &'w [u8]>) {
        if !self.listening {
            return;
        }
        if self.selected != Some(database) {
            self.selected = Some(database);
            let number = database.to_string();
            self.encode([b"SELECT".as_slice(), number.as_bytes()].into_iter());
        }
        self.encode(words);
        self.count += 1;
    }

    /// Marks where a transaction's effects begin.
    pub fn begin(&self) -> Begun {
        Begun { at: self.bytes.len(), selected: self.selected, count: self.count }
    }

    /// Puts MULTI and EXEC around the effects since `begun`, if there are any.
    pub fn commit(&mut self, begun: Begun) {
        if self.count == begun.count {
            return;
        }
        self.bytes.splice(begun.at..begun.at, *b"*1\r\n$5\r\nMULTI\r\n");
        self.bytes.extend_from_slice(b"*1\r\n$4\r\nEXEC\r\n");
    }

    /// Forgets the effects since `begun`: what had them was undone.
    pub fn withdraw(&mut self, begun: Begun) {
        self.bytes.truncate(begun.at);
        self.selected = begun.selected;
        self.count = begun.count;
    }

    /// The same where several effects of one command were added; one alone needs nothing around it.
    pub fn commit_several(&mut self, begun: Begun) {
        if self.count > begun.count + 1 {
            self.commit(begun);
        }
    }

    /// How many were added so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes the bytes; the next effect names its database again.
    pub fn take(&mut self) -> Vec<u8> {
        self.selected = None;
        std::mem::take(&mut self.bytes)
    }

    fn encode<'w>(&mut self, words: impl ExactSizeIterator<Item = &'w [u8]>) {
        self.bytes.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
        for word in words {
            self.bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            self.bytes.extend_from_slice(word);
            self.bytes.extend_from_slice(b"\r\n");
        }
    }
}
