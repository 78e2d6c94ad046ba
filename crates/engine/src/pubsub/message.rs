//! A message as its receivers get it: encoded once by its publisher, whatever their number and
//! protocol.
//!
//! RESP2's array and RESP3's push differ in their first byte only, which is written anew for each
//! receiver. A short message is copied into each output; a long payload is one blob that all of
//! them share.

use caudal_wire::{BLOB_BYTES_MIN, Output, Protocol, Reply};
use std::sync::Arc;

/// What a publisher was given, in the form in which receivers share it.
pub(super) enum Payload<'p> {
    /// To be copied into the message.
    Short(&'p [u8]),
    /// To be shared by the outputs.
    Long(Arc<Vec<u8>>),
}

impl<'p> Payload<'p> {
    pub(super) fn of(bytes: &'p [u8]) -> Payload<'p> {
        if bytes.len() < BLOB_BYTES_MIN {
            Payload::Short(bytes)
        } else {
            Payload::Long(Arc::new(bytes.to_vec()))
        }
    }
}

/// An encoded message.
pub(crate) struct Message {
    /// The whole message, or what comes before `blob`.
    bytes: Vec<u8>,
    /// A long payload; the end of its line is still to be written.
    blob: Option<Arc<Vec<u8>>>,
}

impl Message {
    /// A message of these words, and a payload after them.
    pub(super) fn new(words: &[&[u8]], payload: &Payload<'_>) -> Message {
        let mut output = Output::new();
        let mut reply = Reply::new(&mut output, Protocol::Resp2);
        reply.push(words.len() + 1);
        words.iter().for_each(|word| reply.bulk(word));
        let blob = match payload {
            Payload::Short(bytes) => {
                reply.bulk(bytes);
                None
            }
            Payload::Long(blob) => {
                reply.raw(format!("${}\r\n", blob.len()).as_bytes());
                Some(Arc::clone(blob))
            }
        };
        Message { bytes: std::mem::take(output.tail()), blob }
    }

    fn bytes(&self) -> usize {
        self.bytes.len() + self.blob.as_ref().map_or(0, |blob| blob.len())
    }

    /// Appends it for a receiver.
    #[inline]
    pub(super) fn append_to(&self, output: &mut Output, protocol: Protocol) {
        let kind = if protocol == Protocol::Resp3 { b'>' } else { b'*' };
        let tail = output.tail();
        tail.reserve(self.bytes.len());
        tail.push(kind);
        tail.extend_from_slice(&self.bytes[1..]);
        if let Some(blob) = &self.blob {
            output.push_blob(Arc::clone(blob), 0..blob.len());
            output.tail().extend_from_slice(b"\r\n");
        }
    }
}

/// What was published to a channel, for all workers that have receivers of it.
pub(crate) struct Publication {
    /// Whether the channel is one of a shard.
    pub(super) is_shard: bool,
    pub(super) channel: Arc<[u8]>,
    /// For the channel's own subscribers, if there are any.
    pub(super) message: Option<Message>,
    /// For the subscribers of patterns: each pattern that the channel's name matches.
    pub(super) matched: Vec<(Arc<[u8]>, Message)>,
}

impl Publication {
    /// Memory that it keeps, roughly.
    pub(super) fn bytes(&self) -> usize {
        let messages = self.message.iter().chain(self.matched.iter().map(|(_, message)| message));
        messages.map(Message::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(output: &Output) -> Vec<u8> {
        let mut slices = [std::io::IoSlice::new(&[]); 8];
        let count = output.slices(&mut slices);
        slices[..count].iter().flat_map(|slice| slice.to_vec()).collect()
    }

    #[test]
    fn protocols_differ_in_the_first_byte() {
        let message = Message::new(&[b"message", b"ch"], &Payload::of(b"hi"));
        for (protocol, kind) in [(Protocol::Resp2, "*"), (Protocol::Resp3, ">")] {
            let mut output = Output::new();
            message.append_to(&mut output, protocol);
            let expected = format!("{kind}3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n");
            assert_eq!(bytes(&output), expected.as_bytes());
        }
    }

    #[test]
    fn a_long_payload_is_shared() {
        let payload = vec![b'x'; BLOB_BYTES_MIN];
        let message = Message::new(&[b"message", b"ch"], &Payload::of(&payload));
        let mut output = Output::new();
        message.append_to(&mut output, Protocol::Resp2);
        let expected =
            [b"*3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$16384\r\n", &payload[..], b"\r\n"].concat();
        assert_eq!(bytes(&output), expected);
        assert_eq!(message.blob.map(|blob| Arc::strong_count(&blob)), Some(2));
    }
}
