//! Work in bounded commits, which a restart resumes: the sweep of removed trees. Jobs that move bytes are in
//! `moves`.

use bytes::Bytes;

use crate::catalog::{Child, JobRecord, Reads, Record, Transaction, keys};
use crate::faults::Faults;
use crate::model::{Resource, ResourceId};
use crate::{Result, Store, tree};

/// How many resources one commit of a sweep removes, at most.
const STEP: usize = 256;

impl Store {
    /// Sweeps what was removed; returns how many resources there were. Several may run at
    /// once, and any may be stopped anywhere.
    pub fn run_jobs(&self) -> Result<u64> {
        let (mut swept, mut faults) = (0, Faults::default());
        for (key, value) in self.view()?.rows(&keys::jobs(), usize::MAX)? {
            swept += faults.add(self.run_job(&key, &value)).unwrap_or(0);
        }
        faults.first().map(|()| swept)
    }

    fn run_job(&self, key: &Bytes, value: &Bytes) -> Result<u64> {
        let root = match JobRecord::from_value(value)? {
            JobRecord::Sweep(root) => root,
            JobRecord::Measure(id) => return self.measure_removed(key, id).map(|()| 0),
            JobRecord::Count(id) => {
                self.count_quota(id)?;
                return self.end_job(key).map(|()| 0);
            }
            JobRecord::Bind(id) => {
                return self.bind_rest(id).map(|()| 0);
            }
            JobRecord::Unmark(top, since) => {
                if self.forget_mark(top, since)? {
                    self.end_job(key)?;
                }
                return Ok(0);
            }
            JobRecord::Tree(_) | JobRecord::Drain(_) | JobRecord::Restore(_) => return Ok(0),
        };
        let swept = self.sweep_tree(root)?;
        self.end_job(key)?;
        Ok(swept)
    }

    fn end_job(&self, key: &Bytes) -> Result<()> {
        self.transact(|tx| {
            tx.frees_space();
            tx.delete(key.clone());
            Ok(())
        })
    }

    /// How much work is recorded.
    pub fn pending_jobs(&self) -> Result<usize> {
        Ok(self.view()?.rows(&keys::jobs(), usize::MAX)?.len())
    }

    /// Removes what is below a removed resource, children first, then itself.
    fn sweep_tree(&self, root: ResourceId) -> Result<u64> {
        // The size of one resource is not known in advance; a quarter leaves room for a large one.
        let room = self.parts().engine.limits().batch / 4;
        let mut swept = 0;
        let mut way = vec![root];
        while let Some(id) = way.last().copied() {
            match self.transact(|tx| sweep_step(tx, &way, id, room))? {
                Step::Descend(child) => way.push(child),
                Step::Swept(count, done) => {
                    swept += count;
                    if done {
                        way.pop();
                    }
                }
            }
        }
        Ok(swept)
    }
}

enum Step {
    /// This child has children of its own: they go first.
    Descend(ResourceId),
    /// So many went; the collection itself, too, if `true`.
    Swept(u64, bool),
}

/// Sweeps some of a collection; the collections above it are read in one call, for the quotas that they count for.
fn sweep_step(
    tx: &mut Transaction,
    way: &[ResourceId],
    id: ResourceId,
    room: usize,
) -> Result<Step> {
    tx.frees_space();
    let above: Vec<_> =
        [ResourceId::ROOT].iter().chain(way).map(|id| keys::resource(*id)).collect();
    tx.values(&above)?;
    let children = tx.rows(&keys::children(id), STEP)?;
    let mut swept = 0;
    for (key, value) in &children {
        if tx.size() > room {
            return Ok(Step::Swept(swept, false));
        }
        let child = Child::from_value(value)?;
        if !tx.rows(&keys::children(child.id), 1)?.is_empty() {
            return Ok(if swept == 0 {
                Step::Descend(child.id)
            } else {
                Step::Swept(swept, false)
            });
        }
        tx.delete(key.clone());
        swept += erase(tx, child.id)?;
    }
    match children.is_empty() {
        true => Ok(Step::Swept(erase(tx, id)?, true)),
        false => Ok(Step::Swept(swept, false)),
    }
}

fn erase(tx: &mut Transaction, id: ResourceId) -> Result<u64> {
    let Some(resource) = tx.get::<Resource>(&keys::resource(id))? else { return Ok(0) };
    tree::erase(tx, id, &resource)?;
    Ok(1)
}
