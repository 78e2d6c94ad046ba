//! From files to what connections are encrypted with.
//!
//! Used by `keeper`, on the main thread or in a CONFIG SET. What must stay true: material is whole
//! and fits together, or it is an error that says which file to look at; a file that is no plain
//! file or too large is not read.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use caudal_engine::Certificates;
use caudal_engine::config::{ClientCertificates, Tls};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};

use super::certificate::Certificate;
use super::sessions::Sessions;
use super::suites;

/// Bytes of a file. The bundle of all public authorities has a quarter of a MiB.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// Files of a directory of authorities. Distributions have about 300.
const DIRECTORY_FILES_MAX: usize = 4096;

/// The contents of the files that the settings name.
pub(super) struct Files {
    certificates: (PathBuf, Vec<u8>),
    key: (PathBuf, Vec<u8>),
    /// Each file that may hold certificates of authorities.
    authorities: Vec<(PathBuf, Vec<u8>)>,
}

/// What connections are encrypted with.
pub(super) struct Material {
    pub(super) config: Arc<ServerConfig>,
    pub(super) certificates: Certificates,
}

impl Files {
    /// Reads the files.
    pub(super) fn read(settings: &Tls) -> Result<Self, String> {
        let named = |file: &Option<PathBuf>, directive| {
            file.as_deref().ok_or_else(|| format!("No {directive} configured!")).and_then(read)
        };
        let certificates = named(&settings.certificate_file, "tls-cert-file")?;
        let key = named(&settings.key_file, "tls-key-file")?;
        let mut authorities = Vec::new();
        if let Some(file) = &settings.authority_file {
            authorities.push(read(file)?);
        }
        if let Some(directory) = &settings.authority_directory {
            read_directory(directory, &mut authorities)?;
        }
        Ok(Self { certificates, key, authorities })
    }

    /// Tells contents apart, to see whether they changed.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.certificates, &self.key, &self.authorities).hash(&mut hasher);
        hasher.finish()
    }

    /// Puts the contents to use, at this time.
    pub(super) fn prepare(&self, settings: &Tls, now: SystemTime) -> Result<Material, String> {
        let chain = certificates(&self.certificates)?;
        let server = chain.first().and_then(Certificate::read);
        let server =
            server.filter(|certificate| certificate.is_valid_at(now)).ok_or_else(|| {
                let path = self.certificates.0.display();
                format!("Server TLS certificate is invalid: {path} is not valid at this time")
            })?;
        let authorities = self.authorities(now)?;
        let (config, oldest) = (self.config(settings, chain, &authorities)?, authorities.oldest);
        let certificates = Certificates { server: Some(server.facts()), authority: oldest };
        Ok(Material { config: Arc::new(config), certificates })
    }

    fn config(
        &self,
        settings: &Tls,
        chain: Vec<CertificateDer<'static>>,
        authorities: &Authorities,
    ) -> Result<ServerConfig, String> {
        let cipher_suites = suites::suites(&settings.ciphers, &settings.cipher_suites)?;
        let versions = suites::versions(&settings.protocols)?;
        if !versions.iter().any(|version| suites::serves(version, &cipher_suites)) {
            return Err("No cipher suite is left for the versions of tls-protocols".to_owned());
        }
        let provider = Arc::new(CryptoProvider { cipher_suites, ..ring::default_provider() });
        let verifier = verifier(settings.clients, authorities, &provider)?;
        let (path, pem) = &self.key;
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| no_key(path, pem))?;
        let (certificate, key_path) = (self.certificates.0.display(), path.display());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| error.to_string())?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .map_err(|error| format!("{certificate} and {key_path}: {error}"))?;
        config.ignore_client_order = settings.prefers_own_order;
        match settings.sessions {
            Some(sessions) => config.session_storage = Arc::new(Sessions::new(sessions)),
            None => {
                config.session_storage = Arc::new(NoServerSessionStorage {});
                config.send_tls13_tickets = 0;
            }
        }
        Ok(config)
    }

    fn authorities(&self, now: SystemTime) -> Result<Authorities, String> {
        let mut authorities = Authorities { roots: RootCertStore::empty(), oldest: None };
        for file in &self.authorities {
            for certificate in certificates(file)? {
                authorities.add(certificate, now).map_err(|reason| {
                    let path = file.0.display();
                    format!("One or more loaded CA certificates are invalid: {path}: {reason}")
                })?;
            }
        }
        Ok(authorities)
    }
}

/// Whose clients are let in.
struct Authorities {
    roots: RootCertStore,
    /// The one that ends first.
    oldest: Option<caudal_engine::Certificate>,
}

impl Authorities {
    fn add(&mut self, der: CertificateDer<'static>, now: SystemTime) -> Result<(), String> {
        let certificate = Certificate::read(&der).ok_or("it cannot be read")?;
        if !certificate.is_valid_at(now) {
            return Err("it is not valid at this time".to_owned());
        }
        let facts = certificate.facts();
        if self.oldest.as_ref().is_none_or(|oldest| facts.expires < oldest.expires) {
            self.oldest = Some(facts);
        }
        self.roots.add(der).map_err(|error| error.to_string())
    }
}

fn verifier(
    clients: ClientCertificates,
    authorities: &Authorities,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    if clients == ClientCertificates::No {
        return Ok(WebPkiClientVerifier::no_client_auth());
    }
    if authorities.roots.is_empty() {
        return Err("Either tls-ca-cert-file or tls-ca-cert-dir must be specified when \
                    tls-auth-clients is enabled!"
            .to_owned());
    }
    let roots = Arc::new(authorities.roots.clone());
    let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(provider));
    let builder = match clients {
        ClientCertificates::Optional => builder.allow_unauthenticated(),
        _ => builder,
    };
    builder.build().map(|verifier| verifier as _).map_err(|error| error.to_string())
}

/// The certificates of a file, of which there must be some.
fn certificates((path, pem): &(PathBuf, Vec<u8>)) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| format!("{}: {error}", path.display()))?;
    if found.is_empty() {
        return Err(format!("{} holds no certificate in PEM", path.display()));
    }
    Ok(found)
}

fn no_key(path: &Path, pem: &[u8]) -> String {
    let path = path.display();
    if String::from_utf8_lossy(pem).contains("ENCRYPTED") {
        return format!(
            "{path} is encrypted: encrypted keys are not there yet. Write it without a passphrase \
             (openssl pkey -in {path} -out ..), readable by the server alone"
        );
    }
    format!("{path} holds no private key in PEM")
}

fn read(path: &Path) -> Result<(PathBuf, Vec<u8>), String> {
    let failed = |reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
    let facts = fs::metadata(path).map_err(|error| failed(&error))?;
    if !facts.is_file() {
        return Err(failed(&"it is not a file"));
    }
    if facts.len() > FILE_BYTES_MAX {
        return Err(failed(&format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    let bytes = fs::read(path).map_err(|error| failed(&error))?;
    Ok((path.to_owned(), bytes))
}

/// Reads the files of a directory that hold certificates, in the order of their names.
fn read_directory(path: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<(), String> {
    const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
        if paths.len() > DIRECTORY_FILES_MAX {
            return Err(format!("{} has more than {DIRECTORY_FILES_MAX} files", path.display()));
        }
    }
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file()) {
        let file = read(path)?;
        if file.1.windows(BEGIN.len()).any(|bytes| bytes == BEGIN) {
            files.push(file);
        }
    }
    Ok(())
}
