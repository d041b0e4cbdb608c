//! All open connections: how many there are, which addresses have them, and which one is closed to make room
//! for another.
//!
//! Invariant: when there is no room, a new connection replaces the one whose closing loses least, of the address with
//! the most connections; a connection on which a caller with a login waits is never closed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::state::{Connection, Loss};
use crate::config::Limits;

/// Why a connection is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its address has reached its limit, and all of its connections are busy.
    Address,
    /// All connections are busy with callers that are logged in.
    Full,
}

/// The open connections of a server.
#[derive(Debug, Clone)]
pub(super) struct Connections(Arc<Mutex<Table>>);

#[derive(Debug)]
struct Table {
    most: usize,
    per_address: usize,
    proxies: Vec<IpAddr>,
    open: HashMap<u64, (IpAddr, Arc<Connection>)>,
    /// The number of connections of each address.
    counts: HashMap<IpAddr, usize>,
    next: u64,
}

/// A connection that could be closed to make room; the smallest is closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The number of connections of its address.
    count: Reverse<usize>,
    address: IpAddr,
    loss: Loss,
    since: Instant,
    id: u64,
}

impl Candidate {
    /// Whether the two have the same address and would lose the same.
    fn is_like(&self, other: &Self) -> bool {
        (self.address, self.loss) == (other.address, other.loss)
    }
}

/// Idle connections of the busiest address are closed several at a time, one in this many of all: examining
/// all of them for each new connection would help a flood.
const AT_A_TIME: usize = 64;

impl Connections {
    pub(super) fn new(limits: &Limits) -> Self {
        let table = Table {
            most: limits.connections.max(1),
            per_address: limits.connections_per_address.max(1),
            proxies: limits.proxies.clone(),
            open: HashMap::new(),
            counts: HashMap::new(),
            next: 0,
        };
        Self(Arc::new(Mutex::new(table)))
    }

    /// Admits a new connection.
    pub(super) fn admit(&self, peer: IpAddr) -> Result<Place, Refused> {
        let mut table = self.table();
        if table.is_too_many(peer) {
            table.make_room(Some(network(peer))).ok_or(Refused::Address)?;
        }
        if table.open.len() >= table.most {
            table.make_room(None).ok_or(Refused::Full)?;
        }
        let (id, connection) = table.add(network(peer));
        Ok(Place { connections: self.clone(), id, connection })
    }

    /// Closes a connection, if one can be closed.
    pub(super) fn make_room(&self) {
        self.table().make_room(None);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn is_too_many(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        let is_many = peer.is_loopback() || self.proxies.contains(&peer);
        !is_many && self.count(network(peer)) >= self.per_address
    }

    fn count(&self, address: IpAddr) -> usize {
        self.counts.get(&address).copied().unwrap_or(0)
    }

    fn add(&mut self, address: IpAddr) -> (u64, Arc<Connection>) {
        let (id, connection) = (self.next, Arc::new(Connection::new()));
        self.next += 1;
        self.open.insert(id, (address, Arc::clone(&connection)));
        *self.counts.entry(address).or_default() += 1;
        (id, connection)
    }

    fn remove(&mut self, id: u64) -> Option<Arc<Connection>> {
        let (address, connection) = self.open.remove(&id)?;
        let count = self.counts.get_mut(&address)?;
        *count -= 1;
        if *count == 0 {
            self.counts.remove(&address);
        }
        Some(connection)
    }

    /// Closes the connections whose closing loses least, all of one address; `None` if none can be closed.
    fn make_room(&mut self, of: Option<IpAddr>) -> Option<()> {
        let mut candidates = self.candidates(of);
        let first = *candidates.iter().min()?;
        candidates.retain(|candidate| candidate.is_like(&first));
        candidates.sort_unstable();
        let most = match first.loss {
            Loss::Nothing => (self.most / AT_A_TIME).max(1),
            _ => 1,
        };
        for Candidate { id, .. } in candidates.into_iter().take(most) {
            self.remove(id)?.evict();
        }
        Some(())
    }

    fn candidates(&self, of: Option<IpAddr>) -> Vec<Candidate> {
        let eligible =
            self.open.iter().filter(|(_, (address, _))| of.is_none_or(|of| of == *address));
        let candidate = |(id, (address, connection)): (&u64, &(IpAddr, Arc<Connection>))| {
            let (loss, since) = connection.loss()?;
            let count = Reverse(self.count(*address));
            Some(Candidate { count, address: *address, loss, since, id: *id })
        };
        eligible.filter_map(candidate).collect()
    }
}

/// What counts as one address: for IPv6, the subscriber's network, all of whose addresses the subscriber can use.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// The slot of an open connection.
#[derive(Debug)]
pub(super) struct Place {
    connections: Connections,
    id: u64,
    connection: Arc<Connection>,
}

impl Place {
    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.table().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: usize, per_address: usize) -> Connections {
        let limits =
            Limits { connections: most, connections_per_address: per_address, ..Limits::default() };
        Connections::new(&limits)
    }

