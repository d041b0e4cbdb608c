//! Links: IRIs in descriptions that name resources of this store.
//!
//! A link is kept as the id of its resource, beside the path that was written. It is shown as the current path to callers who may
//! see the resource, and as it was written to anybody else, unless that is the path of something else that they see: then by
//! id. So a rename keeps every link, and a link reveals neither a hidden resource nor its existence. An opening may leave out what leads to
//! nothing where no collection has a setting ([`Dangling`]); `written` binds what is written.
//!
//! Invariant: a stored link was bound by, or on behalf of, somebody who could see the resource.

mod inbound;
mod iri;
mod relink;
mod written;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use self::inbound::{Linking, LinksPage, LinksQuery};
use self::iri::is_by_id;
pub(super) use self::iri::{Link, SCHEME};
pub use self::iri::{iri_of, path_of};
pub(crate) use self::relink::{has_links, relinked};
pub(crate) use self::written::integrity;
use self::written::setting;
use crate::access::{Chain, Operation};
use crate::catalog::{Edges, Reads};
use crate::metadata::stored::read;
use crate::model::{At, Dangling, Graph, ResourceId, Statement, Term};
use crate::resources::{keys_ahead, locate};
use crate::{Bytes, Caller, Result};

/// So many links are looked up together.
const TOGETHER: usize = 1_000;

/// Translates between links as they are kept and as one caller sees and writes them.
pub(crate) struct Links<'a, R> {
    reads: &'a R,
    caller: &'a Caller,
    /// Whether statements whose object is a link to nothing are left out.
    leaves_out: bool,
    /// The IRIs by path of resources that were met; none of those that the caller may not see.
    shown: RefCell<HashMap<ResourceId, Option<String>>>,
    /// The links that IRIs became. A description often names one resource many times.
    bound: RefCell<HashMap<String, String>>,
}

impl<'a, R: Reads> Links<'a, R> {
    pub(crate) fn new(reads: &'a R, caller: &'a Caller) -> Self {
        let (shown, bound) = Default::default();
        Self { reads, caller, leaves_out: false, shown, bound }
    }

    /// The same for the description of the last resource of a chain, by the rule of an opening where no collection has a setting.
    pub(crate) fn ruled(self, of: &Chain, dangling: Dangling) -> Self {
        Self { leaves_out: dangling == Dangling::LeftOut && setting(of).is_none(), ..self }
    }

    /// Reads in one call what showing the links of a description is likely to read of their targets.
    pub(crate) fn read_ahead(&self, graph: &Graph) -> Result<()> {
        let keys = linked(self.reads.edges(), graph);
        if keys.is_empty() { Ok(()) } else { self.reads.values(&keys).map(drop) }
    }

    /// The description of a resource, as it is kept, and the resource's chain; none if the caller may not read it.
    pub(super) fn readable(&self, id: ResourceId) -> Result<Option<(Chain, Graph)>> {
        let chain = Chain::read(self.reads, id)?;
        let may = |chain: &Chain| chain.rights(self.caller).allow(Operation::ReadDescription);
        let Some(chain) = chain.filter(may) else { return Ok(None) };
        Ok(Some((chain, read(self.reads, id.0)?)))
    }

