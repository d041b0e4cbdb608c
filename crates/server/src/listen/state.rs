//! The state of one connection, which decides when it is closed and whether it makes room for others.
//!
//! Invariant: at any time a connection has a deadline of its own, or the server works for it, or it is kept
//! open by bytes in transit (or a timer for these).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// Why the server closed a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// No TLS handshake in time.
    Handshake,
    /// No whole header in time.
    Header,
    /// No request for too long.
    Idle,
    /// The peer does not read its response.
    Unread,
    /// Another connection needed the slot.
    Room,
}

impl Closed {
    /// Its label in metrics.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Header => "header",
            Self::Idle => "idle",
            Self::Unread => "unread",
            Self::Room => "room",
        }
    }
}

/// Timeouts for a peer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// For a handshake, and for a header.
    pub(super) header: Duration,
    /// Without a request, and without taking a byte.
    pub(super) idle: Duration,
}

/// What closing a connection would lose, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loss {
    /// It has not sent a whole request.
    Nothing,
    /// It is kept for a further request.
    Reuse,
    /// The requests in progress belong to callers without a login.
    Anonymous,
}

/// One open connection.
#[derive(Debug)]
pub(super) struct Connection {
    state: Mutex<State>,
    evicted: Notify,
}

#[derive(Debug)]
struct State {
    /// Since when no request has been in progress.
    since: Instant,
    /// When the first byte after that arrived.
    first_byte: Option<Instant>,
    answered: bool,
    http2: bool,
    /// A write is waiting for the peer; [`StallGuard`](super::stall::StallGuard) limits that.
    writing: bool,
    /// A write has waited too long.
    given_up: bool,
    /// Bodies of refused requests that are being read and discarded.
    drains: usize,
    exchanges: BTreeMap<u64, Exchange>,
    next: u64,
}

/// A request in progress.
#[derive(Debug)]
struct Exchange {
    /// Whether its caller has logged in.
    authenticated: bool,
    /// When the peer must have read the bytes handed over.
    taken_by: Option<Instant>,
}

/// What to do about a connection now.
enum Look {
    Close(Closed),
    Again(Instant),
}

impl Connection {
    pub(super) fn new() -> Self {
        let state = State {
            since: Instant::now(),
            first_byte: None,
            answered: false,
            http2: false,
            writing: false,
            given_up: false,
            drains: 0,
            exchanges: BTreeMap::new(),
            next: 0,
        };
        Self { state: Mutex::new(state), evicted: Notify::new() }
    }

    /// TLS is established: the time for the first request begins.
    pub(super) fn secured(&self) {
        self.state().since = Instant::now();
    }

    /// A byte has arrived.
    pub(super) fn received(&self) {
        let mut state = self.state();
        if state.exchanges.is_empty() && state.first_byte.is_none() {
            state.first_byte = Some(Instant::now());
        }
    }

    /// Sets whether a write is waiting for the peer.
    pub(super) fn set_writing(&self, writing: bool) {
        self.state().writing = writing;
    }

    /// A write has waited too long.
    pub(super) fn give_up(&self) {
        self.state().given_up = true;
    }

    pub(super) fn was_given_up(&self) -> bool {
        self.state().given_up
    }

    /// A request is in progress until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, http2: bool) -> UnderWay {
        let mut state = self.state();
        let id = state.next;
        state.next += 1;
        state.http2 = http2;
        state.exchanges.insert(id, Exchange { authenticated: false, taken_by: None });
        UnderWay(Handle { connection: Arc::clone(self), id })
    }

    /// A body is being discarded until the guard is dropped.
    pub(super) fn drain(self: &Arc<Self>) -> Draining {
        self.state().drains += 1;
        Draining(Arc::clone(self))
    }

    /// Resolves when a deadline has passed.
    pub(super) async fn overdue(&self, times: Times) -> Closed {
        loop {
            let look = self.state().look(times, Instant::now());
            match look {
                Look::Close(reason) => return reason,
                Look::Again(then) => sleep_until(then).await,
            }
        }
    }

    /// Requests that the connection end at once.
    pub(super) fn evict(&self) {
        self.evicted.notify_one();
    }

    /// Resolves when the connection has been asked to end.
    pub(super) async fn evicted(&self) {
        self.evicted.notified().await;
    }

    /// What closing it would lose, and since when; `None` if a caller with a login is waiting for it.
    pub(super) fn loss(&self) -> Option<(Loss, Instant)> {
        let state = self.state();
        if state.exchanges.values().any(|exchange| exchange.authenticated) {
            return None;
        }
        let loss = match () {
            () if state.writing || !state.exchanges.is_empty() => Loss::Anonymous,
            () if state.answered => Loss::Reuse,
            () => Loss::Nothing,
        };
        Some((loss, state.since))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn look(&self, times: Times, now: Instant) -> Look {
        // Anything that begins after this check has a deadline after the next one.
        let next = now + times.header.min(times.idle);
        match self.deadline(times) {
            Some((deadline, reason)) if deadline <= now => Look::Close(reason),
            Some((deadline, _)) => Look::Again(deadline.min(next)),
            None => Look::Again(next),
        }
    }

    fn deadline(&self, times: Times) -> Option<(Instant, Closed)> {
        if !self.exchanges.is_empty() {
            let taken_by = self.exchanges.values().filter_map(|exchange| exchange.taken_by).min();
            return taken_by.map(|deadline| (deadline, Closed::Unread));
        }
        if self.writing || self.drains > 0 {
            return None;
        }
        Some(match self.first_byte {
            _ if !self.answered => (self.since + times.header, Closed::Header),
            // HTTP/2 has frames that are not requests: its first byte does not start one.
            Some(first) if !self.http2 => (first + times.header, Closed::Header),
            _ => (self.since + times.idle, Closed::Idle),
        })
    }

    fn end(&mut self, id: u64) {
        self.exchanges.remove(&id);
        if self.exchanges.is_empty() {
            self.rest();
        }
    }

    fn rest(&mut self) {
        self.answered = true;
        self.since = Instant::now();
        self.first_byte = None;
    }
}

