//! Words of the configuration for protocols and cipher suites.
//!
//! Used by `material`. The names of TLS 1.2's suites are OpenSSL's, which redis.conf speaks. What
//! must stay true: a word that cannot be followed is an error and never left out in silence, but
//! for the exclusion of what rustls does not have at all.

use rustls::crypto::ring::{ALL_CIPHER_SUITES, cipher_suite};
use rustls::{ProtocolVersion, SupportedCipherSuite, SupportedProtocolVersion, version};

use cipher_suite::{
    TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
};

type Named = (&'static str, SupportedCipherSuite);

/// TLS 1.2's suites, the preferred first.
const CIPHERS: [Named; 6] = [
    ("ECDHE-ECDSA-AES256-GCM-SHA384", TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-ECDSA-AES128-GCM-SHA256", TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-ECDSA-CHACHA20-POLY1305", TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    ("ECDHE-RSA-AES256-GCM-SHA384", TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("ECDHE-RSA-AES128-GCM-SHA256", TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    ("ECDHE-RSA-CHACHA20-POLY1305", TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
];

/// TLS 1.3's suites, the preferred first.
const CIPHER_SUITES: [Named; 3] = [
    ("TLS_AES_256_GCM_SHA384", TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", TLS13_CHACHA20_POLY1305_SHA256),
];

/// Words that stand for every suite of TLS 1.2: all are strong.
const EVERYTHING: [&str; 3] = ["DEFAULT", "HIGH", "ALL"];

/// Families of suites that there are none of, so that leaving them out asks for nothing.
const ABSENT: [&str; 15] = [
    "aNULL", "eNULL", "NULL", "EXPORT", "EXP", "LOW", "MEDIUM", "DES", "3DES", "RC4", "MD5",
    "SHA1", "PSK", "SRP", "DSS",
];

/// The versions that these words name; all there are if there is no word.
pub(super) fn versions(words: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let mut found: Vec<&'static SupportedProtocolVersion> = Vec::new();
    for word in words.split_whitespace() {
        found.push(match word.to_ascii_lowercase().as_str() {
            "tlsv1.2" => &version::TLS12,
            "tlsv1.3" => &version::TLS13,
            _ => {
                return Err(format!(
                    "Invalid tls-protocols specified: '{word}'. Use a combination of 'TLSv1.2' and \
                     'TLSv1.3'."
                ));
            }
        });
    }
    Ok(if found.is_empty() { vec![&version::TLS13, &version::TLS12] } else { found })
}

/// The suites of both versions that these two lists name, in their order.
pub(super) fn suites(
    ciphers: &str,
    cipher_suites: &str,
) -> Result<Vec<SupportedCipherSuite>, String> {
    debug_assert_eq!(CIPHERS.len() + CIPHER_SUITES.len(), ALL_CIPHER_SUITES.len());
    let mut found = choose("tls-ciphersuites", cipher_suites, &CIPHER_SUITES, &[])?;
    found.extend(choose("tls-ciphers", ciphers, &CIPHERS, &EVERYTHING)?);
    Ok(found)
}

/// Whether a version has a suite among these.
pub(super) fn serves(version: &SupportedProtocolVersion, suites: &[SupportedCipherSuite]) -> bool {
    let is_old = version.version == ProtocolVersion::TLSv1_2;
    suites.iter().any(|suite| suite.tls13().is_none() == is_old)
}

/// Follows a list: names add suites, names behind `!` or `-` take them out.
fn choose(
    directive: &str,
    words: &str,
    known: &[Named],
    everything: &[&str],
) -> Result<Vec<SupportedCipherSuite>, String> {
    let words = words.split([':', ',', ' ', ';']).filter(|word| !word.is_empty());
    let mut found: Vec<Named> = Vec::new();
    let mut is_empty = true;
    for word in words {
        is_empty = false;
        let named = |name: &str| -> Option<Vec<Named>> {
            if everything.contains(&name) {
                return Some(known.to_vec());
            }
            known.iter().find(|(other, _)| *other == name).map(|named| vec![*named])
        };
        match word.strip_prefix(['!', '-']) {
            Some(name) if ABSENT.contains(&name) => {}
            Some(name) => {
                let out = named(name).ok_or_else(|| unknown(directive, word, known))?;
                found.retain(|(name, _)| !out.iter().any(|(other, _)| other == name));
            }
            None => {
                let more = named(word).ok_or_else(|| unknown(directive, word, known))?;
                found.extend(more);
            }
        }
    }
    if is_empty {
        found = known.to_vec();
    }
    let mut unique: Vec<Named> = Vec::new();
    for named in found {
        if !unique.iter().any(|(name, _)| *name == named.0) {
            unique.push(named);
        }
    }
    Ok(unique.into_iter().map(|(_, suite)| suite).collect())
}

fn unknown(directive: &str, word: &str, known: &[Named]) -> String {
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    format!("Invalid {directive} specified: '{word}'. There are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ciphers: &str) -> Vec<&'static str> {
        let chosen = choose("tls-ciphers", ciphers, &CIPHERS, &EVERYTHING).unwrap();
        let name = |suite: SupportedCipherSuite| {
            CIPHERS.iter().find(|(_, other)| *other == suite).unwrap().0
        };
        chosen.into_iter().map(name).collect()
    }

    #[test]
    fn lists_of_ciphers_are_followed_in_their_order() {
        assert_eq!(names("").len(), 6);
        assert_eq!(names("DEFAULT:!MEDIUM:!aNULL").len(), 6);
        let two = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384";
        assert_eq!(names(two), two.split(':').collect::<Vec<_>>());
        assert_eq!(names(&format!("{two}:{two}")).len(), 2);
        let but_one = names("HIGH:-ECDHE-RSA-AES128-GCM-SHA256");
        assert_eq!(but_one.len(), 5);
        assert!(!but_one.contains(&"ECDHE-RSA-AES128-GCM-SHA256"));
    }

    #[test]
    fn what_is_not_known_is_an_error() {
        let error = suites("DHE-RSA-AES256-SHA", "").unwrap_err();
        assert!(error.contains("'DHE-RSA-AES256-SHA'"), "{error}");
        assert!(suites("!AES256-SHA", "").is_err());
        assert!(suites("", "DEFAULT").is_err());
        assert!(suites("", "TLS_AES_128_CCM_SHA256").unwrap_err().contains("tls-ciphersuites"));
        assert!(versions("TLSv1.1").is_err());
        assert!(versions("SSLv3 TLSv1.2").is_err());
    }

    #[test]
    fn protocols_are_words() {
        let both = |words| versions(words).unwrap().len() == 2;
        assert!(both("") && both("TLSv1.2 TLSv1.3") && both("tlsv1.3  tlsv1.2"));
        let only = versions("TLSv1.2").unwrap();
        assert_eq!(only[0].version, ProtocolVersion::TLSv1_2);
        assert_eq!(only.len(), 1);
    }

    #[test]
    fn a_version_without_a_suite_is_seen() {
        let suites = suites("", "").unwrap();
        assert!(serves(&version::TLS12, &suites) && serves(&version::TLS13, &suites));
        let none = choose("tls-ciphers", "ALL:!ALL", &CIPHERS, &EVERYTHING).unwrap();
        assert!(!serves(&version::TLS12, &none));
    }
}
