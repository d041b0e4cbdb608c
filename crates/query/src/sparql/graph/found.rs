//! The resources in whose graphs a pattern may match, each once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use cenote_store::{Pattern, ResourceId, Term};

use super::Graph;
use super::described::Like;
use super::managed::Said;
use super::node::{Node, What};
use crate::Result;

/// Which triples of a resource are examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Those that its description states.
    Stated,
    /// Those that the server manages.
    Managed,
}

pub(super) type Found<'a> = Box<dyn Iterator<Item = Result<(ResourceId, Which)>> + 'a>;

impl<'a> Graph<'a> {
    pub(super) fn found(&'a self, like: &Like) -> Found<'a> {
        if let (Some(sought), None) = (&like.text, &like.subject) {
            let candidates = self.candidates(sought);
            return candidates.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))));
        }
        let found = match like.subject.as_ref().map(Node::what) {
            Some(What::Resource(id, _)) => self.about(id, like),
            Some(What::Blank(id, _)) => Ok(one(id, Which::Stated)),
            Some(What::Term(term)) if !term.is_named_node() => Ok(none()),
            Some(What::Term(_)) => self.stating_of(like),
            Some(What::Graph(..)) => Ok(none()),
            None => self.anywhere(like),
        };
        found.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
    }

    /// In the description of the subject itself, and wherever else it is a subject.
    fn about(&'a self, id: ResourceId, like: &Like) -> Result<Found<'a>> {
        let others =
            self.stating_of(like)?.filter(move |it| !matches!(it, Ok((it, _)) if *it == id));
        Ok(Box::new(one(id, Which::All).chain(others)))
    }

    fn stating_of(&'a self, like: &Like) -> Result<Found<'a>> {
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
        let stating = self.data.stating(&pattern)?;
        let stating = stating.map(|id| Ok((id?, Which::All)));
        Ok(match self.managing(like)? {
            None => Box::new(stating),
            Some(managing) => Box::new(once_each(stating, managing)),
        })
    }

    /// Where managed triples may match; none if nowhere.
    fn managing(&'a self, like: &Like) -> Result<Option<Found<'a>>> {
        let Some(predicate) = &like.predicate else { return Ok(Some(self.all(Which::Managed))) };
        let of_object = like.object.as_ref().and_then(Node::id);
        let is_relation = self.memberships_by(predicate)?;
        Ok(match (self.vocabulary.said(predicate), of_object) {
            (None, _) => is_relation,
            (Some(Said::Contains), Some(child)) if is_relation.is_none() => {
                let seen = self.data.seen(child)?;
                Some(seen.map_or_else(none, |seen| one(seen.resource.parent, Which::Managed)))
            }
            (Some(Said::Parent), Some(parent)) => {
                let all = self.data.seen(parent)?.is_none_or(|parent| !parent.may_list);
                match all {
                    // Resources in it may be shared with callers who may not list it.
                    true => Some(self.all(Which::Managed)),
                    false => {
                        let children = self.data.children(parent)?.filter_map(Result::transpose);
                        Some(Box::new(children.map(|seen| Ok((seen?.id, Which::Managed)))))
                    }
                }
            }
            _ => Some(self.all(Which::Managed)),
        })
    }

    /// The resources of which containers say something with a predicate; none if no container does.
    fn memberships_by(&'a self, predicate: &Node) -> Result<Option<Found<'a>>> {
        let memberships = self.memberships()?.iter();
        let said: Vec<_> = memberships.filter(|it| it.relation == *predicate).collect();
        if said.is_empty() {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for membership in said {
            match membership.inverse {
                false => ids.extend(membership.resource.id()),
                true => {
                    for child in self.data.children(membership.container)? {
                        ids.extend(child?.map(|child| child.id));
                    }
                }
            }
        }
        let mut known = HashSet::new();
        ids.retain(|id| known.insert(*id));
        Ok(Some(Box::new(ids.into_iter().map(|id| Ok((id, Which::Managed))))))
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

fn none<'a>() -> Found<'a> {
    Box::new(std::iter::empty())
}

fn one<'a>(id: ResourceId, which: Which) -> Found<'a> {
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
