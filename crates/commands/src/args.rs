//! A command's words: views into the connection's input, or owned for a transaction or a waiter.

use caudal_wire::Span;

/// The words of one command; word 0 is its name. Copies freely.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    bytes: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// Words that stand at `spans` in `bytes`.
    pub fn new(bytes: &'a [u8], spans: &'a [Span]) -> Args<'a> {
        Args { bytes, spans }
    }

    /// Number of words, the name included.
    #[inline]
    #[allow(clippy::len_without_is_empty, reason = "a command has at least its name")]
    pub fn len(self) -> usize {
        self.spans.len()
    }

    /// Bytes from the first word's beginning to the last one's end.
    #[inline]
    pub fn extent(self) -> usize {
        let end = |span: &Span| span.start as usize + span.len as usize;
        match self.spans {
            [first, .., last] => end(last) - first.start as usize,
            [only] => only.len as usize,
            [] => 0,
        }
    }

    /// The word at `index`, which the arity or a check of `len` has shown to exist.
    #[inline]
    pub fn at(self, index: usize) -> &'a [u8] {
        let span = self.spans[index];
        &self.bytes[span.start as usize..span.start as usize + span.len as usize]
    }

    /// The word at `index`, if there is one.
    #[inline]
    pub fn get(self, index: usize) -> Option<&'a [u8]> {
        (index < self.len()).then(|| self.at(index))
    }

    /// The words from `first` on.
    pub fn from(self, first: usize) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        (first.min(self.len())..self.len()).map(move |index| self.at(index))
    }

    /// The words before `end`.
    pub fn until(self, end: usize) -> Args<'a> {
        Args { spans: &self.spans[..end], ..self }
    }

    /// Whether the word at `index` is `word` in any case.
    #[inline]
    pub fn is(self, index: usize, word: &str) -> bool {
        self.get(index).is_some_and(|at| at.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Reads options from the word at `first` on.
    pub fn cursor(self, first: usize) -> Cursor<'a> {
        Cursor { args: self, next: first }
    }

    /// A copy that outlives the input.
    pub fn to_owned(self) -> OwnedArgs {
        let length = self.spans.iter().map(|span| span.len as usize).sum();
        let mut owned = OwnedArgs {
            bytes: Vec::with_capacity(length),
            spans: Vec::with_capacity(self.spans.len()),
        };
        for word in self.from(0) {
            owned.push(word);
        }
        owned
    }
}

/// Walks over optional arguments.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    args: Args<'a>,
    next: usize,
}

impl<'a> Cursor<'a> {
    /// How many words are left.
    pub fn left(&self) -> usize {
        self.args.len().saturating_sub(self.next)
    }

    /// Index of the word that comes next.
    pub fn index(&self) -> usize {
        self.next
    }

    /// Takes the next word if it is `word` in any case.
    pub fn take(&mut self, word: &str) -> bool {
        let found = self.args.is(self.next, word);
        self.next += usize::from(found);
        found
    }

    /// The next word, without taking it.
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.args.get(self.next)
    }

    /// Takes the next word.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator's `take` would shadow this one's"
    )]
    pub fn next(&mut self) -> Option<&'a [u8]> {
        let word = self.args.get(self.next)?;
        self.next += 1;
        Some(word)
    }
}

/// Words that own their bytes: queued by MULTI, kept by a waiter, or rewritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedArgs {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl OwnedArgs {
    /// A command made of `words`.
    pub fn of(words: &[&[u8]]) -> OwnedArgs {
        let mut owned = OwnedArgs::default();
        for word in words {
            owned.push(word);
        }
        owned
    }

    /// Adds a word.
    pub fn push(&mut self, word: &[u8]) {
        let place = |length: usize| u32::try_from(length).expect("a command is below 4 GiB");
        self.spans.push(Span { start: place(self.bytes.len()), len: place(word.len()) });
        self.bytes.extend_from_slice(word);
    }

    /// Forgets the words and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// The words.
    pub fn view(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.spans)
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }
}
