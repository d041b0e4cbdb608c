//! The commit of a change set.

use super::change_set::OpenChangeSet;
use super::{ChangeSet, ChangeSetState};
use crate::store::Committed;
use crate::{Caller, Error, ErrorKind, Result, Store};

impl Store {
    /// One commit, or none.
    pub(super) fn commit_open(&self, caller: &Caller, set: &OpenChangeSet) -> Result<ChangeSet> {
        let _changing = set.changing();
        let (batch, evidence, announced) = {
            let state = set.state();
            let Some((draft, _)) = &state.draft else {
                drop(state);
                set.require_open()?;
                return Ok(set.describe());
            };
            let batch = (!draft.is_empty()).then(|| draft.batch(self.now(), self.random()));
            let batch = batch.transpose()?;
            let evidence = batch.as_ref().map(|batch| batch.evidence.clone()).unwrap_or_default();
            (batch, evidence, draft.announced().to_vec())
        };
        let committed = batch.map_or(Ok(Committed::Yes), |batch| self.commit_prepared(batch));
        let how = match &committed {
            Ok(Committed::Yes) => ChangeSetState::Committed,
            Ok(Committed::Contested(_)) => ChangeSetState::Conflicted,
            Err(error) if error.kind() == ErrorKind::Unknown => ChangeSetState::Unknown,
            Ok(Committed::No) | Err(_) => ChangeSetState::Open,
        };
        let refused = match committed {
            Ok(Committed::Contested(named)) => set.open_view().map(|view| {
                let key = self.first_changed(&evidence, named);
                self.contested(caller, &self.view_of(Box::new(view)), &key)
            }),
            Ok(Committed::No) => Some(
                Error::new(ErrorKind::Unavailable, "the commit failed, and nothing was changed")
                    .with_hint("commit again"),
            ),
            Ok(Committed::Yes) => {
                announced.iter().for_each(|announced| announced.committed());
                None
            }
            Err(error) => Some(error),
        };
        if how != ChangeSetState::Open && set.end_now(how, self.now()) {
            self.inner.due.look_at_all();
            // Jobs that were recorded in it start now.
            self.inner.work.notify_one();
            self.inner.moving.notify_one();
        }
        refused.map_or_else(|| Ok(set.describe()), Err)
    }
}
