//! A counted sequence of chunks: the middle of a large list.
//!
//! A tree of nodes with up to [`FANOUT`] children, each with the number of elements below it, so
//! that an index leads to its chunk in one or two steps even for millions of elements (2,300 chunks
//! of 8 KiB hold a million of 16 bytes: two levels). Chunks and nodes are shared with images and
//! copied when they are written while shared. What must stay true: no chunk and no node is empty,
//! all chunks stand at the same depth, each count is the sum of what is below it.

use super::chunk::{Bounds, Chunk, End};
use std::sync::Arc;

/// Children of a node: 64 entries of 24 bytes are 1.5 KiB to copy when an image is written to.
const FANOUT: usize = 64;

/// Neighbours with fewer children together than this join: half full, so that a split is far away.
const JOINED_MAX: usize = FANOUT / 2;

/// Bytes of a chunk beside its elements: its entry in a node, and its counted box.
const CHUNK_OVERHEAD: usize = size_of::<Child>() + size_of::<Chunk>() + 2 * size_of::<usize>();

/// The chunks between the first and the last one of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    root: Option<Arc<Node>>,
    len: usize,
    tally: Tally,
}

/// What stands in the whole tree.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    chunks: usize,
    bytes: usize,
}

impl Tally {
    fn add(&mut self, chunk: &Chunk) {
        self.chunks += 1;
        self.bytes += chunk.memory();
    }

    fn subtract(&mut self, chunk: &Chunk) {
        self.chunks -= 1;
        self.bytes -= chunk.memory();
    }
}

#[derive(Debug, Clone, Default)]
struct Node {
    children: Vec<Child>,
}

#[derive(Debug, Clone)]
struct Child {
    /// Elements below.
    len: usize,
    link: Link,
}

#[derive(Debug, Clone)]
enum Link {
    Chunk(Arc<Chunk>),
    Node(Arc<Node>),
}

impl Tree {
    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes allocated, nodes and elements.
    pub(super) fn memory(&self) -> usize {
        self.tally.bytes + self.tally.chunks * CHUNK_OVERHEAD
    }

    /// The chunk of the element with that index, and the element's index in it.
    pub(super) fn find(&self, mut index: usize) -> Option<(&Chunk, usize)> {
        let mut node = self.root.as_ref()?;
        loop {
            let (at, offset) = node.seek(index)?;
            index = offset;
            match &node.children[at].link {
                Link::Chunk(chunk) => return Some((chunk, index)),
                Link::Node(below) => node = below,
            }
        }
    }

    /// Adds a chunk, not empty, at one end.
    pub(super) fn push(&mut self, end: End, chunk: Chunk) {
        debug_assert!(!chunk.is_empty(), "an empty chunk has no place");
        self.tally.add(&chunk);
        self.len += chunk.len();
        let child = Child::chunk(chunk);
        match &mut self.root {
            None => self.root = Some(Arc::new(Node { children: vec![child] })),
            Some(root) => {
                let sibling = Arc::make_mut(root).push(end, child);
                self.raise(sibling, end);
            }
        }
    }

    /// Takes the chunk at one end out.
    pub(super) fn pop(&mut self, end: End) -> Option<Chunk> {
        let chunk = Arc::make_mut(self.root.as_mut()?).pop(end);
        self.tally.subtract(&chunk);
        self.len -= chunk.len();
        self.lower();
        Some(Arc::try_unwrap(chunk).unwrap_or_else(|shared| Chunk::clone(&shared)))
    }

    /// Calls `change` with the chunk of the element with that index and the element's index in it,
    /// and puts the chunks that it answers behind that one. What became empty goes; what became
    /// small joins its neighbour within `bounds`.
    pub(super) fn update(
        &mut self,
        index: usize,
        bounds: &Bounds,
        change: impl FnOnce(&mut Chunk, usize) -> Vec<Chunk>,
    ) {
        let root = Arc::make_mut(self.root.as_mut().expect("the index is below the length"));
        let sibling = root.update(index, bounds, &mut self.tally, change);
        self.len = root.len() + sibling.as_ref().map_or(0, |child| child.len);
        self.raise(sibling, End::Back);
        self.lower();
    }

    /// Asserts what must stay true.
    #[cfg(test)]
    pub(super) fn check(&self) {
        let mut tally = Tally::default();
        let len = self.root.as_ref().map_or(0, |root| root.check(&mut tally).0);
        assert_eq!(len, self.len, "the length is the sum");
        assert_eq!((tally.chunks, tally.bytes), (self.tally.chunks, self.tally.bytes));
    }

    /// Puts a new root over the old one and the node that it lost.
    fn raise(&mut self, sibling: Option<Child>, end: End) {
        let Some(sibling) = sibling else { return };
        let root = Child::node(self.root.take().expect("a root was split"));
        let children = match end {
            End::Front => vec![sibling, root],
            End::Back => vec![root, sibling],
        };
        self.root = Some(Arc::new(Node { children }));
    }

    /// Takes roots away that lead to one node only.
    fn lower(&mut self) {
        while let Some(root) = &self.root {
            self.root = match &root.children[..] {
                [] => None,
                [Child { link: Link::Node(below), .. }] => Some(Arc::clone(below)),
                _ => return,
            };
        }
    }
}

impl Child {
    fn chunk(chunk: Chunk) -> Child {
        Child { len: chunk.len(), link: Link::Chunk(Arc::new(chunk)) }
    }

