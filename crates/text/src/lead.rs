//! The index as it was at one moment.
//!
//! Invariant: candidates come in the order of their ids, which does not depend on what they contain, nor on what else there is. So their
//! order tells nothing of resources that the caller does not see.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use cenote_store::{Error, ErrorKind, Mark, ResourceId, TextLead, TextQuery, TextWord};
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Searcher, SegmentReader, TERMINATED};

use crate::error::Fault;
use crate::files::{Fields, ID, cut};

/// The index as it was at a mark.
pub struct Lead {
    searcher: Searcher,
    fields: Fields,
    mark: Mark,
    is_broken: AtomicBool,
}

impl std::fmt::Debug for Lead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lead").field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl Lead {
    pub(crate) fn new(searcher: Searcher, fields: Fields, mark: Mark) -> Self {
        Self { searcher, fields, mark, is_broken: AtomicBool::new(false) }
    }

    /// Whether something could not be read, so that the index is to be opened again.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    fn held(
        &self,
        text: &TextQuery,
        after: Option<ResourceId>,
        limit: usize,
    ) -> Result<Vec<ResourceId>, Fault> {
        let mut ids = Lowest::new(limit);
        for segment in self.searcher.segment_readers() {
            let of = segment.fast_fields().u64(ID)?;
            let found = self.matching(segment, text)?.into_iter();
            let found = found.filter(|doc| !segment.is_deleted(*doc));
            let found = found.filter_map(|doc| of.first(doc).map(ResourceId));
            found.filter(|id| Some(*id) > after).for_each(|id| ids.add(id));
        }
        Ok(ids.0.into_iter().collect())
    }

    /// The documents of a segment with all words.
    fn matching(&self, segment: &SegmentReader, text: &TextQuery) -> Result<Vec<DocId>, Fault> {
        let mut common: Option<Vec<DocId>> = None;
        for word in text.words() {
            let having = self.having(segment, word)?;
            common = Some(match common {
                None => having,
                Some(others) => intersection(&others, &having),
            });
            if common.as_ref().is_some_and(Vec::is_empty) {
                break;
            }
        }
        Ok(common.unwrap_or_default())
    }

    fn having(&self, segment: &SegmentReader, word: TextWord<'_>) -> Result<Vec<DocId>, Fault> {
        let index = segment.inverted_index(self.fields.word)?;
        let sought = cut(word.word);
        let io = |error: std::io::Error| Fault::Index(error.into());
        let mut docs = BTreeSet::new();
        let mut terms = index.terms().range().ge(sought).into_stream().map_err(io)?;
        while terms.advance() && terms.key().starts_with(sought.as_bytes()) {
            if !word.is_beginning && terms.key() != sought.as_bytes() {
                break;
            }
            let info = terms.value();
            let postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic);
            let postings = postings.map_err(io)?;
            if !word.is_beginning {
                return Ok(all(postings));
            }
            docs.extend(all(postings));
        }
        Ok(docs.into_iter().collect())
    }
}

impl TextLead for Lead {
    fn mark(&self) -> &Mark {
        &self.mark
    }

    fn holding(
        &self,
        text: &TextQuery,
        after: Option<ResourceId>,
        limit: usize,
    ) -> cenote_store::Result<Vec<ResourceId>> {
        self.held(text, after, limit).map_err(|fault| {
            self.is_broken.store(true, Ordering::Relaxed);
            let message = format!("the index of texts cannot be read: {fault}");
            Error::new(ErrorKind::Unavailable, message)
        })
    }
}

fn all(mut postings: impl Postings) -> Vec<DocId> {
    let mut docs = Vec::with_capacity(postings.size_hint() as usize);
    while postings.doc() != TERMINATED {
        docs.push(postings.doc());
        postings.advance();
    }
    docs
}

/// What is in both, each in ascending order.
fn intersection(one: &[DocId], other: &[DocId]) -> Vec<DocId> {
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    few.iter().filter(|doc| many.binary_search(doc).is_ok()).copied().collect()
}

/// The lowest ids, so many at most.
struct Lowest(BTreeSet<ResourceId>, usize);

impl Lowest {
    fn new(limit: usize) -> Self {
        Self(BTreeSet::new(), limit)
    }

    fn add(&mut self, id: ResourceId) {
        let is_full = self.0.len() >= self.1;
        if is_full && self.0.last().is_none_or(|last| *last < id) {
            return;
        }
        self.0.insert(id);
        if self.0.len() > self.1 {
            self.0.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_lowest_ids_are_kept(ids in proptest::collection::vec(0_u64..50, 0..40), limit in 0_usize..20) {
            let mut lowest = Lowest::new(limit);
            ids.iter().for_each(|id| lowest.add(ResourceId(*id)));
            let expected: BTreeSet<_> = ids.into_iter().map(ResourceId).collect();
            prop_assert!(lowest.0.into_iter().eq(expected.into_iter().take(limit)));
        }

        #[test]
        fn an_intersection_has_what_is_in_both(one: BTreeSet<u8>, other: BTreeSet<u8>) {
            let sorted = |set: &BTreeSet<u8>| set.iter().map(|it| u32::from(*it)).collect::<Vec<_>>();
            let expected: BTreeSet<u8> = one.intersection(&other).copied().collect();
            prop_assert_eq!(intersection(&sorted(&one), &sorted(&other)), sorted(&expected));
        }
    }
}
