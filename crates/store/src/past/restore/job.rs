//! The job that builds a collection as it was, aside, and brings it into the tree.
//!
//! Invariant: each commit records the progress of the job together with its results, so that an interrupted job continues from there.

use std::collections::VecDeque;

use super::{state, vacant_slot};
use crate::access::{Chain, Operation, refuse};
use crate::catalog::{JobRecord, Reads, RestoreJob, Tally, Transaction, keys};
use crate::model::{At, Kind, Name, PersonId, Resource, ResourceId, StorePath};
use crate::past::resource::not_kept;
use crate::past::walk::Given;
use crate::past::{Moment, Past, PastEntry, PastWalk};
use crate::quotas::{Crossing, cross, landed};
use crate::resources::{insert_aside, owned_resource, take_back};
use crate::tree::rebase;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// How many entries are read at a time.
const PAGE: usize = 256;

/// What a job has to do, read from its record once.
pub(super) struct Restoring {
    id: u64,
    pub(super) caller: Caller,
    pub(super) path: StorePath,
    pub(super) to: StorePath,
    pub(super) job: RestoreJob,
}

impl Store {
    /// Continues a restoration to its end. What cannot be restored ends it, and what was built is removed.
    pub(crate) async fn run_restore(&self, id: u64, job: RestoreJob) -> Result<Tally> {
        self.blocking(move |store| store.restore_all(id, job)).await
    }

    fn restore_all(&self, id: u64, job: RestoreJob) -> Result<Tally> {
        if job.over {
            return Ok(job.tally);
        }
        match self.build_and_show(id, &job) {
            Err(error) if ends_job(error.kind()) => {
                self.note_job_fault(id, &error);
                self.give_up(id, Tally { done: 0, failed: 1 })
            }
            built => built,
        }
    }

    fn build_and_show(&self, id: u64, job: &RestoreJob) -> Result<Tally> {
        let mut restoring = self.restoring(id, job.clone())?;
        let mut walk = self.walk_again(&restoring)?;
        while !walk.is_over() {
            let mut page = VecDeque::from(self.walk_given(&mut walk, PAGE)?);
            while !page.is_empty() {
                if !self.restore_some(&mut restoring, &mut page)? {
                    // The state changed since it was read: read it again.
                    walk = self.walk_again(&restoring)?;
                    break;
                }
            }
        }
        let tally = restoring.job.tally;
        if tally.done == 0 && tally.failed > 0 {
            return self.give_up(id, tally);
        }
        self.relink_restored(&restoring)?;
        self.show(&restoring)
    }

    fn restoring(&self, id: u64, job: RestoreJob) -> Result<Restoring> {
        let caller = self.caller_within(job.user, job.rights, job.within)?.elevated(job.elevated);
        let (path, to) = (job.path.parse()?, job.to.parse()?);
        Ok(Restoring { id, caller, path, to, job })
    }

    /// A walk of what still has to be created.
    fn walk_again(&self, restoring: &Restoring) -> Result<PastWalk> {
        let Restoring { caller, path, job, .. } = restoring;
        let moment = Moment::Position(job.position.parse()?);
        let after = job.after.as_deref().map(str::parse).transpose()?;
        self.walk_as_of(caller, path, moment, after.as_ref())
    }

    /// Makes the first of these entries, as many as one commit takes; false if one of them is not any more what it was on the snapshot that
    /// it was found on.
    fn restore_some(&self, restoring: &mut Restoring, page: &mut VecDeque<Given>) -> Result<bool> {
        let room = self.parts().engine.limits().batch / 4;
        let (job, made) = self.transact(|tx| {
            restoring.require_unchanged(tx)?;
            let mut job = restoring.job.clone();
            let mut made = 0;
            for given in page.iter() {
                if made > 0 && tx.size() > room {
                    break;
                }
                if !self.restore_entry(tx, restoring, &mut job, given)? {
                    break;
                }
                job.after = Some(given.entry.path().to_string());
                made += 1;
            }
            tx.put(keys::job(restoring.id), &JobRecord::Restore(job.clone()));
            Ok((job, made))
        })?;
        restoring.job = job;
        page.drain(..made);
        Ok(made > 0)
    }

    /// Creates what an entry describes; false if it is not current.
    fn restore_entry(
        &self,
        tx: &mut Transaction,
        restoring: &Restoring,
        job: &mut RestoreJob,
        given: &Given,
    ) -> Result<bool> {
        let (path, made) = (
            given.entry.path(),
            match &given.entry {
                PastEntry::Lost { path, .. } => Err(not_kept(path)),
                PastEntry::Kept(past) if !state::is_current(tx, past)? => return Ok(false),
                PastEntry::Kept(past) => restoring.restorable(given, past),
            },
        );
        match made {
            Ok(past) => {
                let links = self.restore_known(tx, restoring, past)?;
                job.links = Some(links || job.links == Some(true));
                job.tally.done += 1;
            }
            Err(error) if !job.partial => return Err(error),
            Err(error) => {
                self.note_job_fault(restoring.id, &error);
                job.tally.failed += 1;
                if given.kind == Some(Kind::Collection) {
                    self.restore_unknown(tx, restoring, path)?;
                }
            }
        }
        Ok(true)
    }

