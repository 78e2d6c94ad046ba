//! What a connection still has to send.
//!
//! Last on a request's path: replies are appended to the tail, the worker sends from the front.
//! Usually it is one buffer; long values are queued as shared blobs without a copy, in order with
//! the bytes. What must stay true: `bytes()` counts each byte from its append to its `advance`,
//! once, in order.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::ops::Range;
use std::sync::Arc;

/// From this size on a value is sent from where it lies. Below, a copy costs less than a piece.
pub const BLOB_BYTES_MIN: usize = 16 * 1024;

/// Sent bytes are cut from the front of a buffer when they are more than this and than half of it,
/// so that a connection which is never quite empty does not grow, and each byte moves at most once.
const SENT_BYTES_MIN: usize = 4 * 1024;

/// A queue of bytes and shared blobs.
#[derive(Debug, Default)]
pub struct Output {
    /// Everything before the tail, if there is more than the tail.
    queue: Option<Box<Queue>>,
    tail: Vec<u8>,
    /// Bytes of the front piece that are sent. sent <= its length
    sent: usize,
}

const _: () = assert!(size_of::<Output>() <= 64);

#[derive(Debug, Default)]
struct Queue {
    pieces: VecDeque<Piece>,
    /// Sum of their lengths.
    bytes: usize,
    /// Pieces that left at the front: gives a piece a number that stays.
    left: usize,
}

#[derive(Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Blob { blob: Arc<Vec<u8>>, range: Range<usize> },
}

impl Piece {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Blob { blob, range } => &blob[range.clone()],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Blob { range, .. } => range.len(),
        }
    }
}

/// A place in an output where something is to be inserted later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    piece: usize,
    offset: usize,
}

impl Output {
    /// Nothing to send, no memory held.
    pub const fn new() -> Self {
        Self { queue: None, tail: Vec::new(), sent: 0 }
    }

    /// Bytes to send.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.bytes) + self.tail.len() - self.sent
    }

    /// Nothing to send.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// Bytes of memory held by buffers; blobs belong to whoever shares them.
    pub fn bytes_held(&self) -> usize {
        let queued = self.queue.as_ref().map_or(0, |queue| {
            let buffers = queue.pieces.iter().map(|piece| match piece {
                Piece::Bytes(bytes) => bytes.capacity(),
                Piece::Blob { .. } => 0,
            });
            size_of::<Queue>()
                + queue.pieces.capacity() * size_of::<Piece>()
                + buffers.sum::<usize>()
        });
        queued + self.tail.capacity()
    }

    /// The buffer to append to. Its bytes may not be removed or changed.
    #[inline]
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.tail
    }

    /// Appends a part of a shared blob; without a copy if it is long.
    pub fn push_blob(&mut self, blob: Arc<Vec<u8>>, range: Range<usize>) {
        assert!(range.start <= range.end && range.end <= blob.len());
        if range.len() < BLOB_BYTES_MIN {
            return self.tail.extend_from_slice(&blob[range]);
        }
        self.seal();
        self.push_piece(Piece::Blob { blob, range });
    }

    /// Fills `out` from the front and gives the number of slices: no slice is empty.
    pub fn slices<'a>(&'a self, out: &mut [IoSlice<'a>]) -> usize {
        let queued = self.queue.iter().flat_map(|queue| &queue.pieces).map(Piece::as_slice);
        let mut pieces = queued.chain(std::iter::once(self.tail.as_slice()));
        let mut sent = self.sent;
        let mut filled = 0;
        while filled < out.len() {
            let Some(piece) = pieces.next() else { break };
            let rest = &piece[std::mem::take(&mut sent)..];
            if !rest.is_empty() {
                out[filled] = IoSlice::new(rest);
                filled += 1;
            }
        }
        filled
    }

    /// The first `bytes` bytes are sent.
    pub fn advance(&mut self, bytes: usize) {
        assert!(bytes <= self.bytes(), "no more is sent than there was");
        self.sent += bytes;
        if let Some(queue) = &mut self.queue {
            while let Some(front) = queue.pieces.front().map(Piece::len) {
                if self.sent < front {
                    return;
                }
                self.sent -= front;
                queue.bytes -= front;
                queue.left += 1;
                queue.pieces.pop_front();
            }
            self.queue = None;
        }
        if self.sent == self.tail.len() {
            self.tail.clear();
            self.sent = 0;
        } else if self.sent > SENT_BYTES_MIN && self.sent > self.tail.len() / 2 {
            self.tail.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Appends all that another output still has to send.
    pub fn append(&mut self, mut other: Output) {
        if let Some(queue) = other.queue.take() {
            for piece in queue.pieces {
                let skip = std::mem::take(&mut other.sent);
                match piece {
                    Piece::Bytes(bytes) => self.append_bytes(bytes, skip),
                    Piece::Blob { blob, range } => {
                        self.push_blob(blob, range.start + skip..range.end);
                    }
                }
            }
        }
        self.append_bytes(other.tail, other.sent);
    }

    /// Forgets all that is not sent, and frees its memory but for one buffer.
    pub fn clear(&mut self) {
        self.queue = None;
        self.tail.clear();
        self.sent = 0;
    }

    /// Takes the buffer out of an output with nothing to send, which then holds no memory. An
    /// output with something to send keeps its buffer, and an empty one without memory is given.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        if !self.is_empty() {
            return Vec::new();
        }
        self.clear();
        std::mem::take(&mut self.tail)
    }

    /// Lends a buffer, whose bytes are dropped. Ignored by an output that has one.
    pub fn give_buffer(&mut self, mut buffer: Vec<u8>) {
        if self.tail.capacity() == 0 {
            buffer.clear();
            self.tail = buffer;
        }
    }

    /// The place where the next byte will lie. It is valid until bytes are sent.
    pub(crate) fn place(&self) -> Place {
        let piece = self.queue.as_ref().map_or(0, |queue| queue.left + queue.pieces.len());
        Place { piece, offset: self.tail.len() }
    }

    /// Inserts bytes at a place. Later places in the same buffer are no longer valid.
    pub(crate) fn insert(&mut self, place: Place, bytes: &[u8]) {
        let here = self.place();
        if place.piece == here.piece {
            self.tail.splice(place.offset..place.offset, bytes.iter().copied());
            return;
        }
        let queue = self.queue.as_mut().expect("a place before the tail is in the queue");
        let index = place.piece - queue.left;
        queue.bytes += bytes.len();
        match &mut queue.pieces[index] {
            Piece::Bytes(buffer) => {
                buffer.splice(place.offset..place.offset, bytes.iter().copied());
            }
            // The tail was empty at that place, and the blob came first.
            Piece::Blob { .. } => queue.pieces.insert(index, Piece::Bytes(bytes.to_vec())),
        }
    }

    /// Appends a buffer but for its first `skip` bytes: by moving it if it is long.
    fn append_bytes(&mut self, bytes: Vec<u8>, skip: usize) {
        if bytes.len() - skip < BLOB_BYTES_MIN {
            return self.tail.extend_from_slice(&bytes[skip..]);
        }
        let range = skip..bytes.len();
        self.push_blob(Arc::new(bytes), range);
    }

    /// Moves the tail into the queue.
    fn seal(&mut self) {
        if !self.tail.is_empty() {
            let bytes = std::mem::take(&mut self.tail);
            self.push_piece(Piece::Bytes(bytes));
        }
    }

    fn push_piece(&mut self, piece: Piece) {
        let queue = self.queue.get_or_insert_default();
        queue.bytes += piece.len();
        queue.pieces.push_back(piece);
    }
}

#[cfg(test)]
mod tests;
