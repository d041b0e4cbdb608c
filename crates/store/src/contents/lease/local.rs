//! Leases of local files, for a client that shares a disk with the server: a mount that hands files on to the kernel, say.
//!
//! Invariant: until such a lease is over, each file in it has the bytes that it had. The content is not swept, since it is pinned as
//! for a reader; and no copy in it is deleted or rewritten, since the lease has the claim on it. Over a catalog that several servers
//! share, no local files are leased.

use std::collections::hash_map::Entry;
use std::time::Duration;

use super::{Copied, Kept, Lease, LeaseId, Leased, check};
use crate::catalog::{Reads, keys};
use crate::contents::read::ReadOptions;
use crate::model::At;
use crate::{Caller, Result, Store};

/// A content of more pieces than this is leased in part.
const PIECES: usize = 4_096;

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
        leases.check_room(caller.user(), most, |kept| matches!(kept, Kept::Files { .. }))?;
        let (mut copies, layout) = (Vec::new(), opened.layout.clone());
        let pieces = layout.local(PIECES, |blob, place| {
            let kept = copies.contains(&(blob, place)) || self.keep_copy((blob, place))?;
            if kept && !copies.contains(&(blob, place)) {
                copies.push((blob, place));
            }
            Ok(kept)
        });
        let (id, until) = (LeaseId(self.random()), self.now().plus(lifetime));
        let kept = Kept::Files { copies, _layout: layout };
        let lease = Leased { user: caller.user(), of: opened.stat.id, until, kept };
        // Also if it failed midway: the copies are released with the lease.
        leases.state().leases.insert(id, lease);
        match pieces {
            Ok(pieces) => Ok(Lease { id, until, stat: opened.stat, head: opened.head, pieces }),
            Err(error) => {
                leases.end(id);
                Err(error)
            }
        }
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
