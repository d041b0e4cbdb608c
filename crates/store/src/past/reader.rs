//! One moment, for many questions.

use super::resource::Past;
use super::since::Since;
use super::{AsOf, Cut, Moment};
use crate::access::Operation;
use crate::catalog::View;
use crate::feed::Position;
use crate::model::StorePath;
use crate::{Caller, ErrorKind, Opened, Result, Store};

/// One moment as one caller sees it, for many questions that together look at each change since once. It holds no snapshot.
#[derive(Debug)]
pub struct PastReader {
    caller: Caller,
    cut: Cut,
    since: Since,
}

impl PastReader {
    /// The moment, as a position of the change feed.
    pub fn position(&self) -> Position {
        self.cut.0
    }

    /// The moment on a snapshot, and what is undone of it.
    pub(super) fn on<'a>(&'a mut self, view: &'a View) -> Result<(AsOf<'a>, &'a Since)> {
        self.since.read_on(view)?;
        Ok((AsOf::new(view, &self.caller, self.cut), &self.since))
    }
}

impl Store {
    /// A moment, for many questions.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a moment in the future and for a position that no change has, [`ErrorKind::Expired`] for one before
    /// the changes that are kept.
    pub fn at_moment(&self, caller: &Caller, moment: Moment) -> Result<PastReader> {
        let cut = Cut::at(&self.view()?, moment, self.now())?;
        Ok(PastReader { caller: caller.clone(), cut, since: Since::new(cut) })
    }

    /// Opens the former contents of objects, in the requested order; none for what was not an object, was not kept, or may not be read by the
    /// caller, where it is now and where it was.
    pub fn open_at(
        &self,
        reader: &mut PastReader,
        paths: &[StorePath],
    ) -> Result<Vec<Option<(Past, Opened)>>> {
        let view = self.view()?;
        let (past, since) = reader.on(&view)?;
        paths.iter().map(|path| self.open_found(&past, since, path)).collect()
    }

    fn open_found(
        &self,
        past: &AsOf<'_>,
        since: &Since,
        path: &StorePath,
    ) -> Result<Option<(Past, Opened)>> {
        let found = match past.find_by(&since.names, path, Operation::Read) {
            Err(error) if is_about_one(error.kind()) => return Ok(None),
            found => found?,
        };
        let state = past.state(&found, &since.revisions)?;
        let Some(state) = state.filter(|state| state.content.is_some()) else { return Ok(None) };
        Ok(self.open_past(past.view, &state)?.map(|opened| (state, opened)))
    }
}

/// Whether an error concerns only one resource.
fn is_about_one(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::NotFound | ErrorKind::Expired | ErrorKind::Denied)
}
