//! A run of consecutive elements of a large list: packed bytes, or one blob.
//!
//! A packed run appends cheaply at one end of its bytes only. So a run that grows or shrinks at the
//! front of a list is kept last element first (`reversed`), and both ends of the list append. What
//! must stay true: indices of this module are the list's order, whatever the order of the bytes;
//! a blob is exactly one element.

use crate::packed::{self, Packed, Position};
use crate::{Blob, Item, Limits};
use std::sync::Arc;

/// One end of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Front,
    Back,
}

impl End {
    pub(super) fn opposite(self) -> End {
        match self {
            End::Front => End::Back,
            End::Back => End::Front,
        }
    }
}

/// From this length on an element is a blob of its own: an image then shares it instead of copying
/// it with its neighbours.
pub(super) const BLOB_BYTES_MIN: usize = 16 * 1024 + 1;

/// Bytes that a run limited by its number of elements may have: what moves when its middle changes.
const COUNTED_BYTES_MAX: usize = 8 * 1024;

/// The smallest and the largest of the sizes that `list-max-listpack-size` names by -1 to -5.
const SIZE_BYTES_MIN: usize = 4 * 1024;
const SIZE_STEPS: u32 = 5;

/// What Redis's packed form has more of than ours: its header, less the header that ours has.
const HEADER_BYTES: usize = 3;
const EMPTY_BYTES: usize = 7;

/// Redis reckons with these bytes for an element's head and tail before it opens a new run.
const ELEMENT_OVERHEAD: usize = 8;

/// How far a run may grow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    bytes: usize,
    count: usize,
    /// The size is what the setting names, so that shrinking halves it.
    sized: bool,
}

impl Bounds {
    /// What `list-max-listpack-size` means: a number of elements, or from -1 to -5 4 to 64 KiB.
    pub(super) fn new(limits: &Limits) -> Bounds {
        match limits.list_packed_size {
            size @ ..0 => {
                let steps = u32::try_from(size.unsigned_abs()).unwrap_or(SIZE_STEPS);
                let bytes = SIZE_BYTES_MIN << (steps.min(SIZE_STEPS) - 1);
                Bounds { bytes, count: usize::MAX, sized: true }
            }
            count => {
                let count = usize::try_from(count).unwrap_or(usize::MAX).max(1);
                Bounds { bytes: COUNTED_BYTES_MAX, count, sized: false }
            }
        }
    }

    /// True if a list of one run may take `added` more bytes as an element.
    pub(super) fn admit(&self, run: &Packed, added: usize) -> bool {
        listed_bytes(run) + added <= self.bytes && run.len() < self.count
    }

    /// Half of everything: below it a large list becomes small again, and neighbours join. The
    /// distance to the limits keeps lists from changing back and forth.
    pub(super) fn halved(&self) -> Bounds {
        let bytes = if self.sized { self.bytes / 2 } else { self.bytes };
        Bounds { bytes, count: self.count / 2, sized: self.sized }
    }

    /// True if a run of that size is within the bounds.
    pub(super) fn hold(&self, run: &Packed) -> bool {
        listed_bytes(run) <= self.bytes && run.len() <= self.count
    }
}

/// The size of `run` as Redis would pack it: the same for integers and strings of up to 63 bytes
/// but for a byte or two, and near enough for OBJECT ENCODING otherwise.
fn listed_bytes(run: &Packed) -> usize {
    (run.byte_len() + HEADER_BYTES).max(EMPTY_BYTES)
}

/// Consecutive elements.
#[derive(Debug, Clone)]
pub(super) enum Chunk {
    /// Many elements, the last one first if `reversed`.
    Run { packed: Packed, reversed: bool },
    /// One large element.
    Blob(Blob),
}

impl Default for Chunk {
    fn default() -> Chunk {
        Chunk::run(Packed::new())
    }
}

impl Chunk {
    pub(super) fn run(packed: Packed) -> Chunk {
        Chunk::Run { packed, reversed: false }
    }

