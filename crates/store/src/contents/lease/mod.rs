//! Leases: a content stays as it is for a while, so that a client can read it in several steps, or past the server.
//!
//! Invariant: until a lease is over, the content in it is not swept, since it is pinned as for a reader. Leases are in the memory of this
//! process.

mod content;
mod local;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::content::LeasedContent;
use crate::contents::layout::{Layout, LocalPiece};
use crate::contents::read::ReadOptions;
use crate::model::{At, ContentHead, PersonId, PlaceId, ResourceId, Stat, Time};
use crate::places::Claim;
use crate::{BlobId, Caller, Error, ErrorKind, Result, Store};

/// A lease of a content.
#[derive(Debug, Clone)]
pub struct Lease {
    /// Names it.
    pub id: LeaseId,
    /// When it is over, unless it is renewed.
    pub until: Time,
    /// The object.
    pub stat: Stat,
    /// The content: the current one, or that of the requested version.
    pub head: ContentHead,
    /// Where its bytes are, in order and without gaps, if local files were asked for.
    pub pieces: Vec<LocalPiece>,
}

/// The id of a lease, 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseId([u8; 16]);

impl Lease {
    /// The longest time until a lease has to be renewed.
    pub const LONGEST: Duration = Duration::from_secs(600);
}

/// The leases that are not over.
#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    leases: HashMap<LeaseId, Leased>,
    /// The copies in them, and in how many each is.
    copies: HashMap<Copied, (Claim, usize)>,
}

type Copied = (BlobId, PlaceId);

#[derive(Debug)]
struct Leased {
    user: PersonId,
    of: ResourceId,
    until: Time,
    kept: Kept,
}

/// What a lease keeps as it is.
#[derive(Debug)]
enum Kept {
    /// The copies that are read past the server, and the pin of their content.
    Files { copies: Vec<Copied>, _layout: Layout },
    /// A content, which is read through the server.
    Content(Arc<LeasedContent>),
}

impl Store {
    /// Renews a lease of the caller, who can still read the object: from now on for so long. Says until when.
    pub fn renew_lease(&self, caller: &Caller, id: LeaseId, lifetime: Duration) -> Result<Time> {
        check(caller, lifetime)?;
        let leases = &self.inner.leases;
        leases.expire(self.now());
        match leases.of(caller, id)? {
            (of, true) => self.require_leased(&self.view()?, caller, (id, of))?,
            (of, false) => {
                let opened = self.open(caller, &At::Id(of), &ReadOptions::default());
                opened.inspect_err(|_| leases.end(id))?;
            }
        }
        let until = self.now().plus(lifetime);
        let mut state = leases.state();
        state.leases.get_mut(&id).ok_or_else(missing)?.until = until;
        Ok(until)
    }

    /// Ends a lease of the caller.
    pub fn end_lease(&self, caller: &Caller, id: LeaseId) -> Result<()> {
        self.inner.leases.of(caller, id)?;
        self.inner.leases.end(id);
        Ok(())
    }

    /// Ends leases whose time is over.
    pub(crate) fn expire_leases(&self) {
        self.inner.leases.expire(self.now());
    }
}

impl Leases {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a lease of the caller is of, and whether its content is read through the server.
    fn of(&self, caller: &Caller, id: LeaseId) -> Result<(ResourceId, bool)> {
        let state = self.state();
        let own = state.leases.get(&id).filter(|lease| lease.user == caller.user());
        own.map(|lease| (lease.of, matches!(lease.kept, Kept::Content(_)))).ok_or_else(missing)
    }

    /// Refuses one more lease of a kind if there are too many.
    fn check_room(&self, user: PersonId, most: usize, of: impl Fn(&Kept) -> bool) -> Result<()> {
        let state = self.state();
        let alike = state.leases.values().filter(|lease| of(&lease.kept));
        let (all, own) = alike
            .fold((0, 0), |(all, own), lease| (all + 1, own + usize::from(lease.user == user)));
        match all >= most || own >= most.div_ceil(2) {
            true => Err(Error::new(ErrorKind::Unavailable, "too many leases of contents")
                .with_hint("end some of them, or read through the server")),
            false => Ok(()),
        }
    }

    fn expire(&self, now: Time) {
        let state = self.state();
        let over = state.leases.iter().filter(|(_, lease)| lease.until <= now);
        let over: Vec<LeaseId> = over.map(|(id, _)| *id).collect();
        drop(state);
        over.into_iter().for_each(|id| self.end(id));
    }

    fn end(&self, id: LeaseId) {
        let mut state = self.state();
        let Some(lease) = state.leases.remove(&id) else { return };
        let mut released = Vec::new();
        let copies = match &lease.kept {
            Kept::Files { copies, .. } => copies.as_slice(),
            Kept::Content(_) => &[],
        };
        for copy in copies {
            if let Entry::Occupied(mut kept) = state.copies.entry(*copy) {
                kept.get_mut().1 -= 1;
                if kept.get().1 == 0 {
                    released.push(kept.remove());
                }
            }
        }
        // Other threads do not wait for the work of dropping.
        drop(state);
        drop((lease, released));
    }
}

fn check(caller: &Caller, lifetime: Duration) -> Result<()> {
    if caller.is_anonymous() {
        let message = "contents are leased to callers with a login only";
        return Err(Error::new(ErrorKind::Denied, message).with_hint("log in"));
    }
    match (Duration::from_secs(1)..=Lease::LONGEST).contains(&lifetime) {
        true => Ok(()),
        false => Err(Error::invalid("a lease lasts for 1 to 600 seconds")),
    }
}

fn missing() -> Error {
    Error::new(ErrorKind::NotFound, "there is no such lease")
        .with_hint("it may have ended: create another one")
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for LeaseId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number.map(|number| Self(number.to_be_bytes())).ok_or_else(missing)
    }
}
