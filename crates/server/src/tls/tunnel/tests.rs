//! Both ends of a connection in one thread: what is said, how much waits, and how it ends.

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::Read;

use super::*;

/// The settings of a server and of a client that trusts it.
pub(crate) fn configs() -> (Arc<ServerConfig>, Arc<ClientConfig>) {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let certificate = CertificateDer::from(cert.der().to_vec());
    let key = PrivateKeyDer::from_pem_slice(signing_key.serialize_pem().as_bytes()).unwrap();
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), Arc::new(client))
}

struct Ends {
    server: Tunnel,
    client: ClientConnection,
}

impl Ends {
    fn new() -> Self {
        let (server, client) = configs();
        let client = ClientConnection::new(client, "localhost".try_into().unwrap()).unwrap();
        Self { server: Tunnel::new(server).unwrap(), client }
    }

    /// After the handshake.
    fn met() -> Self {
        let mut ends = Self::new();
        let mut shook_hands = 0;
        while ends.server.is_shaking_hands() {
            shook_hands += u32::from(ends.deliver(|_| ()).unwrap().shook_hands);
            ends.answer(&mut Output::new(), usize::MAX);
        }
        assert_eq!(shook_hands, 1);
        ends
    }

    fn deliver(&mut self, give: impl FnMut(&[u8])) -> Result<Heard, Error> {
        let mut bytes = Vec::new();
        while self.client.wants_write() {
            self.client.write_tls(&mut bytes).unwrap();
        }
        self.server.hear(&bytes, give)
    }

    /// Sends output, of which the wire takes so many bytes: what arrived, and what left `output`.
    fn answer(&mut self, output: &mut Output, wire_bytes: usize) -> (Vec<u8>, usize) {
        let mut wire = Vec::new();
        let taken = self.server.send(output, |slices| Ok(carry(&mut wire, wire_bytes, slices)));
        (self.hear_at_client(&wire), taken.unwrap())
    }

    fn hear_at_client(&mut self, mut wire: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        while !wire.is_empty() {
            self.client.read_tls(&mut wire).unwrap();
            self.client.process_new_packets().unwrap();
            let _ = self.client.reader().read_to_end(&mut plain);
        }
        plain
    }
}

/// A wire that holds so many bytes.
fn carry(wire: &mut Vec<u8>, bytes_max: usize, slices: &[IoSlice<'_>]) -> usize {
    let before = wire.len();
    for slice in slices {
        let n = slice.len().min(bytes_max - wire.len());
        wire.extend_from_slice(&slice[..n]);
    }
    wire.len() - before
}

#[test]
fn plaintext_goes_both_ways() {
    let mut ends = Ends::met();
    let request = vec![7; 100_000];
    let mut got = Vec::new();
    for chunk in request.chunks(30_000) {
        ends.client.writer().write_all(chunk).unwrap();
        let heard = ends.deliver(|plaintext| got.extend_from_slice(plaintext)).unwrap();
        assert!(!heard.has_ended && !heard.shook_hands);
    }
    assert!(got == request);
    let mut output = Output::new();
    output.tail().extend_from_slice(&request);
    let (plain, taken) = ends.answer(&mut output, usize::MAX);
    assert!(plain == request && taken == request.len() && output.is_empty());
    assert!(ends.server.is_drained());
}

#[test]
fn little_is_encrypted_ahead_of_a_reader_that_does_not_read() {
    let mut ends = Ends::met();
    let mut output = Output::new();
    output.tail().extend_from_slice(&vec![7; 1 << 20]);
    let mut wire = Vec::new();
    let taken = ends.server.send(&mut output, |slices| Ok(carry(&mut wire, 10, slices))).unwrap();
    assert!(taken <= CIPHERTEXT_BYTES_MAX && output.bytes() == (1 << 20) - taken);
    for _ in 0..10 {
        assert_eq!(ends.server.send(&mut output, |_| Ok(0)).unwrap(), 0);
    }
    assert!(!ends.server.is_drained());
    // Who has not taken what came before gets no last word: it would stand in the middle.
    assert!(ends.server.last_word().is_empty());
}

#[test]
fn a_clean_end_is_told() {
    let mut ends = Ends::met();
    let mut wire = Vec::new();
    let said = ends.server.say_goodbye(|slices| Ok(carry(&mut wire, usize::MAX, slices)));
    assert!(said.is_ok() && ends.server.is_drained());
    ends.hear_at_client(&wire);
    assert!(ends.client.process_new_packets().unwrap().peer_has_closed());
    assert!(ends.server.last_word().is_empty());
    let mut ends = Ends::met();
    ends.client.send_close_notify();
    assert!(ends.deliver(|_| ()).unwrap().has_ended);
    assert!(!ends.server.last_word().is_empty());
}

#[test]
fn a_handshake_has_a_limit() {
    let (config, _) = configs();
    let mut tunnel = Tunnel::new(config).unwrap();
    // Records of a message that says it has nearly 64 KiB, one byte each.
    let mut bytes = vec![22, 3, 3, 0, 4, 1, 0, 255, 0];
    let mut sent = 0;
    while tunnel.hear(&bytes, |_| ()).is_ok() {
        sent += bytes.len();
        assert!(sent <= HANDSHAKE_BYTES_MAX);
        bytes = [22, 3, 3, 0, 1, 0].repeat(1000);
    }
    assert!(!tunnel.last_word().is_empty());
}