    fn ip(address: &str) -> IpAddr {
        address.parse().unwrap()
    }

    impl Connections {
        fn place(&self, address: &str) -> Place {
            self.admit(ip(address)).unwrap()
        }

        fn has(&self, place: &Place) -> bool {
            self.table().open.contains_key(&place.id)
        }
    }

    #[tokio::test]
    async fn a_new_connection_replaces_the_least_important_one() {
        let all = connections(3, 9);
        let (known, anonymous, reused) =
            (all.place("10.0.0.1"), all.place("10.0.0.1"), all.place("10.0.0.1"));
        let _request = known.connection().begin(false);
        _request.handle().mark_authenticated();
        let _look = anonymous.connection().begin(false);
        drop(reused.connection().begin(false));
        let newcomer = all.place("10.0.0.1");
        assert!(!all.has(&reused) && all.has(&anonymous), "what is kept for a next request");
        let next = all.place("10.0.0.1");
        assert!(!all.has(&newcomer), "what has sent nothing");
        next.connection().begin(false).handle().mark_authenticated();
        let request = next.connection().begin(false);
        request.handle().mark_authenticated();
        let last = all.place("10.0.0.1");
        assert!(!all.has(&anonymous), "a caller without a login");
        let request = last.connection().begin(false);
        request.handle().mark_authenticated();
        assert_eq!(all.admit(ip("10.0.0.1")).unwrap_err(), Refused::Full);
        assert!(all.has(&known));
    }

    #[tokio::test]
    async fn the_oldest_connection_of_the_busiest_address_is_closed_first() {
        let all = connections(4, 9);
        let lone = all.place("10.0.0.1");
        let many = [all.place("10.0.0.2"), all.place("10.0.0.2"), all.place("10.0.0.2")];
        let _next = all.place("10.0.0.3");
        assert!(all.has(&lone) && !all.has(&many[0]) && all.has(&many[1]));
    }

    #[tokio::test]
    async fn an_address_has_a_limit_and_an_ipv6_network_counts_as_one() {
        let all = connections(99, 2);
        for (one, same, other) in [
            ("10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::"),
        ] {
            let held = [all.place(one), all.place(same)];
            let requests: Vec<_> = held.iter().map(|held| held.connection().begin(false)).collect();
            requests.iter().for_each(|request| request.handle().mark_authenticated());
            assert_eq!(all.admit(ip(one)).unwrap_err(), Refused::Address);
            let _other = all.place(other);
            drop(requests);
            let _next = all.place(one);
            assert!(!all.has(&held[0]), "the oldest of this address");
        }
        let _loopback: Vec<_> = (0..9).map(|_| all.place("127.0.0.1")).collect();
        assert_eq!(all.table().count(ip("127.0.0.1")), 9);
    }

    #[tokio::test]
    async fn ended_connections_leave_nothing_behind() {
        let all = connections(2, 2);
        drop((0..9).map(|_| all.place("10.0.0.1")).collect::<Vec<_>>());
        let table = all.table();
        assert!(table.open.is_empty() && table.counts.is_empty());
    }
}
