//! How versions are named: `info:fcres/path/fcr:versions/name`, and their graphs `info:fcsystem/graph/…/path/fcr:versions/name`.
//!
//! Invariant: these are the addresses at which the linked-data opening shows the versions.

use cenote_rdf::Term;
use cenote_store::{ResourceId, Version};

use super::part::Part;
use crate::Result;
use crate::sparql::graph::Graph;
use crate::sparql::graph::managed::node;
use crate::sparql::graph::managing::Ids;
use crate::sparql::graph::node::{Node, What};

const VERSIONS: &str = "/fcr:versions";

/// A version that is kept of a resource.
#[derive(Debug)]
pub(crate) struct Memento {
    pub(crate) version: Version,
    /// Where it is: that of the resource, `/fcr:versions/` and its name.
    path: String,
}

impl Memento {
    /// Whether an IRI may be that of a version, or of a list of versions.
    pub(crate) fn may_be(iri: &str) -> bool {
        iri.contains(VERSIONS)
    }

    /// One of its graphs.
    pub(crate) fn graph(&self, part: Part) -> Node {
        node(format!("{}{}", part.prefix(), self.path))
    }
}

impl<'a> Graph<'a> {
    /// The versions of a resource, in words that have them; none that the caller may not see.
    pub(crate) fn mementos(&self, id: ResourceId) -> Result<Vec<Memento>> {
        if !self.has_meta() {
            return Ok(Vec::new());
        }
        let versions = self.data.versions(id)?;
        if versions.is_empty() {
            return Ok(Vec::new());
        }
        let list = self.versions_path(id)?;
        let named = versions.into_iter().map(|version| {
            let path = format!("{list}/{}", self.words.version(&version));
            Memento { version, path }
        });
        Ok(named.collect())
    }

    /// The version itself, or a part of it, which begins with `#`.
    pub(crate) fn memento(&self, memento: &Memento, part: &str) -> Result<Node> {
        self.iri(&format!("cenote:{}{part}", memento.path))
    }

    /// The versions of a resource, as what they are.
    pub(crate) fn versions(&self, id: ResourceId) -> Result<Vec<Node>> {
        self.mementos(id)?.iter().map(|memento| self.memento(memento, "")).collect()
    }

    /// The list of the versions of a resource, if it has any.
    pub(crate) fn list_of_versions(&self, id: ResourceId) -> Result<Option<Node>> {
        match self.data.versions(id)?.is_empty() {
            true => Ok(None),
            false => self.iri(&format!("cenote:{}", self.versions_path(id)?)).map(Some),
        }
    }

    /// The resources that have versions: of an object, if one is given, the one whose it is.
    pub(crate) fn versioned(&'a self, object: Option<&Node>) -> Ids<'a> {
        match object.map(|object| self.versioned_by(object)) {
            None => Box::new(self.data.versioned().map(|id| Ok(id?))),
            Some(of) => Box::new(of.transpose().into_iter()),
        }
    }

    /// The resource whose version, or a graph of whose version, a term may be.
    pub(crate) fn versioned_by(&self, term: &Node) -> Result<Option<ResourceId>> {
        let What::Term(Term::NamedNode(iri)) = term.what() else { return Ok(None) };
        let Some((of, _)) = iri.as_str().rsplit_once(VERSIONS) else { return Ok(None) };
        let of = match Part::of(&format!("{of}/")) {
            Some((_, "/")) => "cenote:/".into(),
            Some((_, path)) => format!("cenote:{}", path.trim_end_matches('/')).into(),
            None => self.words.inward(of),
        };
        Ok(self.iri(&of)?.id())
    }

    fn versions_path(&self, id: ResourceId) -> Result<String> {
        let iri = self.data.iri(id)?;
        let path = iri.strip_prefix("cenote:").unwrap_or(&iri);
        Ok(format!("{}{VERSIONS}", path.trim_end_matches('/')))
    }
}
