//! Who links to a resource.

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::{Link, Links, iri_of, object, path_of};
use crate::access::{Chain, Operation};
use crate::catalog::{View, keys};
use crate::metadata::index::order::link_key;
use crate::metadata::index::{Scan, entries_of, written_key};
use crate::metadata::search::{Position, SearchCursor, foreign};
use crate::model::{At, ResourceId, Stat, Statement, StorePath};
use crate::resources::find;
use crate::{Caller, Result, Store};

/// Which links are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksQuery {
    /// The resource that they lead to.
    pub to: At,
    /// Where a page continues: [`LinksPage::next`] of the one before.
    pub after: Option<SearchCursor>,
    /// At most this many resources that link to it.
    pub limit: usize,
    /// At most this many entries of the index are examined for a page.
    pub effort: usize,
}

/// A resource that links to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linking {
    /// The resource in whose description the links are.
    pub from: Stat,
    /// The statements that have the other as their object, or a part of it (`#part`), as the caller sees them.
    pub statements: Vec<Statement>,
}

/// Part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksPage {
    /// Resources that link to it.
    pub items: Vec<Linking>,
    /// Where the next page begins. None at the end.
    pub next: Option<SearchCursor>,
}

impl Store {
    /// The resources that link to one, as far as the caller may read their descriptions: what was bound to it, and what was written
    /// with its present path and is not bound. Needs `Rights::READ_DESCRIPTION` on it. A page can have fewer items than `limit`, or
    /// none, before the last.
    pub fn links(&self, caller: &Caller, query: &LinksQuery) -> Result<LinksPage> {
        let view = self.view()?;
        let target = Target::new(&find(&view, caller, &query.to, Operation::Stat)?);
        let mut scan = Scan::new(&view, target.ranges().into());
        if let Some(after) = &query.after {
            let Position::Index(number, key) = after.position() else { return Err(foreign()) };
            scan = scan.after(*number, key).ok_or_else(foreign)?;
        }
        let links = Links::new(&view, caller);
        let (mut items, mut last) = (Vec::new(), None);
        for _ in 0..query.effort.max(1) {
            let Some(entry) = scan.next()? else { return Ok(LinksPage { items, next: None }) };
            items.extend(target.linking(&links, &scan, &entry)?);
            last = Some(Position::Index(entry.0, entry.1.to_vec()));
            if items.len() >= query.limit.max(1) {
                break;
            }
        }
        Ok(LinksPage { items, next: last.map(SearchCursor::at) })
    }
}

/// What links lead to.
struct Target {
    id: ResourceId,
    path: StorePath,
}

impl Target {
    fn new(chain: &Chain) -> Self {
        Self { id: chain.id(), path: chain.path() }
    }

    /// Those that are bound, then those that are written with its path.
    fn ranges(&self) -> [KeyRange; 2] {
        [link_key(self.id), written_key(&iri_of(&self.path))].map(keys::objects)
    }

    /// The resource of an entry of the scan, if this is its first one.
    fn linking(
        &self,
        links: &Links<'_, View>,
        scan: &Scan<'_>,
        entry: &(u8, Bytes),
    ) -> Result<Option<Linking>> {
        let Some(id) = keys::last_id(&entry.1).map(ResourceId) else { return Ok(None) };
        let Some((chain, mut graph)) = links.readable(id)? else { return Ok(None) };
        graph.retain(|statement| object(statement).is_some_and(|iri| self.is_at(iri)));
        let entries = graph.iter().flat_map(|statement| entries_of(id.0, statement));
        if scan.first(entries).as_ref() != Some(entry) {
            return Ok(None);
        }
        let statements = links.shown(&graph)?.graph.iter().cloned().collect();
        Ok(Some(Linking { from: chain.into(), statements }))
    }

    /// Whether an IRI, as it is kept, leads here.
    fn is_at(&self, kept: &str) -> bool {
        match Link::of(kept) {
            Some(link) => link.id == self.id,
            None => path_of(kept).is_some_and(|(path, _)| path == self.path),
        }
    }
}