    /// One element that will get neighbours at `end`.
    pub(super) fn of(element: &[u8], end: End) -> Chunk {
        if element.len() >= BLOB_BYTES_MIN {
            return Chunk::Blob(Arc::new(element.to_vec()));
        }
        let mut packed = Packed::new();
        packed.push_back(element);
        Chunk::Run { packed, reversed: end == End::Front }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Chunk::Run { packed, .. } => packed.len(),
            Chunk::Blob(_) => 1,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Chunk::Run { packed, .. } if packed.is_empty())
    }

    /// Bytes allocated for the elements.
    pub(super) fn memory(&self) -> usize {
        match self {
            Chunk::Run { packed, .. } => packed.memory(),
            Chunk::Blob(blob) => blob.capacity(),
        }
    }

    /// True if an element of `added` bytes may join.
    pub(super) fn admits(&self, added: usize, bounds: &Bounds) -> bool {
        match self {
            Chunk::Run { packed, .. } => {
                added < BLOB_BYTES_MIN && bounds.admit(packed, added + ELEMENT_OVERHEAD)
            }
            Chunk::Blob(_) => false,
        }
    }

    /// Lets `end` be the cheap one.
    pub(super) fn orient(&mut self, end: End) {
        if let Chunk::Run { packed, reversed } = self
            && *reversed != (end == End::Front)
        {
            *reversed = !*reversed;
            if packed.len() > 1 {
                *packed = packed.reversed();
            }
        }
    }

    /// The run in the list's order; `None` for a blob.
    pub(super) fn into_packed(mut self) -> Option<Packed> {
        self.orient(End::Back);
        match self {
            Chunk::Run { packed, .. } => Some(packed),
            Chunk::Blob(_) => None,
        }
    }

    /// True if this is a run within `bounds`.
    pub(super) fn within(&self, bounds: &Bounds) -> bool {
        matches!(self, Chunk::Run { packed, .. } if bounds.hold(packed))
    }

    /// Adds an element that [`Chunk::admits`] let in.
    pub(super) fn push(&mut self, end: End, element: &[u8]) {
        let Chunk::Run { packed, reversed } = self else { unreachable!("a blob admits nothing") };
        if *reversed == (end == End::Front) {
            packed.push_back(element);
        } else {
            packed.push_front(element);
        }
    }

    /// The element at `index < len`.
    pub(super) fn item(&self, index: usize) -> Item<'_> {
        match self {
            Chunk::Run { packed, reversed } => packed.item(place(packed, *reversed, index)),
            Chunk::Blob(blob) => Item::Bytes(blob),
        }
    }

    /// Takes `count` elements away from `index` on; `index + count <= len`.
    pub(super) fn remove(&mut self, index: usize, count: usize) {
        if count == self.len() {
            *self = Chunk::default();
        } else if let Chunk::Run { packed, reversed } = self
            && count > 0
        {
            let first = if *reversed { index + count - 1 } else { index };
            packed.remove(place(packed, *reversed, first), count);
        }
    }

    /// Puts `element` before the one at `index <= len`. Answers the chunks that this one falls
    /// into if it is full, without the first, which stays here.
    pub(super) fn insert(&mut self, index: usize, element: &[u8], bounds: &Bounds) -> Vec<Chunk> {
        if self.admits(element.len(), bounds) {
            self.insert_admitted(index, element);
            return Vec::new();
        }
        let half = self.len() / 2;
        let mut rest = self.split_off(half);
        if index <= half && self.admits(element.len(), bounds) {
            self.insert_admitted(index, element);
            self.followed_by(vec![rest])
        } else if index >= half && rest.admits(element.len(), bounds) {
            rest.insert_admitted(index - half, element);
            self.followed_by(vec![rest])
        } else if index < half {
            let behind = self.split_off(index);
            self.followed_by(vec![Chunk::of(element, End::Back), behind, rest])
        } else {
            let behind = rest.split_off(index - half);
            self.followed_by(vec![rest, Chunk::of(element, End::Back), behind])
        }
    }

    /// Puts `element` in the place of the one at `index`, if there is room. Otherwise the old one
    /// must be removed and the new one inserted.
    pub(super) fn replace(&mut self, index: usize, element: &[u8], bounds: &Bounds) -> bool {
        let room = self.admits(element.len(), bounds);
        let Chunk::Run { packed, reversed } = self else { return false };
        let at = place(packed, *reversed, index);
        let is_shorter = Packed::cost(element) <= packed.item(at).with(Packed::cost);
        let fits = room || is_shorter && bounds.hold(packed);
        if fits {
            packed.replace(at, element);
        }
        fits
    }

    /// Removes elements equal to `element`, at most `most`, beginning at `end`.
    pub(super) fn remove_matching(&mut self, element: Item<'_>, most: usize, end: End) -> usize {
        match self {
            Chunk::Run { packed, reversed } => {
                let from_first = (end == End::Front) != *reversed;
                remove_matching(packed, element, most, from_first)
            }
            Chunk::Blob(blob) => {
                let equal = most > 0 && element == Item::Bytes(blob);
                if equal {
                    *self = Chunk::default();
                }
                usize::from(equal)
            }
        }
    }

    /// True if this run and `next` together stay within `bounds`.
    pub(super) fn joins(&self, next: &Chunk, bounds: &Bounds) -> bool {
        match (self, next) {
            (Chunk::Run { packed: own, .. }, Chunk::Run { packed: other, .. }) => {
                listed_bytes(own) + listed_bytes(other) <= bounds.bytes
                    && own.len() + other.len() <= bounds.count
            }
            _ => false,
        }
    }

    /// Adds the elements of the run `next` behind the last one.
    pub(super) fn absorb(&mut self, next: &Chunk) {
        self.orient(End::Back);
        if let (Chunk::Run { packed, .. }, Chunk::Run { packed: other, reversed }) = (self, next) {
            if *reversed {
                packed.append(&other.reversed());
            } else {
                packed.append(other);
            }
        }
    }

    /// The elements from `index` on towards `end`, that one included.
    pub(super) fn walk(&self, index: usize, end: End) -> Walk<'_> {
        match self {
            Chunk::Run { packed, reversed } => {
                let at = place(packed, *reversed, index);
                if (end == End::Back) != *reversed {
                    Walk::Up(packed.iter_from(at))
                } else {
                    Walk::Down(packed.iter_until(packed.next(at).unwrap_or(packed.end())))
                }
            }
            Chunk::Blob(blob) => Walk::Blob(Some(blob)),
        }
    }

    fn insert_admitted(&mut self, index: usize, element: &[u8]) {
        let Chunk::Run { packed, reversed } = self else { unreachable!("a blob admits nothing") };
        let index = if *reversed { packed.len() - index } else { index };
        let at = packed.nth(index).unwrap_or(packed.end());
        packed.insert(at, element);
    }

    /// Moves the elements from `index` on into a chunk of their own.
    fn split_off(&mut self, index: usize) -> Chunk {
        if index == 0 {
            return std::mem::take(self);
        }
        match self {
            Chunk::Run { packed, reversed: false } => {
                let at = packed.nth(index).unwrap_or(packed.end());
                Chunk::run(packed.split_off(at))
            }
            Chunk::Run { packed, reversed: true } => {
                let at = packed.nth(packed.len() - index).expect("0 < index <= len");
                let kept = packed.split_off(at);
                let rest = std::mem::replace(packed, kept);
                Chunk::Run { packed: rest, reversed: true }
            }
            Chunk::Blob(_) => Chunk::default(),
        }
    }

    /// `rest` without empty chunks; its first one moves here if this one is empty.
    fn followed_by(&mut self, mut rest: Vec<Chunk>) -> Vec<Chunk> {
        rest.retain(|chunk| !chunk.is_empty());
        if self.is_empty() && !rest.is_empty() {
            *self = rest.remove(0);
        }
        rest
    }
}

