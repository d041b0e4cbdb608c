//! The parts of a statement, with its links resolved.

use super::super::links::{Link, canonical, names_resource};
use super::{Dataset, iri_of};
use crate::Result;
use crate::model::{ResourceId, Statement, Term};

/// A term of a statement.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// A resource that the caller may see, or a part of it.
    Resource {
        /// Which.
        id: ResourceId,
        /// The part with its `#`; empty for the resource itself.
        part: String,
    },
    /// Any other IRI.
    Iri(String),
    /// A blank node of the description that it is in, without `_:`.
    Blank(String),
    /// A literal.
    Literal {
        /// Its lexical form.
        value: String,
        /// The datatype's IRI; none means `xsd:string`, or `rdf:langString` with a language.
        datatype: Option<String>,
        /// The language tag.
        language: Option<String>,
    },
}

/// A statement without its unit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fact {
    /// What it is about: no literal.
    pub subject: Node,
    /// The predicate, an IRI.
    pub predicate: String,
    /// The object.
    pub object: Node,
}

impl Dataset<'_> {
    /// The node of an IRI that the caller writes: `cenote:/path#part`, `cenote:id/7`, or any other.
    pub fn node(&self, iri: &str) -> Result<Node> {
        if !names_resource(iri) {
            return Ok(Node::Iri(iri.to_owned()));
        }
        let part = &iri[iri.find('#').unwrap_or(iri.len())..];
        let named = self.links.named(iri)?;
        Ok(match named.map(|id| self.resource(id)).transpose()?.flatten() {
            Some(seen) => Node::Resource { id: seen.id, part: part.to_owned() },
            None => Node::Iri(canonical(iri)),
        })
    }

    /// The IRI of a resource that the caller may see: by path.
    pub fn iri(&self, id: ResourceId) -> Result<String> {
        Ok(self.path(id)?.map_or_else(|| format!("cenote:id/{id}"), |path| iri_of(&path)))
    }

    /// A statement of the description of a resource, as it is or as it was.
    pub(crate) fn fact(&self, of: ResourceId, statement: Statement) -> Result<Fact> {
        let subject = match statement.subject {
            None => Node::Resource { id: of, part: String::new() },
            Some(blank) if blank.starts_with("_:") => Node::Blank(blank[2..].to_owned()),
            Some(iri) => self.kept(of, &iri)?,
        };
        let object = match statement.object {
            Term::Iri(iri) => self.kept(of, &iri)?,
            Term::Blank(label) => Node::Blank(label.trim_start_matches("_:").to_owned()),
            Term::Literal { value, datatype, language } => {
                Node::Literal { value, datatype, language }
            }
        };
        Ok(Fact { subject, predicate: statement.predicate, object })
    }

    /// The node of an IRI as it is kept in a description.
    fn kept(&self, of: ResourceId, iri: &str) -> Result<Node> {
        if iri.is_empty() || iri.starts_with('#') {
            return Ok(Node::Resource { id: of, part: iri.to_owned() });
        }
        let Some(link) = Link::of(iri) else { return self.node(iri) };
        match self.resource(link.id)? {
            Some(_) => Ok(Node::Resource { id: link.id, part: link.fragment().to_owned() }),
            None => Ok(Node::Iri(self.links.iri(iri)?.unwrap_or_else(|| iri.to_owned()))),
        }
    }
}

/// Whether an IRI in the description of `of` may be that of another resource, or of a part of it.
pub(super) fn may_lead(of: ResourceId, iri: &str, to: ResourceId) -> bool {
    match Link::of(iri) {
        Some(link) => link.id == to,
        None if iri.is_empty() || iri.starts_with('#') => of == to,
        None => names_resource(iri),
    }
}