    /// Says whether there are links in its description.
    fn restore_known(
        &self,
        tx: &mut Transaction,
        restoring: &Restoring,
        past: &Past,
    ) -> Result<bool> {
        let (collection, name) = restoring.place(tx, &past.path)?;
        let by = (restoring.owner(tx)?, restoring.caller.user());
        let resource = self.as_it_was(tx, by, (&collection, name), past)?;
        let id = ResourceId(self.new_id()?);
        insert_aside(tx, id, &resource);
        let path = rebase(&past.path, &restoring.path, &restoring.to)?;
        state::describe(tx, (id, &path), past)
    }

    /// Creates a bare collection for one of which it is known what was in it, and not what it was like.
    fn restore_unknown(
        &self,
        tx: &mut Transaction,
        restoring: &Restoring,
        path: &StorePath,
    ) -> Result<()> {
        let (collection, name) = restoring.place(tx, path)?;
        let owner = restoring.owner(tx)?;
        let resource = owned_resource(tx, owner, &collection, name, Kind::Collection);
        insert_aside(tx, ResourceId(self.new_id()?), &resource);
        Ok(())
    }

    /// Brings what was built into the tree, where its name has to be free still.
    fn show(&self, restoring: &Restoring) -> Result<Tally> {
        let Restoring { id, caller, to, job, .. } = restoring;
        self.transact_move(|tx, mark| {
            restoring.require_unchanged(tx)?;
            let free = vacant_slot(tx, caller, to, job.parents)?;
            let old = restoring.made(tx)?;
            if let Crossing::CountFirst(top) = cross(tx, (job.made, &old), free.above.id(), mark)? {
                return Ok(Crossing::CountFirst(top));
            }
            let (collection, name) = self.make_parents(tx, caller, free)?;
            let (parent, name) = (collection.id(), name.as_str().to_owned());
            let new = Resource { parent, name, counting: landed(tx, &old), ..old.clone() };
            take_back(tx, job.made, &old, &new, caller.user());
            let over = RestoreJob { over: true, ..job.clone() };
            tx.put(keys::job(*id), &JobRecord::Restore(over));
            Ok(Crossing::Done(()))
        })?;
        Ok(job.tally)
    }

    /// Leaves what was built to a job that removes it.
    fn give_up(&self, id: u64, tally: Tally) -> Result<Tally> {
        self.transact(|tx| {
            let Some(JobRecord::Restore(job)) = tx.get(&keys::job(id))? else { return Ok(()) };
            if !job.over {
                tx.put(keys::job(self.new_id()?), &JobRecord::Sweep(job.made));
                let over = RestoreJob { over: true, tally, ..job };
                tx.put(keys::job(id), &JobRecord::Restore(over));
            }
            Ok(())
        })?;
        self.inner.work.notify_one();
        Ok(tally)
    }
}

impl Restoring {
    /// Refuses if another process works on the job.
    pub(super) fn require_unchanged(&self, tx: &Transaction) -> Result<()> {
        match tx.get::<JobRecord>(&keys::job(self.id))? {
            Some(JobRecord::Restore(job)) if job == self.job => Ok(()),
            _ => Err(Error::new(ErrorKind::Conflict, "another process is working on the job")),
        }
    }

    /// What was found, if it is known whole and the caller may have it.
    fn restorable<'a>(&self, given: &Given, past: &'a Past) -> Result<&'a Past> {
        let target = past.attributes.as_ref().and_then(|was| was.target.as_ref());
        if past.kind == Kind::Link && target.is_none() {
            return Err(not_kept(&past.path));
        }
        if past.kind == Kind::Object {
            let at = At::from(past.path.clone());
            refuse(&self.caller, given.rights, Operation::Read, &at)?;
        }
        Ok(past)
    }

    /// The resource created for the top.
    pub(super) fn made(&self, tx: &Transaction) -> Result<Resource> {
        let gone = || Error::new(ErrorKind::NotFound, "the result of the job is missing");
        tx.get(&keys::resource(self.job.made))?.ok_or_else(gone)
    }

    fn owner(&self, tx: &Transaction) -> Result<PersonId> {
        Ok(self.made(tx)?.owner)
    }

    /// The collection that was made for the one in which this was, and its name.
    fn place(&self, tx: &Transaction, path: &StorePath) -> Result<(Chain, Name)> {
        let below = &path.names()[self.path.names().len()..];
        StorePath::check_depth(self.to.names().len() + below.len())?;
        let (name, above) = below.split_last().ok_or_else(|| Error::exists(path))?;
        let mut chain = Chain::alone(self.job.made, self.made(tx)?);
        for name in above {
            let missing = || Error::not_found(path.clone());
            chain = chain.named_child(tx, name)?.ok_or_else(missing)?;
        }
        Ok((chain, name.clone()))
    }
}

/// Whether an error says that this can never be restored, not only that it cannot now.
fn ends_job(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Invalid
            | ErrorKind::NotFound
            | ErrorKind::Exists
            | ErrorKind::WrongKind
            | ErrorKind::Denied
            | ErrorKind::Unauthenticated
            | ErrorKind::Expired
            | ErrorKind::TooLarge
            | ErrorKind::NoSpace
            | ErrorKind::Quota
            | ErrorKind::Damaged
    )
}