    /// A description as the caller sees it.
    pub(crate) fn shown<'g>(&self, graph: &'g Graph) -> Result<Shown<'g>> {
        let (mut kept, mut hidden) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
        for statement in graph.iter().filter(|it| has_link(it)) {
            match self.hides(statement)? {
                true => hidden.push(statement.clone()),
                false => {
                    let shown = self.statement(statement.clone())?;
                    kept.entry(shown).or_default().push(statement.clone());
                }
            }
        }
        if kept.is_empty() && hidden.is_empty() {
            return Ok(Shown { graph: Cow::Borrowed(graph), kept, hidden });
        }
        // A text statement may be equal to a displayed link.
        for (shown, same) in &mut kept {
            same.extend(graph.get(shown).cloned());
        }
        let plain = graph.iter().filter(|it| !has_link(it)).cloned();
        let shown = plain.chain(kept.keys().cloned()).collect();
        Ok(Shown { graph: Cow::Owned(shown), kept, hidden })
    }

    /// The same without what it is kept as.
    pub(crate) fn graph(&self, graph: Graph) -> Result<Graph> {
        match graph.iter().any(has_link) {
            true => self.graph_of(graph.into_iter().collect()),
            false => Ok(graph),
        }
    }

    /// The same of the statements of a description, which become a graph only once.
    pub(super) fn graph_of(&self, statements: Vec<Statement>) -> Result<Graph> {
        if !statements.iter().any(has_link) {
            return Ok(statements.into_iter().collect());
        }
        let mut shown = Vec::with_capacity(statements.len());
        for statement in statements {
            if !self.hides(&statement)? {
                shown.push(self.statement(statement)?);
            }
        }
        Ok(shown.into_iter().collect())
    }

    /// Whether a statement, as it is kept, is not shown at all.
    fn hides(&self, kept: &Statement) -> Result<bool> {
        match object(kept).and_then(Link::of).filter(|_| self.leaves_out) {
            Some(link) => Ok(self.by_path(link.id, "")?.is_none()),
            None => Ok(false),
        }
    }

    /// A statement as the caller sees it.
    pub(super) fn statement(&self, kept: Statement) -> Result<Statement> {
        self.translated(kept, |iri| self.iri(iri))
    }

    /// An IRI that the caller writes in the one spelling in which they would be shown it.
    pub(super) fn spelled(&self, written: &str) -> Result<String> {
        match iri::id_of(written) {
            Some((id, fragment)) => {
                Ok(self.by_path(id, fragment)?.unwrap_or_else(|| written.to_owned()))
            }
            None => Ok(canonical(written)),
        }
    }

    /// The form of an IRI that the caller sees; none if it is the stored one.
    pub(super) fn iri(&self, kept: &str) -> Result<Option<String>> {
        let Some(link) = Link::of(kept) else { return Ok(None) };
        if let Some(shown) = self.by_path(link.id, link.fragment())? {
            return Ok(Some(shown));
        }
        let written = link.written();
        let other = path_of(&written).map(|(path, _)| self.seen(&At::Path(path)));
        match other.transpose()?.flatten() {
            Some(_) => Ok(Some(link.by_id())),
            None => Ok(Some(written)),
        }
    }

    /// The IRI by path of a resource, or of a part of it, if the caller may see it.
    fn by_path(&self, id: ResourceId, fragment: &str) -> Result<Option<String>> {
        let with_fragment = |iri: &Option<String>| Some([iri.as_deref()?, fragment].concat());
        if let Some(known) = self.shown.borrow().get(&id) {
            return Ok(with_fragment(known));
        }
        let iri = self.seen(&At::Id(id))?.map(|chain| iri_of(&chain.path()));
        let shown = with_fragment(&iri);
        self.shown.borrow_mut().insert(id, iri);
        Ok(shown)
    }

    /// What an IRI names that the caller writes: by its path, if they may see it there.
    pub(super) fn named(&self, written: &str) -> Result<Option<ResourceId>> {
        match path_of(written) {
            Some((path, _)) => Ok(self.seen(&At::Path(path))?.map(|chain| chain.id())),
            None => Ok(iri::id_of(written).map(|(id, _)| id)),
        }
    }

    fn seen(&self, at: &At) -> Result<Option<Chain>> {
        let chain = locate(self.reads, at)?;
        Ok(chain.filter(|chain| chain.rights(self.caller).allow(Operation::Stat)))
    }

    fn translated(
        &self,
        mut statement: Statement,
        translate: impl Fn(&str) -> Result<Option<String>>,
    ) -> Result<Statement> {
        if let Some(subject) = &mut statement.subject
            && let Some(other) = translate(subject)?
        {
            *subject = other;
        }
        if let Term::Iri(object) = &mut statement.object
            && let Some(other) = translate(object)?
        {
            *object = other;
        }
        Ok(statement)
    }
}

/// The keys to resources to which statements link.
pub(super) fn linked<'s>(
    edges: &Edges,
    statements: impl IntoIterator<Item = &'s Statement>,
) -> Vec<Bytes> {
    let links = statements.into_iter().flat_map(iris).filter_map(Link::of);
    let ids: BTreeSet<ResourceId> = links.map(|link| link.id).take(TOGETHER).collect();
    let to: Vec<At> = ids.into_iter().map(At::Id).collect();
    if to.is_empty() { Vec::new() } else { keys_ahead(edges, to.iter()) }
}

/// A description as seen by a caller.
pub(crate) struct Shown<'g> {
    pub(crate) graph: Cow<'g, Graph>,
    /// How its statements are kept, if any has a link.
    kept: BTreeMap<Statement, Vec<Statement>>,
    /// Kept statements that are not shown.
    hidden: Vec<Statement>,
}

fn has_link(statement: &Statement) -> bool {
    iris(statement).any(|iri| Link::of(iri).is_some())
}

/// The one spelling of an IRI by path; any other as it is.
pub(super) fn canonical(iri: &str) -> String {
    path_of(iri).map_or_else(|| iri.to_owned(), |(path, fragment)| iri_of(&path) + fragment)
}

/// Whether an IRI is of a form in which a resource is named.
pub(super) fn names_resource(iri: &str) -> bool {
    is_by_id(iri) || path_of(iri).is_some()
}

/// The IRIs of a statement that may name a resource.
pub(super) fn iris(statement: &Statement) -> impl Iterator<Item = &str> {
    statement.subject.as_deref().into_iter().chain(object(statement))
}

/// The object, if it is an IRI.
fn object(statement: &Statement) -> Option<&str> {
    match &statement.object {
        Term::Iri(iri) => Some(iri),
        Term::Literal { .. } | Term::Blank(_) => None,
    }
}
