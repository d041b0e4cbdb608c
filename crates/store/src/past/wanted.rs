//! What a search of the past looks for.

use super::collection::PastEntry;
use super::entry::Entry;
use super::since::Since;
use super::walk::Given;
use super::{AsOf, Moment};
use crate::metadata::{Condition, Links, Wanted};
use crate::model::{Kind, Name, Rights, StorePath};
use crate::text::TextQuery;
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
    /// Words in the name or the description that it had.
    pub text: Option<TextQuery>,
}

impl PastSearch {
    pub(super) fn wanted(&self) -> Result<Wanted> {
        let wanted = Wanted::new(self.conditions.clone(), self.name.as_deref(), self.kind)?;
        Ok(wanted.with_text(self.text.clone()))
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
    ) -> Result<Option<Given>> {
        let found = match entry {
            // Its former children are not kept either.
            Entry::Gone { lost, seen } => {
                return Ok(seen.then_some(Given { entry: lost, kind: None, rights: Rights::NONE }));
            }
            Entry::Found(found) => found,
        };
        let kind = found.chain.resource().kind;
        let name = found.path.names().last().map(Name::as_str).unwrap_or_default();
        if wanted.is_some_and(|wanted| !wanted.is_like(kind, name)) {
            return Ok(None);
        }
        let Some(entry) = self.shown(&found, &since.revisions)? else { return Ok(None) };
        if let (Some(wanted), PastEntry::Kept(past)) = (wanted, &entry)
            && wanted.has_conditions()
        {
            let graph = versions::description_of(self.view, past.id, past.version)?;
            if !wanted.is_worded(name, &graph)
                || !wanted.holds(&Links::new(self.view, self.caller).graph(graph)?)
            {
                return Ok(None);
            }
        }
        Ok(Some(Given { entry, kind: Some(kind), rights: found.rights(self.caller) }))
    }
}
