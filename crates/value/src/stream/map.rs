//! An ordered map by id whose clone is an image: a B+tree of shared nodes.
//!
//! Streams keep their blocks in one, groups and consumers what they have delivered. What must stay
//! true: no node is empty, all leaves stand at the same depth, an inner node's id of a child is
//! never above the child's first. A node is copied only when it is written while an image shares
//! it.

use super::StreamId;
use smallvec::SmallVec;
use std::sync::Arc;

/// Entries of a node: a leaf of 40-byte entries is 2.5 KiB to copy when an image is written to.
const FANOUT: usize = 64;
/// Neighbours with fewer entries together than this join: half full, so that a split is far away.
const JOINED_MAX: usize = FANOUT / 2;
/// Bytes of a node beside its entries: the counts, the vector's parts, the allocations' own.
const NODE_BYTES: usize = 64;

/// Values by id.
#[derive(Debug, Clone)]
pub(super) struct IdMap<V> {
    root: Option<Arc<Node<V>>>,
    len: usize,
    nodes: usize,
}

impl<V> Default for IdMap<V> {
    fn default() -> Self {
        IdMap { root: None, len: 0, nodes: 0 }
    }
}

#[derive(Debug, Clone)]
enum Node<V> {
    Leaf(Vec<(StreamId, V)>),
    Inner(Vec<(StreamId, Arc<Node<V>>)>),
}

/// A node that was split off behind another, with its first id.
type Split<V> = Option<(StreamId, Arc<Node<V>>)>;

impl<V> IdMap<V> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the nodes, but for the room that their vectors keep; what values own is not in it.
    pub(super) fn memory(&self) -> usize {
        self.nodes * NODE_BYTES + self.len * size_of::<(StreamId, V)>()
    }

    pub(super) fn get(&self, id: StreamId) -> Option<&V> {
        let mut node = self.root.as_deref()?;
        loop {
            match node {
                Node::Leaf(entries) => {
                    return find(entries, id).ok().map(|at| &entries[at].1);
                }
                Node::Inner(children) => node = &children[child_of(children, id)].1,
            }
        }
    }

    pub(super) fn first(&self) -> Option<(StreamId, &V)> {
        self.ascending(StreamId::MIN).next()
    }

    pub(super) fn last(&self) -> Option<(StreamId, &V)> {
        self.descending(StreamId::MAX).next()
    }

    /// The entries from `from` on.
    pub(super) fn ascending(&self, from: StreamId) -> Ascending<'_, V> {
        let (mut path, mut node) = (Path::new(), self.root.as_deref());
        while let Some(Node::Inner(children)) = node {
            let at = child_of(children, from);
            path.push((children, at + 1));
            node = Some(&*children[at].1);
        }
        let leaf = match node {
            Some(Node::Leaf(entries)) => {
                let at = find(entries, from).unwrap_or_else(|at| at);
                &entries[at..]
            }
            _ => &[],
        };
        Ascending { path, leaf }
    }

    /// The entries from `from` on, backwards.
    pub(super) fn descending(&self, from: StreamId) -> Descending<'_, V> {
        let (mut path, mut node) = (Path::new(), self.root.as_deref());
        while let Some(Node::Inner(children)) = node {
            let at = child_of(children, from);
            path.push((children, at));
            node = Some(&*children[at].1);
        }
        let leaf = match node {
            Some(Node::Leaf(entries)) => {
                let end = find(entries, from).map_or_else(|at| at, |at| at + 1);
                &entries[..end]
            }
            _ => &[],
        };
        Descending { path, leaf }
    }
}

impl<V: Clone> IdMap<V> {
    pub(super) fn get_mut(&mut self, id: StreamId) -> Option<&mut V> {
        // A miss copies nothing.
        self.get(id)?;
        let mut node = Arc::make_mut(self.root.as_mut()?);
        loop {
            match node {
                Node::Leaf(entries) => {
                    let at = find(entries, id).ok()?;
                    return Some(&mut entries[at].1);
                }
                Node::Inner(children) => {
                    let at = child_of(children, id);
                    node = Arc::make_mut(&mut children[at].1);
                }
            }
        }
    }

