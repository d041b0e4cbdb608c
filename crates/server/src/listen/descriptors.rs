//! File descriptors: how many the process may have, and how they are divided.
//!
//! Invariant: connections and requests together never take a descriptor that the catalog needs. It opens tables
//! and journals in the background, and a failure there closes the store to changes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Limits;

/// Descriptors for anything but connections, requests and tables: standard streams, locks, journals, the
/// runtime, upkeep, and connections that are being closed.
const RESERVE: u64 = 64;
/// The tables of the catalog may take one in this many of all descriptors.
const CATALOG_PART: u64 = 4;
/// The minimum and maximum for the catalog.
const CATALOG: (u64, u64) = (32, 256);
/// Files that a request may have open at a time: the one it reads and the one it writes.
const OF_A_REQUEST: u64 = 2;

/// Raises this process' descriptor limit to the hard limit.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(target: "cenote", %error, "the limit of file descriptors could not be raised");
    }
}

/// How many descriptors this process may have.
fn available() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// The maximum number of tables that the catalog should keep open.
pub(crate) fn for_catalog() -> usize {
    catalog_of(available()) as usize
}

fn catalog_of(available: u64) -> u64 {
    (available / CATALOG_PART).clamp(CATALOG.0, CATALOG.1)
}

/// The limits, reduced to what this process' descriptors allow.
pub(super) fn fit(limits: &Limits) -> Limits {
    let fitted = fit_to(limits, available());
    let lowered = (fitted.connections, fitted.requests);
    if lowered != (limits.connections, limits.requests) {
        let (connections, requests) = lowered;
        tracing::warn!(
            target: "cenote",
            connections,
            requests,
            descriptors = available(),
            "fewer connections and requests than in the settings: raise the hard limit of open files",
        );
    }
    fitted
}

/// Half of the remainder is for connections, half for the files of requests.
fn fit_to(limits: &Limits, available: u64) -> Limits {
    let left = available.saturating_sub(RESERVE + catalog_of(available));
    let at_most =
        |wanted: usize, most: u64| wanted.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Limits {
        connections: at_most(limits.connections, left / 2),
        requests: at_most(limits.requests, left / 2 / OF_A_REQUEST),
        // Fewer than the connections that are not busy with requests: so there is always one that can be closed.
        waits: at_most(limits.waits, left / 8),
        ..limits.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_requests_leave_the_catalog_its_descriptors() {
        for available in (100..5_000).chain([1 << 20, u64::MAX]) {
            let wanted =
                Limits { connections: usize::MAX, requests: usize::MAX, ..Limits::default() };
            let fitted = fit_to(&wanted, available);
            let (connections, requests) = (fitted.connections as u64, fitted.requests as u64);
            let taken = connections.saturating_add(requests.saturating_mul(OF_A_REQUEST));
            assert!(
                taken <= available - RESERVE - catalog_of(available),
                "{available}: {fitted:?}"
            );
        }
        let usual = fit_to(&Limits::default(), 1 << 16);
        assert_eq!(usual, Limits::default());
    }
}
