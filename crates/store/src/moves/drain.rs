//! Draining: all that a place holds moves to another one.

use bytes::Bytes;

use super::JobStatus;
use crate::access::Act;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{
    BlobRecord, DrainJob, DrainPhase, JobRecord, Reads, Record, Tally, Transaction,
};
use crate::contents::{blob_ids, count_copy, resolve};
use crate::model::{
    ContentHead, PlaceId, PlaceInfo, PlaceKind, PlaceState, Placement, Resource, ResourceId,
};
use crate::places::records;
use crate::resources::rewrite_record;
use crate::{BlobId, Caller, Error, ErrorKind, Result, Store};

/// How many records one step looks at.
const STEP: usize = 256;

/// How often a place is processed, since writes that were in progress when it was closed may still arrive.
const PASSES: usize = 3;

impl Store {
    /// Closes a place to new contents, and moves what it holds to another one, as a recorded job: copies of blobs,
    /// and replicas. Registered files are not moved, but their bytes are copied and they are not referred to any
    /// more. Needs [`Act::Places`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a group, or if no other place would take new contents.
    pub fn drain_place(
        &self,
        caller: &Caller,
        from: PlaceId,
        to: Option<PlaceId>,
    ) -> Result<JobStatus> {
        caller.require(Act::Places)?;
        let known = self.known();
        let [to] = known.leaves(to.unwrap_or(known.default_place()))[..] else {
            return Err(Error::invalid("a drain has one target place").with_hint("name one"));
        };
        if from == to || known.info(from).is_none_or(|info| info.kind == PlaceKind::Group) {
            return Err(Error::invalid(format!(
                "cannot be drained to that place: {}",
                known.name(from)
            ))
            .with_hint("give a place that is not a group, and another one as the target"));
        }
        known.destination(Some(to))?;
        if known.destination(None)?.ids() == [from] {
            return Err(Error::invalid(format!(
                "this is the place for new contents: {}",
                known.name(from)
            ))
            .with_hint("make another one the default first"));
        }
        self.close_place(from)?;
        let (phase, after, tally) = (DrainPhase::Copy, None, Tally::default());
        self.begin_job(&JobRecord::Drain(DrainJob { from, to, phase, after, tally }))
    }

    fn close_place(&self, id: PlaceId) -> Result<()> {
        self.transact(|tx| {
            let found = records(tx)?.into_iter().find(|(known, _)| *known == id);
            let info = found.map_or_else(PlaceInfo::main, |(_, info)| info);
            tx.put(keys::place(id), &PlaceInfo { state: PlaceState::Draining, ..info });
            Ok(())
        })?;
        self.show_places();
        Ok(())
    }

    pub(super) async fn run_drain(&self, id: u64, mut job: DrainJob) -> Result<Tally> {
        for _ in 0..PASSES {
            self.sweep_place(job.from).await?;
            while self.run_phase(id, &mut job).await? {}
            if !self.holds(job.from, Counter::Resources)?
                && !self.holds(job.from, Counter::Replicas)?
            {
                break;
            }
            (job.phase, job.after) = (DrainPhase::Copy, None);
        }
        Ok(job.tally)
    }

    fn holds(&self, place: PlaceId, what: Counter) -> Result<bool> {
        Ok(self.view()?.counter(place.0, what)? != 0)
    }

    /// Iterates over the table of a phase, from the position of the job; returns whether another phase follows.
    async fn run_phase(&self, id: u64, job: &mut DrainJob) -> Result<bool> {
        let table = match job.phase {
            DrainPhase::Copy | DrainPhase::Remove => keys::blobs(),
            DrainPhase::Record => keys::resources(),
        };
        loop {
            let rest = match &job.after {
                Some(after) => table.clone().after(after),
                None => table.clone(),
            };
            let rows = self.blocking(move |store| store.view()?.rows(&rest, STEP)).await?;
            match job.phase {
                DrainPhase::Record => self.move_placements(id, job, &rows).await,
                DrainPhase::Copy | DrainPhase::Remove => self.move_copies(id, job, &rows).await,
            }
            job.after = rows.last().map(|(last, _)| last.to_vec());
            if rows.len() < STEP {
                return self.next_phase(id, job);
            }
            self.note_job(id, &JobRecord::Drain(job.clone()))?;
        }
    }

    /// Copies are removed only when no replica is recorded there any more.
    fn next_phase(&self, id: u64, job: &mut DrainJob) -> Result<bool> {
        job.after = None;
        job.phase = match job.phase {
            DrainPhase::Copy => DrainPhase::Record,
            DrainPhase::Record if !self.holds(job.from, Counter::Replicas)? => DrainPhase::Remove,
            _ => return Ok(false),
        };
        self.note_job(id, &JobRecord::Drain(job.clone()))?;
        Ok(true)
    }

