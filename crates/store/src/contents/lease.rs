//! Leases of local files, for a client that shares a disk with the server: a mount that hands files on to the kernel, say.
//!
//! Invariant: until a lease is over, each file in it has the bytes that it had. The content is not swept, since it is pinned as
//! for a reader; and no copy in it is deleted or rewritten, since the lease has the claim on it. Leases are in the memory of this
//! process: over a catalog that several servers share, no local files are leased.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::catalog::{Reads, keys};
use crate::contents::layout::{Layout, LocalPiece};
use crate::contents::read::ReadOptions;
use crate::model::{At, ContentHead, PersonId, PlaceId, ResourceId, Stat, Time};
use crate::places::Claim;
use crate::{BlobId, Caller, Error, ErrorKind, Result, Store};

/// A lease of the local files of a content.
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
    /// Where its bytes are, in order and without gaps.
    pub pieces: Vec<LocalPiece>,
}

/// The id of a lease, 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeaseId([u8; 16]);

impl Lease {
    /// The longest time until a lease has to be renewed.
    pub const LONGEST: Duration = Duration::from_secs(600);
    /// A content of more pieces than this is leased in part.
    const PIECES: usize = 4_096;
}

/// The leases that are not over.
#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    held: HashMap<LeaseId, Leased>,
    /// The copies in them, and in how many each is.
    copies: HashMap<Copied, (Claim, usize)>,
}

type Copied = (BlobId, PlaceId);

#[derive(Debug)]
struct Leased {
    user: PersonId,
    of: ResourceId,
    until: Time,
    copies: Vec<Copied>,
    /// Pins the content.
    _layout: Layout,
}

impl Store {
    /// Leases the local files of a content for so long, [`Lease::LONGEST`] at most. Needs `Rights::READ_CONTENT`, and a
    /// login. There are at most `most` leases at a time, of which one user has at most half.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if there are too many.
    pub fn lease_local(
        &self,
        caller: &Caller,
        at: &At,
        options: &ReadOptions,
        (lifetime, most): (Duration, usize),
    ) -> Result<Lease> {
        check(caller, lifetime)?;
        let opened = self.open(caller, at, options)?;
        let leases = &self.inner.leases;
        leases.expire(self.now());
        leases.check_room(caller.user(), most)?;
        let (mut copies, layout) = (Vec::new(), opened.layout.clone());
        let pieces = layout.local(Lease::PIECES, |blob, place| {
            let kept = copies.contains(&(blob, place)) || self.keep_copy((blob, place))?;
            if kept && !copies.contains(&(blob, place)) {
                copies.push((blob, place));
            }
            Ok(kept)
        });
        let (id, until) = (LeaseId(self.random()), self.now().plus(lifetime));
        let held =
            Leased { user: caller.user(), of: opened.stat.id, until, copies, _layout: layout };
        // Also if it failed midway: the copies are released with the lease.
        leases.state().held.insert(id, held);
        match pieces {
            Ok(pieces) => Ok(Lease { id, until, stat: opened.stat, head: opened.head, pieces }),
            Err(error) => {
                leases.end(id);
                Err(error)
            }
        }
    }

    /// Renews a lease of the caller, who can still read the object: from now on for so long. Says until when.
    pub fn renew_lease(&self, caller: &Caller, id: LeaseId, lifetime: Duration) -> Result<Time> {
        check(caller, lifetime)?;
        let leases = &self.inner.leases;
        leases.expire(self.now());
        let of = leases.of(caller, id)?;
        if let Err(error) = self.open(caller, &At::Id(of), &ReadOptions::default()) {
            leases.end(id);
            return Err(error);
        }
        let until = self.now().plus(lifetime);
        let mut state = leases.state();
        state.held.get_mut(&id).ok_or_else(missing)?.until = until;
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

    /// Keeps a copy where it is for a lease, if the catalog knows it and no damage of it.
    fn keep_copy(&self, (blob, place): Copied) -> Result<bool> {
        let mut state = self.inner.leases.state();
        match state.copies.entry((blob, place)) {
            Entry::Occupied(mut kept) => kept.get_mut().1 += 1,
            Entry::Vacant(free) => {
                // Other servers do not see the claim of a lease.
                if self.is_shared() {
                    return Ok(false);
                }
                let Some(claim) = self.inner.claims.take(blob, place) else { return Ok(false) };
                // The copy is in the catalog, or was handled by another thread before the claim.
                claim.settle();
                let damaged = self.view()?.has(&keys::damage(blob, place))?;
                if damaged || self.is_unknown(place, blob)? {
                    return Ok(false);
                }
                free.insert((claim, 1));
            }
        }
        Ok(true)
    }
}

impl Leases {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a lease of the caller is of.
    fn of(&self, caller: &Caller, id: LeaseId) -> Result<ResourceId> {
        let state = self.state();
        let own = state.held.get(&id).filter(|held| held.user == caller.user());
        own.map(|held| held.of).ok_or_else(missing)
    }

    fn check_room(&self, user: PersonId, most: usize) -> Result<()> {
        let state = self.state();
        let own = state.held.values().filter(|held| held.user == user).count();
        match state.held.len() >= most || own >= most.div_ceil(2) {
            true => Err(Error::new(ErrorKind::Unavailable, "too many leases of local files")
                .with_hint("end some of them, or read through the server")),
            false => Ok(()),
        }
    }

    fn expire(&self, now: Time) {
        let state = self.state();
        let over = state.held.iter().filter(|(_, held)| held.until <= now);
        let over: Vec<LeaseId> = over.map(|(id, _)| *id).collect();
        drop(state);
        over.into_iter().for_each(|id| self.end(id));
    }

    fn end(&self, id: LeaseId) {
        let mut state = self.state();
        let Some(held) = state.held.remove(&id) else { return };
        let mut released = Vec::new();
        for copy in &held.copies {
            if let Entry::Occupied(mut kept) = state.copies.entry(*copy) {
                kept.get_mut().1 -= 1;
                if kept.get().1 == 0 {
                    released.push(kept.remove());
                }
            }
        }
        // Other threads do not wait for the work of dropping.
        drop(state);
        drop((held, released));
    }
}

fn check(caller: &Caller, lifetime: Duration) -> Result<()> {
    if caller.is_anonymous() {
        let message = "local files are leased to callers with a login only";
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
