//! One encrypted connection: ciphertext in, plaintext out, and back.
//!
//! Between a socket and the engine's buffers, without I/O of its own: the worker brings what it
//! received, and a function that sends. What must stay true: all that came is decrypted at once, so
//! nothing but a part of a record waits here; at most [`CIPHERTEXT_BYTES_MAX`] or so are encrypted
//! before the peer takes them, so output is counted, and limited, where the engine keeps it.

use std::io::{self, BufRead, IoSlice, Write};
use std::sync::Arc;

use caudal_engine::Output;
use caudal_engine::config::UserName;
use rustls::{Error, ServerConfig, ServerConnection};

use super::certificate::Certificate;

/// Bytes that a client may send before the handshake is over. A chain of four certificates with
/// large RSA keys has 8 KiB.
const HANDSHAKE_BYTES_MAX: usize = 64 << 10;

/// Plaintext that is encrypted ahead of what the peer takes: four records, enough for one send to
/// be worth its system call.
const CIPHERTEXT_BYTES_MAX: usize = 64 << 10;

/// Pieces of output that are encrypted by one call. Most outputs are one piece.
const SLICES: usize = 16;

/// One connection.
pub(crate) struct Tunnel {
    connection: ServerConnection,
    /// Received before the handshake was over. <= HANDSHAKE_BYTES_MAX and one receive
    handshake_bytes: usize,
    /// The last send was short: there is ciphertext that the peer has not taken.
    is_backed_up: bool,
    /// The peer was told that nothing more comes.
    said_goodbye: bool,
}

/// What came out of ciphertext, beside plaintext.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    /// The handshake was over with it.
    pub(crate) shook_hands: bool,
    /// The peer has said that it sends no more.
    pub(crate) has_ended: bool,
    /// The protocol has something to say.
    pub(crate) wants_send: bool,
}

impl Tunnel {
    pub(crate) fn new(config: Arc<ServerConfig>) -> Result<Self, Error> {
        let mut connection = ServerConnection::new(config)?;
        connection.set_buffer_limit(Some(CIPHERTEXT_BYTES_MAX));
        let (is_backed_up, said_goodbye) = (false, false);
        Ok(Self { connection, handshake_bytes: 0, is_backed_up, said_goodbye })
    }

    /// Whether the handshake is not over yet.
    pub(crate) fn is_shaking_hands(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Takes what was received, and gives the plaintext that is in it.
    ///
    /// # Errors
    /// The peer does not keep to the protocol, or is not to be let in: part with
    /// [`Self::last_word`].
    pub(crate) fn hear(
        &mut self,
        mut ciphertext: &[u8],
        mut give: impl FnMut(&[u8]),
    ) -> Result<Heard, Error> {
        let was_shaking_hands = self.is_shaking_hands();
        if was_shaking_hands {
            self.handshake_bytes += ciphertext.len();
            if self.handshake_bytes > HANDSHAKE_BYTES_MAX {
                return Err(Error::General("a handshake without end".to_owned()));
            }
        }
        let mut has_ended = false;
        while !ciphertext.is_empty() && !has_ended {
            // It is full only with plaintext that nobody took, and all is taken below.
            let taken = self.connection.read_tls(&mut ciphertext);
            taken.map_err(|error| Error::General(error.to_string()))?;
            let state = self.connection.process_new_packets()?;
            has_ended = state.peer_has_closed();
            let mut left = state.plaintext_bytes_to_read();
            let mut reader = self.connection.reader();
            while left > 0 {
                let Ok(chunk) = reader.fill_buf() else { break };
                let bytes = chunk.len();
                give(chunk);
                reader.consume(bytes);
                left = left.saturating_sub(bytes);
            }
        }
        Ok(Heard {
            shook_hands: was_shaking_hands && !self.is_shaking_hands(),
            has_ended,
            wants_send: self.connection.wants_write(),
        })
    }

    /// Encrypts what there is of `output` and sends it, as far as `send` takes it, which gives the
    /// number of bytes it took. Gives the number of bytes that left `output`.
    pub(crate) fn send(
        &mut self,
        output: &mut Output,
        mut send: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut taken = 0;
        loop {
            self.drain(&mut send)?;
            if self.is_backed_up || self.is_shaking_hands() || output.is_empty() {
                return Ok(taken);
            }
            let mut slices = [IoSlice::new(&[]); SLICES];
            let filled = output.slices(&mut slices);
            let encrypted = self.connection.writer().write_vectored(&slices[..filled])?;
            if encrypted == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            output.advance(encrypted);
            taken += encrypted;
        }
    }

    /// Whether all that was encrypted is sent.
    pub(crate) fn is_drained(&self) -> bool {
        !self.connection.wants_write()
    }

    /// Tells the peer that nothing more comes.
    pub(crate) fn say_goodbye(
        &mut self,
        mut send: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<()> {
        if !self.said_goodbye {
            self.said_goodbye = true;
            self.connection.send_close_notify();
        }
        self.drain(&mut send)
    }

    /// What to say to a peer whose connection is closed now: what is wrong with it, or goodbye.
    /// Nothing if it has not even taken what came before.
    pub(crate) fn last_word(mut self) -> Vec<u8> {
        let mut word = Vec::new();
        if !self.is_backed_up {
            if !self.said_goodbye {
                self.connection.send_close_notify();
            }
            // Writing to memory does not fail.
            while self.connection.wants_write() && self.connection.write_tls(&mut word).is_ok() {}
        }
        word
    }

    /// The names of this kind in the peer's certificate; none if it has shown none.
    pub(crate) fn names(&self, kind: UserName) -> Vec<String> {
        let certificates = self.connection.peer_certificates();
        let certificate = certificates.and_then(<[_]>::first).and_then(Certificate::read);
        certificate.map_or_else(Vec::new, |certificate| certificate.names(kind))
    }

    fn drain(
        &mut self,
        send: &mut impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<()> {
        self.is_backed_up = false;
        while self.connection.wants_write() && !self.is_backed_up {
            let mut pipe = Pipe { send: &mut *send, is_short: false };
            match self.connection.write_tls(&mut pipe) {
                Ok(_) => self.is_backed_up = pipe.is_short,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_backed_up = true,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Sending, in the shape that rustls writes to.
struct Pipe<'a, S> {
    send: &'a mut S,
    /// Less was taken than was there.
    is_short: bool,
}

impl<S: FnMut(&[IoSlice<'_>]) -> io::Result<usize>> Write for Pipe<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let offered: usize = slices.iter().map(|slice| slice.len()).sum();
        let taken = (self.send)(slices)?;
        self.is_short |= taken < offered;
        if taken == 0 && offered > 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests;
