//! Descriptors: how many the process may have, and how they are shared out.
//!
//! Invariant: connections and requests together never take a descriptor that the catalog needs. It opens tables
//! and journals in the background, and a failure there closes the store to changes.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Limits;

/// Descriptors for what is not a connection, a request or a table: standard streams, locks, journals, the
/// runtime, upkeep, and connections that are being closed.
const RESERVE: u64 = 64;
/// The part of all descriptors that the tables of the catalog may take, one in so many.
const CATALOG_PART: u64 = 4;
/// The least and the most that the catalog is given.
const CATALOG: (u64, u64) = (32, 256);
/// Files that a request may have open at a time: what it reads and what it writes.
const OF_A_REQUEST: u64 = 2;

/// Lets this process have as many descriptors as its hard limit allows.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(target: "cenote", %error, "the limit of descriptors could not be raised");
    }
}

/// How many descriptors this process may have.
fn available() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// How many of its tables the catalog should keep open, at most.
pub(crate) fn for_catalog() -> usize {
    catalog_of(available()) as usize
}

fn catalog_of(available: u64) -> u64 {
    (available / CATALOG_PART).clamp(CATALOG.0, CATALOG.1)
}

/// The limits, lowered to what the descriptors of this process allow.
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
            "fewer connections and requests than the settings say: raise the hard limit of open files",
        );
    }
    fitted
}

/// Half of what is left is for connections, half for the files of requests.
fn fit_to(limits: &Limits, available: u64) -> Limits {
    let left = available.saturating_sub(RESERVE + catalog_of(available));
    let at_most =
        |wanted: usize, most: u64| wanted.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1);
    Limits {
        connections: at_most(limits.connections, left / 2),
        requests: at_most(limits.requests, left / 2 / OF_A_REQUEST),
        // Less than the connections that requests leave: there is always one that makes room.
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
