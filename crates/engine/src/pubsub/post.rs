//! A worker's post: messages for its connections, in the order in which they were posted.

use super::message::Publication;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A message for connections of one worker.
#[derive(Clone)]
pub(crate) enum Post {
    /// Something was published to a channel.
    Published(Arc<Publication>),
}

/// Where others leave a worker's post.
#[derive(Default)]
pub(crate) struct Postbox {
    posts: Mutex<Vec<Post>>,
    /// Whether `posts` may hold something: read without the lock.
    full: AtomicBool,
}

impl Postbox {
    /// Leaves a message. True: it is the first since the worker last looked, who may be asleep.
    pub(crate) fn leave(&self, post: Post) -> bool {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner).push(post);
        !self.full.swap(true, Ordering::AcqRel)
    }

    /// Whether there is something to take.
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Acquire)
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
    pub(super) fn pop(&mut self) -> Option<(u64, Post)> {
        let post = self.pending.pop_front()?;
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

    #[test]
    fn posts_keep_their_numbers() {
        let publication = |name: &[u8]| {
            let channel = name.into();
            let is_shard = false;
            Post::Published(Arc::new(Publication {
                is_shard,
                channel,
                message: None,
                matched: Vec::new(),
            }))
        };
        let (postbox, mut inbox) = (Postbox::default(), Inbox::default());
        assert!(postbox.leave(publication(b"a")));
        assert!(!postbox.leave(publication(b"b")));
        inbox.take(&postbox);
        assert_eq!((inbox.end(), inbox.since(1).count()), (2, 1));
        assert_eq!(inbox.pop().map(|(number, _)| number), Some(0));
        assert!(postbox.leave(publication(b"c")));
        inbox.take(&postbox);
        assert_eq!((inbox.end(), inbox.since(0).count(), inbox.since(3).count()), (3, 2, 0));
    }
}