/// A request in progress on a connection.
#[derive(Debug)]
pub(super) struct UnderWay(Handle);

impl UnderWay {
    /// The handle with which the layers report the caller.
    pub(super) fn handle(&self) -> Handle {
        self.0.clone()
    }

    pub(super) fn connection(&self) -> &Arc<Connection> {
        &self.0.connection
    }

    /// The time by which the peer has to read the bytes handed over; `None` if there are none left.
    pub(super) fn handed(&self, taken_by: Option<Instant>) {
        self.0.change(|exchange| exchange.taken_by = taken_by);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.connection.state().end(self.0.id);
    }
}

/// The request, as an extension of itself.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    connection: Arc<Connection>,
    id: u64,
}

impl Handle {
    /// The caller has logged in: the connection is not closed to make room.
    pub(crate) fn mark_authenticated(&self) {
        self.change(|exchange| exchange.authenticated = true);
    }

    fn change(&self, change: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = self.connection.state().exchanges.get_mut(&self.id) {
            change(exchange);
        }
    }
}

/// The discarding of a body's rest.
#[derive(Debug)]
pub(super) struct Draining(Arc<Connection>);

impl Drop for Draining {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.drains -= 1;
        if state.exchanges.is_empty() {
            state.rest();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: Times = Times { header: Duration::from_secs(30), idle: Duration::from_secs(60) };

    fn deadline(connection: &Connection) -> Option<Closed> {
        connection.state().deadline(TIMES).map(|(_, reason)| reason)
    }

    #[test]
    fn each_phase_has_its_deadline_and_consequence() {
        let (header, idle) = (Some(Closed::Header), Some(Closed::Idle));
        let loss = |connection: &Connection| connection.loss().map(|(loss, _)| loss);
        let connection = Arc::new(Connection::new());
        connection.received();
        assert_eq!((deadline(&connection), loss(&connection)), (header, Some(Loss::Nothing)));
        let request = connection.begin(false);
        assert_eq!((deadline(&connection), loss(&connection)), (None, Some(Loss::Anonymous)));
        request.handle().mark_authenticated();
        assert_eq!((deadline(&connection), loss(&connection)), (None, None));
        request.handed(Some(Instant::now() + TIMES.header));
        assert_eq!(deadline(&connection), Some(Closed::Unread));
        drop(request);
        assert_eq!((deadline(&connection), loss(&connection)), (idle, Some(Loss::Reuse)));
        connection.received();
        assert_eq!(deadline(&connection), header);
        connection.set_writing(true);
        assert_eq!((deadline(&connection), loss(&connection)), (None, Some(Loss::Anonymous)));
        connection.set_writing(false);
        let drain = connection.drain();
        assert_eq!((deadline(&connection), loss(&connection)), (None, Some(Loss::Reuse)));
        drop(drain);
        drop(connection.begin(true));
        connection.received();
        assert_eq!(deadline(&connection), idle, "HTTP/2 sends more than requests");
    }

    #[test]
    fn a_deadline_that_begins_between_two_checks_is_kept() {
        let connection = Arc::new(Connection::new());
        let request = connection.begin(false);
        let begun = Instant::now();
        let Look::Again(next) = connection.state().look(TIMES, begun) else { panic!("at work") };
        drop(request);
        connection.received();
        let (deadline, _) = connection.state().deadline(TIMES).unwrap();
        assert!(next <= deadline, "the next look comes no later");
        let Look::Again(last) = connection.state().look(TIMES, next) else { panic!("too early") };
        assert_eq!(last, deadline);
        assert!(matches!(connection.state().look(TIMES, last), Look::Close(Closed::Header)));
    }
}
