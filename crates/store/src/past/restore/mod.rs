//! Restoring what was at a path at a moment, under another name: contents are shared, descriptions, modes and times are written.
//!
//! Invariants: a restoration is exact, or nothing is restored; a tree is built aside, where nobody sees it, and appears as a whole, by one
//! commit. The resources are new ones: they have ids and access lists of their own, and no versions;
//! links between them lead to each other.

mod job;
mod links;
mod state;

use super::resource::{Found, not_kept};
use super::since::revisions;
use super::{AsOf, Moment, Past};
use crate::access::{Operation, Slot, VacantSlot, refuse};
use crate::catalog::{JobRecord, RestoreJob, Tally, Transaction, keys};
use crate::feed::Position;
use crate::model::{At, Kind, Resource, ResourceId, Stat, StorePath};
use crate::moves::JobStatus;
use crate::resources::{insert, insert_aside, split};
use crate::{Caller, Error, ErrorKind, Result, Store, quotas};

/// What to restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestorePast {
    /// The path that it had.
    pub path: StorePath,
    /// When.
    pub moment: Moment,
    /// The path that it gets, which has to be free.
    pub to: StorePath,
    /// With all that was below it.
    pub recursive: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// Leave out what was not kept, or may not be read, instead of restoring nothing.
    pub partial: bool,
}

/// What became of a restoration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoredPast {
    /// It exists.
    Now(Box<Stat>),
    /// A recorded job builds it; it is seen once it is whole.
    Job(JobStatus),
}

impl Store {
    /// Restores what was at a path at a moment, under another one: a collection by a recorded job. Needs what reading it as of that moment
    /// needs, `Rights::LIST` or `Rights::READ_CONTENT`, and `Rights::CREATE` at the target.
    ///
    /// # Errors
    /// Those of [`Store::stat_as_of`]; [`ErrorKind::Exists`] if the name is taken, [`ErrorKind::WrongKind`] for a collection without
    /// `recursive`. What a job finds later is its [fault](JobStatus::fault): then nothing is restored.
    pub fn restore_as_of(&self, caller: &Caller, what: &RestorePast) -> Result<RestoredPast> {
        split(&what.to)?;
        let view = self.view()?;
        let past = self.as_of(&view, caller, what.moment)?;
        let found = past.find(&what.path, Operation::Stat)?;
        let state = past.only(&found)?;
        match state.kind {
            Kind::Collection => self.begin_restore(caller, what, &past, &state),
            _ => {
                past.require(&found, Operation::Read)?;
                self.restore_one(caller, what, &state).map(|stat| RestoredPast::Now(Box::new(stat)))
            }
        }
    }

    /// Restores a resource other than a collection.
    fn restore_one(&self, caller: &Caller, what: &RestorePast, state: &Past) -> Result<Stat> {
        self.transact(|tx| {
            if !state::is_current(tx, state)? {
                return Err(Error::new(ErrorKind::Conflict, "it was changed in the meantime"));
            }
            let free = vacant_slot(tx, caller, &what.to, what.parents)?;
            let (collection, name) = self.make_parents(tx, caller, free)?;
            let owner = caller.owner_in(&collection);
            let by = (owner, caller.user());
            let resource = self.as_it_was(tx, by, (&collection, name), state)?;
            let id = ResourceId(self.new_id()?);
            insert(tx, id, &resource);
            state::describe(tx, (id, &what.to), state)?;
            Ok(Stat { id, path: what.to.clone(), resource })
        })
    }

    /// Records the job that builds a collection, and makes its top.
    fn begin_restore(
        &self,
        caller: &Caller,
        what: &RestorePast,
        past: &AsOf<'_>,
        state: &Past,
    ) -> Result<RestoredPast> {
        if !what.recursive {
            let message = format!("a collection: {}", what.path);
            return Err(Error::new(ErrorKind::WrongKind, message)
                .with_hint("restore recursively to restore a collection"));
        }
        if caller.is_anonymous() {
            return Err(Error::new(ErrorKind::Unauthenticated, "only users can start a job"));
        }
        past.find(&what.path, Operation::List)?;
        let id = self.new_id()?;
        let record = self.transact(|tx| {
            if !state::is_current(tx, state)? {
                return Err(Error::new(ErrorKind::Conflict, "it was changed in the meantime"));
            }
            let made = ResourceId(self.new_id()?);
            let top = self.top_aside(tx, caller, what, state)?;
            insert_aside(tx, made, &top);
            let links = state::describe(tx, (made, &what.to), state)?;
            let job = job_record(caller, what, (made, past.cut.0));
            let record = JobRecord::Restore(RestoreJob { links: Some(links), ..job });
            tx.put(keys::job(id), &record);
            Ok(record)
        })?;
        Ok(RestoredPast::Job(self.begun_job(id, &record)))
    }

    fn top_aside(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        what: &RestorePast,
        state: &Past,
    ) -> Result<Resource> {
        let free = vacant_slot(tx, caller, &what.to, what.parents)?;
        let by = (caller.owner_in(&free.above), caller.user());
        let top = self.as_it_was(tx, by, (&free.above, free.name), state)?;
        // It counts for the quotas of its target from the start.
        let counting = quotas::removed(tx, &top)?;
        Ok(Resource { parent: ResourceId::REMOVED, counting, ..top })
    }
}

impl AsOf<'_> {
    /// What one resource was like.
    fn only(&self, found: &Found) -> Result<Past> {
        let id = found.chain.id();
        let revisions = revisions(self.view, self.cut, |other| other == id)?;
        self.state(found, &revisions)?.ok_or_else(|| not_kept(&found.path))
    }

    fn require(&self, found: &Found, operation: Operation) -> Result<()> {
        let at = At::from(found.path.clone());
        refuse(self.caller, found.rights(self.caller), operation, &at)
    }
}

/// A place where a resource can be created.
fn vacant_slot(
    tx: &Transaction,
    caller: &Caller,
    to: &StorePath,
    parents: bool,
) -> Result<VacantSlot> {
    match Slot::find(tx, caller, to, parents) {
        Ok(Slot::Vacant(free)) => Ok(free),
        Ok(Slot::Occupied(_)) => Err(taken(to)),
        Err(error) if error.kind() == ErrorKind::Exists => Err(taken(to)),
        Err(error) => Err(error),
    }
}

fn taken(to: &StorePath) -> Error {
    Error::exists(to).with_hint("restore it under a name that is free: nothing is replaced")
}

fn job_record(
    caller: &Caller,
    what: &RestorePast,
    (made, position): (ResourceId, Position),
) -> RestoreJob {
    RestoreJob {
        made,
        path: what.path.to_string(),
        position: position.to_string(),
        to: what.to.to_string(),
        user: caller.user(),
        elevated: caller.is_elevated(),
        rights: (!caller.is_unlimited()).then(|| caller.ceiling()),
        within: caller.within(),
        parents: what.parents,
        partial: what.partial,
        after: None,
        tally: Tally::default(),
        over: false,
        links: None,
    }
}