    /// The last entry's value.
    pub(super) fn last_mut(&mut self) -> Option<&mut V> {
        let mut node = Arc::make_mut(self.root.as_mut()?);
        loop {
            match node {
                Node::Leaf(entries) => return entries.last_mut().map(|(_, value)| value),
                Node::Inner(children) => {
                    let (_, last) = children.last_mut().expect("no node is empty");
                    node = Arc::make_mut(last);
                }
            }
        }
    }

    /// Puts a value in, and gives the one that it replaces.
    pub(super) fn insert(&mut self, id: StreamId, value: V) -> Option<V> {
        let Some(root) = &mut self.root else {
            self.root = Some(Arc::new(Node::Leaf(vec![(id, value)])));
            (self.len, self.nodes) = (1, 1);
            return None;
        };
        let (old, split) = Arc::make_mut(root).insert(id, value, &mut self.nodes);
        self.len += usize::from(old.is_none());
        if let Some(split) = split {
            let root = self.root.take().expect("it was split");
            self.root = Some(Arc::new(Node::Inner(vec![(StreamId::MIN, root), split])));
            self.nodes += 1;
        }
        old
    }

    /// Takes a value out.
    pub(super) fn remove(&mut self, id: StreamId) -> Option<V> {
        // A miss copies nothing.
        self.get(id)?;
        let value = Arc::make_mut(self.root.as_mut()?).remove(id, &mut self.nodes);
        self.len -= 1;
        self.lower();
        Some(value)
    }

    /// Takes roots away that are empty or lead to one node only.
    fn lower(&mut self) {
        while let Some(root) = &self.root {
            self.root = match &**root {
                Node::Leaf(entries) if entries.is_empty() => None,
                Node::Inner(children) if children.len() == 1 => Some(Arc::clone(&children[0].1)),
                _ => return,
            };
            self.nodes -= 1;
        }
    }
}

impl<V: Clone> Node<V> {
    fn len(&self) -> usize {
        match self {
            Node::Leaf(entries) => entries.len(),
            Node::Inner(children) => children.len(),
        }
    }

    fn insert(&mut self, id: StreamId, value: V, nodes: &mut usize) -> (Option<V>, Split<V>) {
        match self {
            Node::Leaf(entries) => match find(entries, id) {
                Ok(at) => (Some(std::mem::replace(&mut entries[at].1, value)), None),
                Err(at) => {
                    entries.insert(at, (id, value));
                    let split = split(entries, at);
                    *nodes += usize::from(split.is_some());
                    (None, split.map(|entries| (entries[0].0, Arc::new(Node::Leaf(entries)))))
                }
            },
            Node::Inner(children) => {
                let at = child_of(children, id);
                let (first, child) = &mut children[at];
                *first = id.min(*first);
                let (old, new) = Arc::make_mut(child).insert(id, value, nodes);
                let Some(new) = new else { return (old, None) };
                children.insert(at + 1, new);
                let split = split(children, at + 1);
                *nodes += usize::from(split.is_some());
                (old, split.map(|children| (children[0].0, Arc::new(Node::Inner(children)))))
            }
        }
    }

    /// Takes out a value that is there. The node may be left empty.
    fn remove(&mut self, id: StreamId, nodes: &mut usize) -> V {
        match self {
            Node::Leaf(entries) => {
                let at = find(entries, id).expect("the caller has looked");
                entries.remove(at).1
            }
            Node::Inner(children) => {
                let at = child_of(children, id);
                let child = Arc::make_mut(&mut children[at].1);
                let value = child.remove(id, nodes);
                if child.len() == 0 {
                    children.remove(at);
                    *nodes -= 1;
                } else if child.len() < JOINED_MAX {
                    join(children, at, nodes);
                    join(children, at.wrapping_sub(1), nodes);
                }
                value
            }
        }
    }
}

/// Splits a node that has grown too long by an entry at `at`. One that grew at its end stays full:
/// ids come in order.
fn split<T>(entries: &mut Vec<(StreamId, T)>, at: usize) -> Option<Vec<(StreamId, T)>> {
    if entries.len() <= FANOUT {
        return None;
    }
    let kept = if at + 1 == entries.len() { at } else { entries.len() / 2 };
    Some(entries.split_off(kept))
}

