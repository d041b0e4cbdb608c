//! The plan that takes the candidates of an index of texts.

use super::cursor::Position;
use super::matching::Matcher;
use super::page::{Look, Plan};
use crate::Result;
use crate::catalog::View;
use crate::model::ResourceId;
use crate::text::{TextCandidates, TextLead, TextQuery};

/// A scan of the resources that may have the words of a query, by id.
pub(super) struct TextScan<'a> {
    candidates: TextCandidates<'a>,
    /// The last one examined.
    last: Option<ResourceId>,
}

impl<'a> TextScan<'a> {
    /// A scan that continues after an id. None if the index cannot lead on this view.
    pub(super) fn new(
        view: &View,
        (text, lead): (&TextQuery, &'a dyn TextLead),
        after: Option<ResourceId>,
    ) -> Result<Option<Self>> {
        let candidates = TextCandidates::new(view, (lead, text), after)?;
        Ok(candidates.map(|candidates| Self { candidates, last: after }))
    }
}

impl Plan for TextScan<'_> {
    fn look(&mut self, matcher: &mut Matcher<'_>) -> Result<Option<Look>> {
        let Some(id) = self.candidates.next()? else { return Ok(None) };
        self.last = Some(id);
        matcher.stated(id, |_| true).map(Some)
    }

    fn position(&self) -> Option<Position> {
        self.last.map(Position::Text)
    }
}
