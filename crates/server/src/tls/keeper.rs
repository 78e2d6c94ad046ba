//! What new connections are encrypted with, and how it is renewed.
//!
//! One for the process. Workers ask for it at each new encrypted connection; CONFIG SET and the
//! main thread renew it. What must stay true: what is in use was tried whole; renewals come one
//! after the other; a connection keeps what it began with.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use caudal_engine::config::{LogLevel, Tls};
use caudal_engine::{Certificates, Encryption, Useless};
use rustls::ServerConfig;

use super::material::{Files, Material};
use crate::log::Log;

/// Keys and certificates in use.
pub(crate) struct Keeper {
    material: RwLock<Material>,
    renewal: Mutex<Renewal>,
    log: Arc<Log>,
}

/// What the last renewal was made of.
struct Renewal {
    settings: Tls,
    fingerprint: u64,
    looked: Instant,
}

impl Keeper {
    /// Puts these settings to use.
    ///
    /// # Errors
    /// What an operator has to change.
    pub(crate) fn new(settings: &Tls, log: Arc<Log>) -> Result<Self, String> {
        let files = Files::read(settings)?;
        let material = files.prepare(settings, SystemTime::now())?;
        let fingerprint = files.fingerprint();
        let renewal = Renewal { settings: settings.clone(), fingerprint, looked: Instant::now() };
        Ok(Self { material: RwLock::new(material), renewal: Mutex::new(renewal), log })
    }

    /// What a connection that begins now is encrypted with.
    pub(super) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.material.read().unwrap_or_else(PoisonError::into_inner).config)
    }

    /// Reads the files again if `interval` has passed, and uses them if they changed.
    pub(crate) fn look(&self, interval: Option<u32>) {
        let Some(seconds) = interval else { return };
        let mut renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        if renewal.looked.elapsed() < Duration::from_secs(seconds.into()) {
            return;
        }
        renewal.looked = Instant::now();
        let files = match Files::read(&renewal.settings) {
            Ok(files) => files,
            Err(reason) => return self.complain(&reason),
        };
        let fingerprint = files.fingerprint();
        if fingerprint == renewal.fingerprint {
            return self.log.write(LogLevel::Debug, &"TLS materials unchanged");
        }
        // What is wrong is said once, and not at every look.
        renewal.fingerprint = fingerprint;
        match files.prepare(&renewal.settings, SystemTime::now()) {
            Ok(material) => self.use_from_now_on(material),
            Err(reason) => self.complain(&reason),
        }
    }

    fn use_from_now_on(&self, material: Material) {
        *self.material.write().unwrap_or_else(PoisonError::into_inner) = material;
        self.log.notice("TLS materials reloaded successfully");
    }

    fn complain(&self, reason: &str) {
        let text = format!("Failed to configure TLS, what was there stays in use: {reason}");
        self.log.warning(text);
    }

    /// Tells of a connection that could not be encrypted: somebody's mistake, so not loudly.
    pub(crate) fn tell_failure(&self, peer: &str, reason: &dyn Display) {
        let text = format!("Error accepting a client connection: {reason} (addr={peer})");
        self.log.write(LogLevel::Verbose, &text);
    }
}

impl Encryption for Keeper {
    fn renew(&self, settings: &Tls) -> Result<(), Useless> {
        let mut renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let read = Files::read(settings);
        let prepared =
            read.and_then(|files| Ok((files.prepare(settings, SystemTime::now())?, files)));
        match prepared {
            Ok((material, files)) => {
                let (settings, fingerprint) = (settings.clone(), files.fingerprint());
                *renewal = Renewal { settings, fingerprint, looked: Instant::now() };
                self.use_from_now_on(material);
                Ok(())
            }
            Err(reason) => {
                self.complain(&reason);
                Err(Useless)
            }
        }
    }

    fn certificates(&self) -> Certificates {
        self.material.read().unwrap_or_else(PoisonError::into_inner).certificates.clone()
    }
}

/// Says nothing of what is inside: those are secrets.
impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keeper")
    }
}
