//! The resources in whose graphs a pattern may match, each once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use cenote_store::{Pattern, ResourceId, Term};

use super::Graph;
use super::described::Like;
use super::node::{Node, What};
use super::property::PropertySet;
use crate::Result;

/// Which triples of a resource are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// Those that its description states.
    Stated,
    /// Those that the server manages: some of its properties, and what containers say of it.
    Managed(PropertySet),
}

pub(crate) type Found<'a> = Box<dyn Iterator<Item = Result<(ResourceId, Which)>> + 'a>;

impl<'a> Graph<'a> {
    pub(super) fn found(&'a self, like: &Like) -> Found<'a> {
        if let (Some(sought), None) = (&like.text, &like.subject) {
            let candidates = self.candidates(sought);
            return candidates.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
        }
        let found = match like.subject.as_ref().map(Node::what) {
            Some(What::Resource(id, "")) => self.about(id, like),
            Some(What::Resource(id, _)) => self.about_part(id, like),
            Some(What::Blank(id, _)) => Ok(one(id, Which::Stated)),
            Some(What::Term(term)) if !term.is_named_node() => Ok(none()),
            Some(What::Term(_)) => self.stating_others(like),
            Some(What::Graph(..)) => Ok(self.graphs_like(like)),
            None => self.anywhere(like),
        };
        found.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
    }

    /// In the description of the subject itself, and wherever else it is a subject.
    fn about(&'a self, id: ResourceId, like: &Like) -> Result<Found<'a>> {
        let others =
            self.stating_of(like)?.filter(move |it| !matches!(it, Ok((it, _)) if *it == id));
        Ok(Box::new(one(id, self.which(id, like)?).chain(others)))
    }

    /// The same of a part of a resource, of which containers may state members, too.
    fn about_part(&'a self, id: ResourceId, like: &Like) -> Result<Found<'a>> {
        let others = self.stating_others(like)?;
        let others = others.filter(move |it| !matches!(it, Ok((it, _)) if *it == id));
        Ok(Box::new(one(id, Which::All).chain(others)))
    }

    /// Where something that has no graph itself is a subject: in descriptions, and as what has the members of containers.
    fn stating_others(&'a self, like: &Like) -> Result<Found<'a>> {
        let properties = self.properties_for(like.predicate.as_ref());
        let foreign = like.subject.as_ref().map(|subject| self.foreign(subject)).transpose()?;
        let mut containers: Vec<_> = foreign.into_iter().flatten().collect();
        if containers.is_empty() {
            return self.stating_of(like);
        }
        let stating =
            self.stating_of(like)?.map(|found| Ok(found?.0)).collect::<Result<Vec<_>>>()?;
        containers.retain(|id| !stating.contains(id));
        let both = stating.into_iter().map(|id| Ok((id, Which::All)));
        Ok(Box::new(
            both.chain(containers.into_iter().map(move |id| Ok((id, Which::Managed(properties))))),
        ))
    }

    /// Which triples of the subject of a pattern may match.
    pub(super) fn which(&self, id: ResourceId, like: &Like) -> Result<Which> {
        Ok(match self.may_state(id, like)? {
            true => Which::All,
            false => Which::Managed(self.properties_for(like.predicate.as_ref())),
        })
    }

    /// Whether the description of a resource may state this, as far as is known without reading it.
    fn may_state(&self, id: ResourceId, like: &Like) -> Result<bool> {
        if like.text.is_some() || self.is_described(id) {
            return Ok(true);
        }
        let Some(predicate) = &like.predicate else { return Ok(true) };
        let Some(predicate) = self.sought(predicate)? else { return Ok(false) };
        let object = like.object.as_ref().map(|object| self.stated_object(object)).transpose()?;
        Ok(match object.flatten() {
            Some(object) if self.is_stated(&predicate)? => {
                self.data.may_state(id, &predicate, &object)?
            }
            Some(_) => false,
            // Blank nodes are objects, too, which no index has as the query does.
            None => true,
        })
    }

    fn stating_of(&'a self, like: &Like) -> Result<Found<'a>> {
        if !self.data.states_of_others()? {
            return Ok(none());
        }
        let sought = like.subject.as_ref().map(|subject| self.sought(subject)).transpose()?;
        let Some(iri) = sought.flatten() else { return Ok(none()) };
        let ids = self.data.stating_of(&iri)?;
        Ok(Box::new(ids.map(|id| Ok((id?, Which::Stated)))))
    }

    fn anywhere(&'a self, like: &Like) -> Result<Found<'a>> {
        if like.predicate.is_none() && like.object.is_none() {
            return Ok(self.all(Which::All));
        }
        if let Some(What::Blank(id, _)) = like.object.as_ref().map(Node::what) {
            return Ok(one(id, Which::Stated));
        }
        let object = like.object.as_ref().map(|object| self.stated_object(object)).transpose()?;
        let predicate = like.predicate.as_ref().map(|it| self.sought(it)).transpose()?.flatten();
        let is_possible = object.as_ref().is_none_or(Option::is_some)
            && predicate.is_some() == like.predicate.is_some();
        if !is_possible {
            return Ok(none());
        }
        let pattern = Pattern { predicate, object: object.flatten(), ..Pattern::default() };
        let stating = self.stating(&pattern, like)?;
        Ok(match self.managing(like)? {
            None => Box::new(stating),
            Some(managing) => Box::new(once_each(stating, managing)),
        })
    }

    fn stating(&'a self, pattern: &Pattern, like: &Like) -> Result<Found<'a>> {
        let between = like.predicate.as_ref().and_then(|predicate| self.between(predicate));
        Ok(match (pattern, between) {
            (Pattern { predicate: Some(predicate), object: None, .. }, Some(between)) => {
                let ids = self.data.stating_between(predicate, between.texts());
                Box::new(ids.map(|id| Ok((id?, Which::All))))
            }
            _ => Box::new(self.data.stating(pattern)?.map(|id| Ok((id?, Which::All)))),
        })
    }

    /// All resources that the caller may see.
    pub(super) fn all(&'a self, which: Which) -> Found<'a> {
        let seen = self.data.resources().filter_map(Result::transpose);
        Box::new(seen.map(move |seen| Ok((seen?.id, which))))
    }

    /// An object as descriptions have it; none if none has it.
    pub(super) fn stated_object(&self, object: &Node) -> Result<Option<Term>> {
        Ok(match object.what() {
            What::Term(cenote_rdf::Term::Literal(literal)) => Some(Term::string(literal.value())),
            What::Term(cenote_rdf::Term::BlankNode(_)) | What::Blank(..) | What::Graph(..) => None,
            What::Term(cenote_rdf::Term::NamedNode(_)) | What::Resource(..) => {
                self.sought(object)?.map(Term::Iri)
            }
        })
    }
}

pub(super) fn none<'a>() -> Found<'a> {
    Box::new(std::iter::empty())
}

pub(super) fn one<'a>(id: ResourceId, which: Which) -> Found<'a> {
    Box::new(std::iter::once(Ok((id, which))))
}

/// First the ones, then of the others those that were not among them.
fn once_each<'a>(
    ones: impl Iterator<Item = Result<(ResourceId, Which)>> + 'a,
    others: Found<'a>,
) -> impl Iterator<Item = Result<(ResourceId, Which)>> + 'a {
    let known = Rc::new(RefCell::new(HashSet::new()));
    let noted = Rc::clone(&known);
    let ones = ones.inspect(move |it| {
        if let Ok((id, _)) = it {
            noted.borrow_mut().insert(*id);
        }
    });
    let others = others.filter(move |it| match it {
        Ok((id, _)) => !known.borrow().contains(id),
        Err(_) => true,
    });
    ones.chain(others)
}