/// Joins the child at `at` with the one behind it if both are small.
fn join<V: Clone>(children: &mut Vec<(StreamId, Arc<Node<V>>)>, at: usize, nodes: &mut usize) {
    let Some([(_, left), (_, right)]) = children.get_mut(at..).and_then(<[_]>::first_chunk_mut)
    else {
        return;
    };
    if left.len() + right.len() > JOINED_MAX {
        return;
    }
    match (Arc::make_mut(left), &**right) {
        (Node::Leaf(own), Node::Leaf(other)) => own.extend_from_slice(other),
        (Node::Inner(own), Node::Inner(other)) => own.extend_from_slice(other),
        _ => unreachable!("all leaves stand at the same depth"),
    }
    children.remove(at + 1);
    *nodes -= 1;
}

fn find<T>(entries: &[(StreamId, T)], id: StreamId) -> Result<usize, usize> {
    entries.binary_search_by_key(&id, |(id, _)| *id)
}

/// The child that holds `id` if any does.
fn child_of<T>(children: &[(StreamId, T)], id: StreamId) -> usize {
    children.partition_point(|(first, _)| *first <= id).saturating_sub(1)
}

/// The inner nodes above a walk, each with the index of the child to enter next, or for a walk
/// backwards of the one that was entered.
type Path<'a, V> = SmallVec<[(&'a [(StreamId, Arc<Node<V>>)], usize); 4]>;

/// A walk over an [`IdMap`] in order.
#[derive(Debug, Clone)]
pub(super) struct Ascending<'a, V> {
    path: Path<'a, V>,
    leaf: &'a [(StreamId, V)],
}

impl<'a, V> Iterator for Ascending<'a, V> {
    type Item = (StreamId, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        while self.leaf.is_empty() {
            let (children, next) = self.path.last_mut()?;
            let Some((_, child)) = children.get(*next) else {
                self.path.pop();
                continue;
            };
            *next += 1;
            match &**child {
                Node::Leaf(entries) => self.leaf = entries,
                Node::Inner(children) => self.path.push((children, 0)),
            }
        }
        let ((id, value), rest) = self.leaf.split_first()?;
        self.leaf = rest;
        Some((*id, value))
    }
}

/// A walk over an [`IdMap`] backwards.
#[derive(Debug, Clone)]
pub(super) struct Descending<'a, V> {
    path: Path<'a, V>,
    leaf: &'a [(StreamId, V)],
}

impl<'a, V> Iterator for Descending<'a, V> {
    type Item = (StreamId, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        while self.leaf.is_empty() {
            let (children, entered) = self.path.last_mut()?;
            if *entered == 0 {
                self.path.pop();
                continue;
            }
            *entered -= 1;
            match &*children[*entered].1 {
                Node::Leaf(entries) => self.leaf = entries,
                Node::Inner(children) => self.path.push((children, children.len())),
            }
        }
        let ((id, value), rest) = self.leaf.split_last()?;
        self.leaf = rest;
        Some((*id, value))
    }
}

#[cfg(test)]
impl<V: Clone> IdMap<V> {
    /// Asserts what must stay true.
    pub(super) fn check(&self) {
        let mut counted = (0, 0);
        let depth = self.root.as_ref().map(|root| root.check(StreamId::MIN, &mut counted));
        assert_eq!((self.len, self.nodes), counted, "{depth:?}");
        let ids = self.ascending(StreamId::MIN).map(|(id, _)| id);
        assert!(ids.is_sorted_by(|a, b| a < b));
    }
}

#[cfg(test)]
impl<V: Clone> Node<V> {
    fn check(&self, above: StreamId, counted: &mut (usize, usize)) -> usize {
        assert!((1..=FANOUT).contains(&self.len()));
        counted.1 += 1;
        match self {
            Node::Leaf(entries) => {
                assert!(entries[0].0 >= above);
                counted.0 += entries.len();
                0
            }
            Node::Inner(children) => {
                assert!(children[0].0 >= above);
                let depths = children.iter().map(|(first, child)| child.check(*first, counted));
                let depths: Vec<usize> = depths.collect();
                assert!(depths.iter().all(|depth| *depth == depths[0]));
                depths[0] + 1
            }
        }
    }
}
