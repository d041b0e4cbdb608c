//! A memory of passwords that were right, so that only the first use costs argon2.
//!
//! Invariant: nothing here helps to guess a password. An entry is a digest keyed with
//! randomness that dies with the process; wrong passwords are never remembered; entries
//! expire, are bounded in number, and are dropped when any account changes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::Entropy;
use crate::model::Time;

const LIFETIME: Duration = Duration::from_secs(300);
const MOST: usize = 4_096;

/// Passwords that were right lately.
pub(crate) struct CredentialCache {
    key: [u8; 32],
    known: Mutex<HashMap<[u8; 32], Time>>,
}

impl CredentialCache {
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        let mut key = [0; 32];
        entropy.fill(&mut key);
        Self { key, known: Mutex::default() }
    }

    /// Whether this password was right for this hash a short while ago.
    pub(crate) fn knows(&self, hash: &str, password: &str, now: Time) -> bool {
        let digest = self.digest(hash, password);
        self.known().get(&digest).is_some_and(|expires| *expires > now)
    }

    pub(crate) fn remember(&self, hash: &str, password: &str, now: Time) {
        let digest = self.digest(hash, password);
        let mut known = self.known();
        if known.len() >= MOST {
            known.retain(|_, expires| *expires > now);
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(digest, now.plus(LIFETIME));
    }

    pub(crate) fn forget_all(&self) {
        self.known().clear();
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Time>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn digest(&self, hash: &str, password: &str) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.key);
        digest.update((hash.len() as u64).to_be_bytes());
        digest.update(hash);
        digest.update(password);
        digest.finalize().into()
    }
}

impl std::fmt::Debug for CredentialCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialCache").finish_non_exhaustive()
    }
}
