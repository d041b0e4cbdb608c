//! Leases of a content that is read through the server, for a client that reads it with several requests, and wants all of them to be answered from
//! the same bytes, whatever happens to the object meanwhile.
//!
//! Invariant: each read of such a lease needs the rights of a read of the object, as long as there is one; what was removed for good has no
//! access list any more, and can be read by the holder until the lease is over.

use std::sync::Arc;
use std::time::Duration;

use super::{Kept, Lease, LeaseId, Leased, Leases, check, missing};
use crate::access::{Chain, Operation};
use crate::catalog::View;
use crate::contents::Opened;
use crate::contents::read::content_of;
use crate::contents::sweep::Pin;
use crate::model::{At, ContentHead, ResourceId, Stat, Time};
use crate::resources::find;
use crate::{Caller, Conditions, Error, ErrorKind, Result, Store};

/// A content that is leased: it is pinned, and so not swept.
#[derive(Debug)]
pub(super) struct LeasedContent {
    stat: Stat,
    head: ContentHead,
    _pin: Arc<Pin>,
}

impl Store {
    /// Leases the current content of an object for so long, [`Lease::LONGEST`] at most, so that [`Store::open_leased`] reads it even if it was
    /// replaced or removed. Needs `Rights::READ_CONTENT`, and a login. There are at most `most` such leases at a time, of which one user has at
    /// most half.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if there are too many, [`ErrorKind::Precondition`] if the content does not have the tag of `if_match`,
    /// [`ErrorKind::Denied`] over a catalog that several servers share, where another one could be asked for it.
    pub fn lease_content(
        &self,
        caller: &Caller,
        at: &At,
        if_match: Option<String>,
        (lifetime, most): (Duration, usize),
    ) -> Result<Lease> {
        check(caller, lifetime)?;
        self.require_alone()?;
        let leases = &self.inner.leases;
        leases.expire(self.now());
        leases.check_room(caller.user(), most, |kept| matches!(kept, Kept::Content(_)))?;
        let conditions = Conditions { if_match, ..Conditions::default() };
        let content = self.pin_content(caller, at, &conditions)?;
        let (id, until) = (LeaseId(self.random()), self.now().plus(lifetime));
        let (stat, head) = (content.stat.clone(), content.head.clone());
        let leased = Leased {
            user: caller.user(),
            of: stat.id,
            until,
            kept: Kept::Content(Arc::new(content)),
        };
        leases.state().leases.insert(id, leased);
        Ok(Lease { id, until, stat, head, pieces: Vec::new() })
    }

    fn require_alone(&self) -> Result<()> {
        let message = "contents are not leased over a catalog that several servers share";
        let hint = "read it with one request, or keep a version";
        match self.is_shared() {
            true => Err(Error::new(ErrorKind::Denied, message).with_hint(hint)),
            false => Ok(()),
        }
    }

    fn pin_content(
        &self,
        caller: &Caller,
        at: &At,
        conditions: &Conditions,
    ) -> Result<LeasedContent> {
        loop {
            let view = self.view()?;
            let chain = find(&view, caller, at, Operation::Read)?;
            conditions.check_content(Some(&chain))?;
            let head = content_of(&chain, at)?;
            // If the content was swept between lookup and pin, the next lookup finds another one.
            if let Some(pin) = self.pin(&view, head.id)? {
                return Ok(LeasedContent { stat: chain.into(), head, _pin: pin });
            }
        }
    }

    /// Opens the content of a lease of the caller, who can still read the object, if it was not removed.
    pub fn open_leased(&self, caller: &Caller, id: LeaseId) -> Result<Opened> {
        let content = self.inner.leases.content(caller, id, self.now())?;
        let (view, of) = (self.view()?, content.stat.id);
        self.require_leased(&view, caller, (id, of))?;
        self.open_head(&view, content.stat.clone(), content.head.clone())?.ok_or_else(missing)
    }

    /// Ends a lease whose holder may not read the object any more.
    pub(super) fn require_leased(
        &self,
        view: &View,
        caller: &Caller,
        (lease, of): (LeaseId, ResourceId),
    ) -> Result<()> {
        let at = At::Id(of);
        let readable = match Chain::read_removed(view, of)? {
            None => Ok(()),
            Some(chain) if chain.removed_top().is_some() => {
                chain.require(caller, Operation::Read, &at)
            }
            Some(_) => find(view, caller, &at, Operation::Read).map(drop),
        };
        if readable.is_err() {
            self.inner.leases.end(lease);
        }
        readable
    }
}

impl Leases {
    fn content(&self, caller: &Caller, id: LeaseId, now: Time) -> Result<Arc<LeasedContent>> {
        let state = self.state();
        let own = state.leases.get(&id).filter(|lease| lease.user == caller.user());
        let own = own.filter(|lease| lease.until > now);
        match own.map(|lease| &lease.kept) {
            Some(Kept::Content(content)) => Ok(Arc::clone(content)),
            Some(Kept::Files { .. }) => {
                Err(Error::new(ErrorKind::WrongKind, "this lease is one of local files")
                    .with_hint("read its files"))
            }
            None => Err(missing()),
        }
    }
}