    fn node(node: Arc<Node>) -> Child {
        Child { len: node.len(), link: Link::Node(node) }
    }
}

impl Node {
    fn len(&self) -> usize {
        self.children.iter().map(|child| child.len).sum()
    }

    /// The child that holds the element with that index, and the element's index in it.
    fn seek(&self, mut index: usize) -> Option<(usize, usize)> {
        for (at, child) in self.children.iter().enumerate() {
            if index < child.len {
                return Some((at, index));
            }
            index -= child.len;
        }
        None
    }

    fn edge(&self, end: End) -> usize {
        match end {
            End::Front => 0,
            End::Back => self.children.len() - 1,
        }
    }

    /// Answers the node that this one had to split off, at the same end.
    fn push(&mut self, end: End, new: Child) -> Option<Child> {
        let edge = self.edge(end);
        let child = &mut self.children[edge];
        let new = match &mut child.link {
            Link::Chunk(_) => new,
            Link::Node(below) => {
                child.len += new.len;
                let sibling = Arc::make_mut(below).push(end, new)?;
                child.len -= sibling.len;
                sibling
            }
        };
        if self.children.len() == FANOUT {
            // The old node stays full: a list that grows at its end has no half-empty nodes.
            return Some(Child::node(Arc::new(Node { children: vec![new] })));
        }
        self.children.insert(if end == End::Front { 0 } else { edge + 1 }, new);
        None
    }

    fn pop(&mut self, end: End) -> Arc<Chunk> {
        let edge = self.edge(end);
        let child = &mut self.children[edge];
        let (chunk, gone) = match &mut child.link {
            Link::Chunk(chunk) => (Arc::clone(chunk), true),
            Link::Node(below) => {
                let below = Arc::make_mut(below);
                let chunk = below.pop(end);
                child.len -= chunk.len();
                (chunk, below.children.is_empty())
            }
        };
        if gone {
            self.children.remove(edge);
        }
        chunk
    }

    /// Answers the node behind this one that it had to split off.
    fn update(
        &mut self,
        index: usize,
        bounds: &Bounds,
        tally: &mut Tally,
        change: impl FnOnce(&mut Chunk, usize) -> Vec<Chunk>,
    ) -> Option<Child> {
        let (at, offset) = self.seek(index).expect("the index is below the length");
        let child = &mut self.children[at];
        let added: Vec<Child> = match &mut child.link {
            Link::Chunk(chunk) => {
                // Before the copy, whose allocation may be smaller.
                tally.subtract(chunk);
                let chunk = Arc::make_mut(chunk);
                let added = change(chunk, offset);
                tally.add(chunk);
                child.len = chunk.len();
                added.into_iter().inspect(|chunk| tally.add(chunk)).map(Child::chunk).collect()
            }
            Link::Node(below) => {
                let below = Arc::make_mut(below);
                let sibling = below.update(offset, bounds, tally, change);
                child.len = below.len();
                sibling.into_iter().collect()
            }
        };
        if child.len == 0 {
            if let Link::Chunk(chunk) = &child.link {
                tally.subtract(chunk);
            }
            self.children.remove(at);
        } else if added.is_empty() {
            self.join(at, bounds, tally);
            self.join(at.wrapping_sub(1), bounds, tally);
        } else {
            self.children.splice(at + 1..at + 1, added);
        }
        (self.children.len() > FANOUT).then(|| {
            let children = self.children.split_off(self.children.len() / 2);
            Child::node(Arc::new(Node { children }))
        })
    }

    /// Joins the child at `at` with the one behind it if both are small.
    fn join(&mut self, at: usize, bounds: &Bounds, tally: &mut Tally) {
        let Some([left, right]) = self.children.get_mut(at..).and_then(<[_]>::first_chunk_mut)
        else {
            return;
        };
        match (&mut left.link, &mut right.link) {
            (Link::Chunk(own), Link::Chunk(other)) => {
                // Not copied for nothing: halved bounds are asked before the chunk is written.
                let bounds = bounds.halved();
                if !own.joins(other, &bounds) {
                    return;
                }
                tally.subtract(own);
                tally.subtract(other);
                let own = Arc::make_mut(own);
                own.absorb(other);
                tally.add(own);
            }
            (Link::Node(own), Link::Node(other)) => {
                if own.children.len() + other.children.len() > JOINED_MAX {
                    return;
                }
                Arc::make_mut(own).children.extend(other.children.iter().cloned());
            }
            _ => unreachable!("all chunks stand at the same depth"),
        }
        left.len += right.len;
        self.children.remove(at + 1);
    }

    /// Elements and depth below.
    #[cfg(test)]
    fn check(&self, tally: &mut Tally) -> (usize, usize) {
        assert!((1..=FANOUT).contains(&self.children.len()));
        let mut depths = Vec::new();
        for child in &self.children {
            let (len, depth) = match &child.link {
                Link::Chunk(chunk) => {
                    tally.add(chunk);
                    (chunk.len(), 0)
                }
                Link::Node(node) => node.check(tally),
            };
            assert!(len > 0 && len == child.len, "each count is the sum of what is below it");
            depths.push(depth);
        }
        assert!(depths.iter().all(|depth| *depth == depths[0]), "all chunks at one depth");
        (self.len(), depths[0] + 1)
    }
}
