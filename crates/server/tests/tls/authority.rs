//! An authority of the test's own, its certificates, and clients that show them.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use caudal_wire::{Frame, frame};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    SanType,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use crate::common::{PATIENCE, Scratch, Server, TLS_PORT};

/// Somebody whose word is trusted.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    scratch: Scratch,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        let authority = Self { issuer: Issuer::new(params, key), pem, scratch: Scratch::new() };
        authority.write("ca.crt", &authority.pem);
        authority.put("server", &authority.issue("server", |_| {}));
        authority
    }

    /// A certificate with this common name, for a server and for a client.
    pub(crate) fn issue(&self, name: &str, adjust: impl Fn(&mut CertificateParams)) -> Identity {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        adjust(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate, key: key.serialize_pem() }
    }

    /// As [`Self::issue`], with these URIs.
    pub(crate) fn issue_with_uris(&self, name: &str, uris: &[&str]) -> Identity {
        self.issue(name, |params| {
            let uris = uris.iter().map(|uri| SanType::URI((*uri).try_into().unwrap()));
            params.subject_alt_names.extend(uris);
        })
    }

    /// Writes a file where servers find it.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.scratch.file(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.scratch.file(name).to_str().unwrap().to_owned()
    }

    /// Writes an identity as `name.crt` and `name.key`.
    pub(crate) fn put(&self, name: &str, identity: &Identity) {
        self.write(&format!("{name}.crt"), &identity.certificate);
        self.write(&format!("{name}.key"), &identity.key);
    }

    /// Arguments of a server with this authority's certificate, and more.
    pub(crate) fn arguments(&self, more: &[&str]) -> Vec<String> {
        let files = [
            ("--tls-cert-file", "server.crt"),
            ("--tls-key-file", "server.key"),
            ("--tls-ca-cert-file", "ca.crt"),
        ];
        let files = files.iter().flat_map(|(option, name)| [(*option).to_owned(), self.file(name)]);
        let port = ["--tls-port", TLS_PORT].map(str::to_owned);
        let more = more.iter().map(|word| (*word).to_owned());
        port.into_iter().chain(files).chain(more).collect()
    }

    /// A client's settings: it trusts this authority, and shows a certificate if it has one.
    pub(crate) fn client(&self, identity: Option<&Identity>) -> ClientConfig {
        self.client_of(identity, rustls::ALL_VERSIONS)
    }

    pub(crate) fn client_of(
        &self,
        identity: Option<&Identity>,
        versions: &[&'static SupportedProtocolVersion],
    ) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(roots);
        let Some(identity) = identity else { return builder.with_no_client_auth() };
        let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
        builder.with_client_auth_cert(vec![certificate], key).unwrap()
    }
}

/// The arguments as the harness takes them.
pub(crate) fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// An encrypted connection.
pub(crate) struct Secure {
    pub(crate) stream: StreamOwned<ClientConnection, TcpStream>,
    bytes: Vec<u8>,
}

impl Secure {
    /// Connects; the handshake comes with the first word.
    pub(crate) fn connect(server: &Server, config: &Arc<ClientConfig>) -> Self {
        let stream = raw(server);
        let name = "localhost".try_into().unwrap();
        let connection = ClientConnection::new(Arc::clone(config), name).unwrap();
        Self { stream: StreamOwned::new(connection, stream), bytes: Vec::new() }
    }

    pub(crate) fn send(&mut self, words: &[&str]) -> io::Result<()> {
        let mut bytes = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| bytes.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        self.stream.write_all(bytes.as_bytes())
    }

    /// The next frame; an error if the connection ended.
    pub(crate) fn next(&mut self) -> io::Result<Frame> {
        loop {
            if let Some((frame, used)) = frame::parse(&self.bytes).unwrap() {
                self.bytes.drain(..used);
                return Ok(frame);
            }
            let mut buffer = [0; 64 << 10];
            let received = self.stream.read(&mut buffer)?;
            if received == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.bytes.extend_from_slice(&buffer[..received]);
        }
    }

    pub(crate) fn try_ask(&mut self, words: &[&str]) -> io::Result<Frame> {
        self.send(words)?;
        self.next()
    }

    /// A command's reply, spelled as text.
    pub(crate) fn ask(&mut self, words: &[&str]) -> String {
        spell(&self.try_ask(words).unwrap())
    }
}

/// A connection to the TLS port that says nothing by itself.
pub(crate) fn raw(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.tls_port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Statuses and bulk strings as their text, errors with `-`, integers with `:`.
pub(crate) fn spell(frame: &Frame) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match frame {
        Frame::Status(bytes) | Frame::Bulk(bytes) => text(bytes),
        Frame::Error(bytes) => format!("-{}", text(bytes)),
        Frame::Integer(number) => format!(":{number}"),
        Frame::Array(frames) | Frame::Push(frames) => {
            frames.iter().map(spell).collect::<Vec<_>>().join(" ")
        }
        other => format!("{other:?}"),
    }
}
