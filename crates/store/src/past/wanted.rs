//! What a search of the past looks for.

use super::collection::PastEntry;
use super::entry::Entry;
use super::since::Since;
use super::{AsOf, Moment};
use crate::metadata::{Condition, Links, Wanted};
use crate::model::{Kind, Name, StorePath};
use crate::{Result, versions};

/// What to look for at a moment; all of it must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastSearch {
    /// Only below what was at this path (not itself).
    pub under: StorePath,
    /// The moment.
    pub moment: Moment,
    /// Only after this path, in path order.
    pub after: Option<StorePath>,
    /// Conditions on the attributes that it had.
    pub conditions: Vec<Condition>,
    /// A shell pattern for the name that it had.
    pub name: Option<String>,
    /// Only this kind.
    pub kind: Option<Kind>,
}

impl PastSearch {
    pub(super) fn wanted(&self) -> Result<Wanted> {
        Wanted::new(self.conditions.clone(), self.name.as_deref(), self.kind)
    }
}

impl AsOf<'_> {
    /// What is given of something that was there: as it was, if the caller may see it and it is wanted; as lost, if it may have been
    /// wanted and that is not kept.
    pub(super) fn wanted(
        &self,
        entry: Entry,
        wanted: Option<&Wanted>,
        since: &Since,
    ) -> Result<Option<PastEntry>> {
        let found = match entry {
            // What was in it is not kept either.
            Entry::Gone { lost, seen } => return Ok(seen.then_some(lost)),
            Entry::Found(found) => found,
        };
        let Some(wanted) = wanted else { return self.shown(&found, &since.revisions) };
        let name = found.path.names().last().map(Name::as_str).unwrap_or_default();
        if !wanted.is_like(found.chain.resource().kind, name) {
            return Ok(None);
        }
        let shown = self.shown(&found, &since.revisions)?;
        let holds = match &shown {
            Some(PastEntry::Kept(past)) if wanted.has_conditions() => {
                let graph = versions::description_of(self.view, past.id, past.version)?;
                wanted.holds(&Links::new(self.view, self.caller).graph(&graph)?)
            }
            _ => true,
        };
        Ok(shown.filter(|_| holds))
    }
}