    async fn move_copies(&self, id: u64, job: &mut DrainJob, rows: &[Row]) {
        for row in rows {
            let moved = self.move_copy(job, row).await;
            self.count(id, job, moved);
        }
    }

    /// Records where the replicas of these resources are now: in one commit, or else in one for each, so that a record that cannot be
    /// read concerns no other.
    async fn move_placements(&self, id: u64, job: &mut DrainJob, rows: &[Row]) {
        let (from, to) = (job.from, job.to);
        let is_there = |value| match Resource::from_value(value) {
            Ok(resource) => resource.placement.places().any(|place| place == from),
            Err(_) => true,
        };
        let there = rows.iter().filter(|(_, value)| is_there(value));
        let ids = there.map(|(key, _)| ResourceId(keys::first_id(key).unwrap_or_default()));
        let ids: Vec<_> = ids.collect();
        if ids.is_empty() || self.move_recorded(ids.clone(), from, to).await.is_ok() {
            return;
        }
        for one in ids {
            let moved = self.move_recorded(vec![one], from, to).await;
            self.count(id, job, moved.map(|()| false));
        }
    }

    async fn move_recorded(&self, ids: Vec<ResourceId>, from: PlaceId, to: PlaceId) -> Result<()> {
        self.blocking(move |store| {
            store.transact(|tx| {
                ids.iter().try_for_each(|id| Self::move_placement(tx, *id, from, to))
            })
        })
        .await
    }

    /// Does what the phase does with a blob; returns whether that counts.
    async fn move_copy(&self, job: &DrainJob, (key, value): &Row) -> Result<bool> {
        let Some(blob) = keys::blob_id(key) else { return Ok(false) };
        if BlobRecord::from_value(value)?.copy_in(job.from).is_none() {
            return Ok(false);
        }
        match job.phase {
            DrainPhase::Copy => self.copy_blob(blob, job.to).await.map(|_| false),
            _ => self.drop_copy(blob, job.from, job.to).await,
        }
    }

    fn count(&self, id: u64, job: &mut DrainJob, moved: Result<bool>) {
        match moved {
            Ok(moved) => job.tally.done += u64::from(moved),
            // It was swept in the meantime; otherwise the next pass finds it again.
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => {
                job.tally.failed += 1;
                self.inner.moves.fault(id, &error);
            }
        }
    }

    /// Removes a copy of a blob that is in the other place, too.
    async fn drop_copy(&self, blob: BlobId, from: PlaceId, to: PlaceId) -> Result<bool> {
        let dropped = self
            .blocking(move |store| {
                store.transact(|tx| {
                    let found = tx.get::<BlobRecord>(&keys::blob(blob))?;
                    let Some(mut record) = found.filter(|record| record.copy_in(to).is_some())
                    else {
                        return Ok(None);
                    };
                    let Some(copy) = record.copy_in(from).cloned() else { return Ok(None) };
                    record.copies.retain(|other| *other != copy);
                    count_copy(tx, &copy, record.size, -1);
                    tx.put(keys::blob(blob), &record);
                    Ok(Some(copy))
                })
            })
            .await?;
        if let Some(copy) = &dropped {
            self.delete_copy(blob, copy).await;
        }
        Ok(dropped.is_some())
    }

    /// Says that a replica is in the other place, if all that it holds is.
    fn move_placement(
        tx: &mut Transaction,
        id: ResourceId,
        from: PlaceId,
        to: PlaceId,
    ) -> Result<()> {
        let Some(old) = tx.get::<Resource>(&keys::resource(id))? else { return Ok(()) };
        let Some(head) = &old.content else { return Ok(()) };
        let has_moved = match &old.placement {
            // Also if a part of it cannot be read: the copies of all others are removed only when nothing is recorded here any more.
            Placement::ByDefault(place) => *place == from,
            Placement::Replicas(replicas) => match replicas.at(from) {
                Some(replica) => has_copies(tx, replica.content(head), from, to)?,
                None => false,
            },
        };
        if has_moved {
            let mut new = old.clone();
            new.placement.moved(from, to);
            rewrite_record(tx, id, &old, &new);
        }
        Ok(())
    }
}

/// Whether each blob of a content that is in one place is in the other, too.
fn has_copies(tx: &Transaction, head: &ContentHead, from: PlaceId, to: PlaceId) -> Result<bool> {
    for blob in blob_ids(&resolve(tx, head)?) {
        let record = tx.get::<BlobRecord>(&keys::blob(blob))?;
        if record.is_some_and(|blob| blob.copy_in(from).is_some() && blob.copy_in(to).is_none()) {
            return Ok(false);
        }
    }
    Ok(true)
}

type Row = (Bytes, Bytes);
