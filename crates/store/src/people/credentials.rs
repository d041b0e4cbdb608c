//! A memory of passwords that were right, so that only the first use costs argon2.
//!
//! Invariant: nothing here helps to guess a password. An entry is a digest keyed with
//! randomness that dies with the process; wrong passwords are never remembered; a right one is
//! known from the address that it came from only; entries expire unless they are used, are bounded
//! in number, and are dropped when any account changes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::attempts::network;
use crate::Entropy;
use crate::model::Time;

const LIFETIME: Duration = Duration::from_secs(3_600);
const MOST: usize = 4_096;

/// A password as received, and the hash that it should match.
pub(super) struct Shown<'a> {
    pub(super) hash: &'a str,
    pub(super) password: &'a str,
    pub(super) from: Option<IpAddr>,
}

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

    /// Whether this password was right for this hash lately. It stays known while it is used.
    pub(super) fn knows(&self, shown: &Shown<'_>, now: Time) -> bool {
        let digest = self.digest(shown);
        let mut known = self.known();
        let Some(expires) = known.get_mut(&digest).filter(|expires| **expires > now) else {
            return false;
        };
        *expires = now.plus(LIFETIME);
        true
    }

    pub(super) fn remember(&self, shown: &Shown<'_>, now: Time) {
        let digest = self.digest(shown);
        let mut known = self.known();
        if known.len() >= MOST {
            known.retain(|_, expires| *expires > now);
        }
        if known.len() >= MOST {
            forget_older_half(&mut known);
        }
        known.insert(digest, now.plus(LIFETIME));
    }

    pub(crate) fn forget_all(&self) {
        self.known().clear();
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Time>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn digest(&self, shown: &Shown<'_>) -> [u8; 32] {
        let from = shown.from.map(|from| network(from).to_string()).unwrap_or_default();
        let mut digest = Sha256::new();
        digest.update(self.key);
        for part in [shown.hash, &from, shown.password] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }
}

fn forget_older_half(known: &mut HashMap<[u8; 32], Time>) {
    let mut times: Vec<Time> = known.values().copied().collect();
    let middle = times.len() / 2;
    let (_, middle, _) = times.select_nth_unstable(middle);
    let middle = *middle;
    known.retain(|_, expires| *expires > middle);
}

impl std::fmt::Debug for CredentialCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialCache").finish_non_exhaustive()
    }
}
