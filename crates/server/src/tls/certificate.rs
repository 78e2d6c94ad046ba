//! What stands in a certificate: names, number, dates.
//!
//! Beside `material`, for what an operator is told, and `tunnel`, for whose a client's certificate
//! is. What must stay true: nothing here decides whether a certificate is to be trusted; names are
//! asked of certificates that rustls has checked.

use std::time::{SystemTime, UNIX_EPOCH};

use caudal_engine::config::UserName;
use rustls::pki_types::CertificateDer;
use x509_cert::der::Decode;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Names of one certificate that are looked for among the users.
const NAMES_MAX: usize = 64;

/// A certificate that was read.
pub(super) struct Certificate(x509_cert::Certificate);

impl Certificate {
    /// Reads a certificate; none if its bytes are no certificate.
    pub(super) fn read(der: &CertificateDer<'_>) -> Option<Self> {
        x509_cert::Certificate::from_der(der).ok().map(Self)
    }

    /// Whether it is valid at this time.
    pub(super) fn is_valid_at(&self, time: SystemTime) -> bool {
        let validity = self.0.tbs_certificate().validity();
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        validity.not_before.to_unix_duration() <= since
            && since <= validity.not_after.to_unix_duration()
    }

    /// What INFO tells of it.
    pub(super) fn facts(&self) -> caudal_engine::Certificate {
        let body = self.0.tbs_certificate();
        // A leading zero only says that the number is not negative.
        let serial = body.serial_number().as_bytes();
        let serial = match serial {
            [0, rest @ ..] if !rest.is_empty() => rest,
            whole => whole,
        };
        caudal_engine::Certificate {
            serial: serial.iter().map(|byte| format!("{byte:02X}")).collect(),
            expires: body.validity().not_after.to_unix_duration().as_secs(),
        }
    }

    /// The names of this kind that it gives its subject.
    pub(super) fn names(&self, kind: UserName) -> Vec<String> {
        let body = self.0.tbs_certificate();
        match kind {
            UserName::CommonName => {
                let name = body.subject().common_name().ok().flatten();
                name.map(|name| name.value().into_owned()).into_iter().collect()
            }
            UserName::Uri => {
                let names = body.get_extension::<SubjectAltName>().ok().flatten();
                let names = names.into_iter().flat_map(|(_, names)| names.0);
                let uri = |name| match name {
                    GeneralName::UniformResourceIdentifier(uri) => Some(uri.to_string()),
                    _ => None,
                };
                names.filter_map(uri).take(NAMES_MAX).collect()
            }
        }
    }
}
