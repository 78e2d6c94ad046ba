//! A worker's post: messages for its connections, in the order in which they were posted.
//!
//! Publishers may be faster than a worker that has many receivers. What must stay true: what waits
//! in a worker's box is bounded; beyond the bound the box is flooded, and commands that would add
//! to it are held back (by dispatch) until it is empty.

use super::message::Publication;
use crate::tracking::{Broadcast, Invalidation};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A message for connections of one worker.
#[derive(Clone)]
pub(crate) enum Post {
    /// Something was published to a channel.
    Published(Arc<Publication>),
    /// A key changed that a connection, which tracks, has read.
    Invalidated { connection: u64, what: Arc<Invalidation> },
    /// As above, for the connection that another one redirects to.
    Redirected { connection: u64, what: Arc<Invalidation> },
    /// Keys changed with a prefix that connections want all changes of.
    Broadcast(Arc<Broadcast>),
    /// Everything is gone: for all that track.
    Flushed,
    /// A line of MONITOR.
    Monitored(Arc<[u8]>),
}

impl Post {
    /// What it counts for in a box: one, and one for each KiB.
    fn weight(&self) -> usize {
        let bytes = match self {
            Post::Published(publication) => publication.bytes(),
            Post::Invalidated { what, .. } | Post::Redirected { what, .. } => what.bytes(),
            Post::Broadcast(broadcast) => broadcast.bytes(),
            Post::Flushed => 0,
            Post::Monitored(line) => line.len(),
        };
        1 + bytes / 1024
    }
}

/// Weight of the post in a box that makes it flooded: some milliseconds of a worker's work while
/// messages have few receivers, and at most 16 MiB.
const FLOOD_WEIGHT: usize = 16 << 10;

/// How many boxes are flooded.
#[derive(Default)]
pub(crate) struct Floods(AtomicUsize);

impl Floods {
    /// Whether any box is.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// Where others leave a worker's post.
#[derive(Default)]
pub(crate) struct Postbox {
    posts: Mutex<Vec<Post>>,
    /// Whether `posts` may hold something: read without the lock.
    full: AtomicBool,
    /// Weight of all that was left and not yet given out.
    weight: AtomicUsize,
    flooded: AtomicBool,
}

impl Postbox {
    /// Leaves a message. True: it is the first since the worker last looked, who may be asleep.
    pub(crate) fn leave(&self, post: Post, floods: &Floods) -> bool {
        let added = post.weight();
        let weight = added + self.weight.fetch_add(added, Ordering::Relaxed);
        if weight > FLOOD_WEIGHT && !self.flooded.swap(true, Ordering::AcqRel) {
            floods.0.fetch_add(1, Ordering::AcqRel);
        }
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).push(post);
        !self.full.swap(true, Ordering::AcqRel)
    }

    /// Whether there is something to take.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
    }

    /// The worker has given out all its post. True: no box is flooded any more, and this one was.
    pub(crate) fn end_flood(&self, floods: &Floods) -> bool {
        self.flooded.load(Ordering::Relaxed)
            && self.flooded.swap(false, Ordering::AcqRel)
            && floods.0.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn take_into(&self, pending: &mut VecDeque<Post>) {
        if self.full.swap(false, Ordering::AcqRel) {
            let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
            pending.extend(posts.drain(..));
        }
    }
}

/// Post that its worker has taken and not yet given to all its receivers.
#[derive(Default)]
pub(crate) struct Inbox {
    pending: VecDeque<Post>,
    /// Number of the first one: posts are numbered as they are taken.
    first: u64,
}

impl Inbox {
    /// Takes what was left in the box.
    pub(crate) fn take(&mut self, postbox: &Postbox) {
        postbox.take_into(&mut self.pending);
    }

    /// Takes the first one out, with its number.
    pub(super) fn pop(&mut self, postbox: &Postbox) -> Option<(u64, Post)> {
        let post = self.pending.pop_front()?;
        postbox.weight.fetch_sub(post.weight(), Ordering::Relaxed);
        self.first += 1;
        Some((self.first - 1, post))
    }

    /// The number that the next post to be taken will have.
    pub(super) fn end(&self) -> u64 {
        self.first + self.pending.len() as u64
    }

    /// Those numbered `from` and later.
    pub(super) fn since(&self, from: u64) -> impl Iterator<Item = &Post> {
        let passed = usize::try_from(from.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.pending.iter().skip(passed)
    }

    /// Whether nothing waits here.
    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pubsub::message::Publication;

    fn publication(channel: &[u8]) -> Post {
        let (channel, matched) = (channel.into(), Vec::new());
        let publication = Publication { is_shard: false, channel, message: None, matched };
        Post::Published(Arc::new(publication))
    }

    #[test]
    fn posts_keep_their_numbers() {
        let (postbox, mut inbox, floods) =
            (Postbox::default(), Inbox::default(), Floods::default());
        assert!(postbox.leave(publication(b"a"), &floods));
        assert!(!postbox.leave(publication(b"b"), &floods));
        inbox.take(&postbox);
        assert_eq!((inbox.end(), inbox.since(1).count()), (2, 1));
        assert_eq!(inbox.pop(&postbox).map(|(number, _)| number), Some(0));
        assert!(postbox.leave(publication(b"c"), &floods));
        inbox.take(&postbox);
        assert_eq!((inbox.end(), inbox.since(0).count(), inbox.since(3).count()), (3, 2, 0));
    }

    #[test]
    fn a_box_is_flooded_from_its_limit_until_it_is_empty() {
        let (postbox, mut inbox, floods) =
            (Postbox::default(), Inbox::default(), Floods::default());
        for _ in 0..FLOOD_WEIGHT {
            postbox.leave(publication(b"a"), &floods);
        }
        assert!(!floods.any());
        postbox.leave(publication(b"a"), &floods);
        assert!(floods.any());
        inbox.take(&postbox);
        while inbox.pop(&postbox).is_some() {}
        assert!(postbox.end_flood(&floods) && !floods.any());
        assert!(!postbox.end_flood(&floods));
        assert_eq!(postbox.weight.into_inner(), 0);
    }
}
