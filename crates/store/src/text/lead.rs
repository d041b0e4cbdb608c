//! What an index knows, and what changed since.

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::mark::Mark;
use super::query::TextQuery;
use super::source::changes;
use crate::Result;
use crate::catalog::View;
use crate::model::ResourceId;

/// An index of texts as it was at a mark.
pub trait TextLead: Debug + Send + Sync {
    /// How far it goes.
    fn mark(&self) -> &Mark;

    /// The next resources after `after`, by id and at most `limit`, that had all words of a query at the mark. Others may be among
    /// them, and words that are longer than it keeps may be taken by how they begin.
    ///
    /// # Errors
    /// If it cannot be read.
    fn holding(
        &self,
        text: &TextQuery,
        after: Option<ResourceId>,
        limit: usize,
    ) -> Result<Vec<ResourceId>>;
}

/// All resources that may have the words of a query in one state, by id.
pub(crate) struct TextCandidates<'a> {
    lead: &'a dyn TextLead,
    text: TextQuery,
    /// What changed since the lead was made.
    tail: BTreeSet<ResourceId>,
    page: std::collections::btree_set::IntoIter<ResourceId>,
    /// Up to which id they were read.
    read: Option<ResourceId>,
    ended: bool,
}

/// How many are read at a time.
const PAGE: usize = 8_192;
/// Changes read at a time.
const STEP: usize = 1_000;

impl<'a> TextCandidates<'a> {
    /// Those after an id; none if it is not known what changed since the lead was made.
    pub(crate) fn new(
        view: &View,
        (lead, text): (&'a dyn TextLead, &TextQuery),
        after: Option<ResourceId>,
    ) -> Result<Option<Self>> {
        let Some(tail) = tail(view, lead.mark())? else { return Ok(None) };
        let page = BTreeSet::new().into_iter();
        Ok(Some(Self { lead, text: text.clone(), tail, page, read: after, ended: false }))
    }

    /// The next one.
    pub(crate) fn next(&mut self) -> Result<Option<ResourceId>> {
        loop {
            if let Some(id) = self.page.next() {
                return Ok(Some(id));
            }
            if self.ended {
                return Ok(None);
            }
            self.read_page()?;
        }
    }

    fn read_page(&mut self) -> Result<()> {
        let found = self.lead.holding(&self.text, self.read, PAGE)?;
        self.ended = found.len() < PAGE;
        let end = found.last().copied().filter(|_| !self.ended).unwrap_or(ResourceId(u64::MAX));
        let begin = self.read.map_or(0, |id| id.0.saturating_add(1));
        let changed = self.tail.iter().filter(|id| (begin..=end.0).contains(&id.0));
        self.page = found.iter().chain(changed).copied().collect::<BTreeSet<_>>().into_iter();
        self.read = Some(end);
        Ok(())
    }
}

/// All that changed after a mark.
fn tail(view: &View, mark: &Mark) -> Result<Option<BTreeSet<ResourceId>>> {
    let (mut ids, mut since) = (BTreeSet::new(), mark.clone());
    loop {
        let Some(changes) = changes(view, &since, STEP)? else { return Ok(None) };
        ids.extend(changes.ids);
        since = changes.next;
        if !changes.more {
            return Ok(Some(ids));
        }
    }
}
