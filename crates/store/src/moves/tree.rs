//! Replicating and trimming all objects below a collection.

use super::JobStatus;
use crate::access::Operation;
use crate::catalog::{JobRecord, Tally, TreeJob, TreeWork};
use crate::contents::Trim;
use crate::model::{At, Kind, PlaceId, Stat, StorePath};
use crate::resources::{WalkCursor, find, require_collection};
use crate::{Caller, ErrorKind, Result, Store};

/// How many objects one step sees to.
const STEP: usize = 256;

impl TreeWork {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Replicate(_) => "replicate",
            Self::Trim { .. } => "trim",
        }
    }
}

impl Store {
    /// Replicates all objects below a collection that the caller may change, as a recorded job. Needs
    /// `Rights::LIST` on the collection, and `Rights::WRITE_CONTENT` on each object: others are counted as failed.
    pub fn replicate_tree(&self, caller: &Caller, at: &At, place: PlaceId) -> Result<JobStatus> {
        self.known().destination(Some(place))?;
        self.begin_tree(caller, at, TreeWork::Replicate(place))
    }

    /// Trims all objects below a collection, as a recorded job: those in a place, or more than `keep` good
    /// ones. Objects that would keep too few are left as they are. Needs what [`Store::replicate_tree`] needs.
    pub fn trim_tree(
        &self,
        caller: &Caller,
        at: &At,
        place: Option<PlaceId>,
        keep: usize,
    ) -> Result<JobStatus> {
        self.begin_tree(caller, at, TreeWork::Trim { place, keep: keep as u64 })
    }

    fn begin_tree(&self, caller: &Caller, at: &At, what: TreeWork) -> Result<JobStatus> {
        let top = find(&self.view()?, caller, at, Operation::List)?;
        require_collection(&top)?;
        if !caller.ceiling().allow(Operation::Replicate) {
            top.require(caller, Operation::Replicate, at)?;
        }
        self.begin_job(&JobRecord::Tree(TreeJob {
            top: top.id(),
            user: caller.user(),
            elevated: caller.is_elevated(),
            what,
            after: None,
            tally: Tally::default(),
            rights: (!caller.is_unlimited()).then(|| caller.ceiling()),
            within: caller.within(),
        }))
    }

    pub(super) async fn run_tree(&self, id: u64, mut job: TreeJob) -> Result<Tally> {
        let caller = self.caller_within(job.user, job.rights, job.within)?.elevated(job.elevated);
        let mut after = self.reached(&caller, &job)?;
        loop {
            let (owned_caller, top, from) = (caller.clone(), At::Id(job.top), after.take());
            let page = self
                .blocking(move |store| store.walk(&owned_caller, &top, from.as_ref(), STEP))
                .await;
            let page = match page {
                // Removed in the meantime: there is nothing left to do.
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(job.tally),
                page => page?,
            };
            for object in page.entries.iter().filter(|entry| entry.resource.kind == Kind::Object) {
                self.see_to(id, &caller, object, &mut job).await;
            }
            if page.next.is_none() {
                return Ok(job.tally);
            }
            after = page.next;
            job.after = page.entries.last().map(|last| last.path.to_string());
            self.note_job(id, &JobRecord::Tree(job.clone()))?;
        }
    }

    /// The position at which an interrupted job continues: the beginning, if its collection was moved since.
    fn reached(&self, caller: &Caller, job: &TreeJob) -> Result<Option<WalkCursor>> {
        let Some(path) = &job.after else { return Ok(None) };
        let path: StorePath = path.parse()?;
        match self.stat(caller, &At::Id(job.top)) {
            Ok(top) => Ok(WalkCursor::after(&top.path, &path)),
            // The walk reports it.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn see_to(&self, id: u64, caller: &Caller, object: &Stat, job: &mut TreeJob) {
        let at = At::Id(object.id);
        let done = match job.what {
            TreeWork::Replicate(place) => self.replicate(caller, &at, place).await.map(drop),
            TreeWork::Trim { place, keep } => {
                let keep = usize::try_from(keep).unwrap_or(usize::MAX);
                let trim = Trim { place, keep, ..Trim::default() };
                self.trim(caller, &at, &trim).await.map(drop)
            }
        };
        match done {
            Ok(()) => job.tally.done += 1,
            // It was removed, or has the minimum number of replicas.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Precondition) => {
            }
            Err(error) => {
                job.tally.failed += 1;
                self.inner.moves.fault(id, &error);
            }
        }
    }
}