/// Where the element with `index < len` of the list's order stands in the bytes.
fn place(packed: &Packed, reversed: bool, index: usize) -> Position {
    let index = if reversed { packed.len() - 1 - index } else { index };
    packed.nth(index).expect("the index is below the length")
}

/// Up to so many matches are cut out one by one; more are left out of a copy.
const CUTS_MAX: usize = 4;

/// Removes elements equal to `element` from `packed`, at most `most`, beginning with its first or
/// its last.
pub(super) fn remove_matching(
    packed: &mut Packed,
    element: Item<'_>,
    most: usize,
    from_first: bool,
) -> usize {
    let matches = packed.iter().filter(|item| *item == element).count();
    let removed = matches.min(most);
    let spared = if from_first { removed..matches } else { 0..matches - removed };
    let mut seen = 0;
    let mut is_removed = |item: &Item<'_>| {
        let matching = *item == element;
        seen += usize::from(matching);
        matching && !spared.contains(&(seen - 1))
    };
    if removed == 0 {
        return 0;
    }
    if removed <= CUTS_MAX {
        let mut cuts = [0; CUTS_MAX];
        let found = packed.iter().enumerate().filter(|(_, item)| is_removed(item));
        for (cut, (index, _)) in cuts.iter_mut().zip(found) {
            *cut = index;
        }
        for &index in cuts[..removed].iter().rev() {
            packed.remove(place(packed, false, index), 1);
        }
    } else {
        let mut kept = Packed::new();
        for item in packed.iter().filter(|item| !is_removed(item)) {
            item.with(|bytes| kept.push_back(bytes));
        }
        *packed = kept;
    }
    removed
}

/// A walk through one chunk.
#[derive(Debug, Clone)]
pub(super) enum Walk<'a> {
    Up(packed::Iter<'a>),
    Down(packed::Iter<'a>),
    Blob(Option<&'a [u8]>),
}

impl<'a> Iterator for Walk<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        match self {
            Walk::Up(items) => items.next(),
            Walk::Down(items) => items.next_back(),
            Walk::Blob(blob) => blob.take().map(Item::Bytes),
        }
    }
}
