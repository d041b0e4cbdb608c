//! The resources of which the server may state what a pattern asks for.
//!
//! Invariants: no resource is left out of which a managed triple matches. What an object is rules out most properties: a pattern with an object that
//! none of them can have reads no record.

use std::collections::HashSet;

use cenote_rdf::{Literal, NamedNode, Term};
use cenote_store::{Kind, ResourceId};

use super::Graph;
use super::described::Like;
use super::found::{Found, Which};
use super::lakesuperior::memento::Memento;
use super::members::Membership;
use super::node::{Node, What};
use super::said::{Asked, Said};
use crate::Result;

pub(crate) type Ids<'a> = Box<dyn Iterator<Item = Result<ResourceId>> + 'a>;

/// Where one property may have an object.
enum Where<'a> {
    Nowhere,
    Among(Ids<'a>),
    Anywhere,
}

/// How many resources there are, as a guess.
const RESOURCES: u64 = 100_000;

impl<'a> Graph<'a> {
    /// Where managed triples may match; none if nowhere.
    pub(super) fn managing(&'a self, like: &Like) -> Result<Option<Found<'a>>> {
        let (predicate, object) = (like.predicate.as_ref(), like.object.as_ref());
        let asked = self.possible(predicate, object)?;
        let mut places = Vec::new();
        for said in asked.iter() {
            match self.saying(said, object)? {
                Where::Nowhere => {}
                Where::Among(found) => places.push(found),
                Where::Anywhere => return Ok(Some(self.all(Which::Managed(asked)))),
            }
        }
        places.extend(self.memberships_by(predicate)?);
        places.extend(self.topics(like));
        if places.is_empty() {
            return Ok(None);
        }
        let mut known = HashSet::new();
        let is_new =
            move |id: &Result<ResourceId>| id.as_ref().map_or(true, |id| known.insert(*id));
        let found = places.into_iter().flatten().filter(is_new);
        Ok(Some(Box::new(found.map(move |id| Ok((id?, Which::Managed(asked)))))))
    }

    /// Roughly how many managed triples are like this.
    pub(super) fn managed_estimate(
        &self,
        predicate: Option<&Node>,
        object: Option<&Node>,
    ) -> Result<u64> {
        let asked = self.possible(predicate, object)?;
        let topics = match (predicate.is_some_and(|it| self.meta.is_topic(it)), object) {
            (true, Some(_)) => 3,
            (true, None) => RESOURCES,
            (false, _) => 0,
        };
        let each = asked.iter().map(|said| match (said, object) {
            (Said::Type, Some(class)) if self.vocabulary.is_common(class) => RESOURCES,
            (Said::Type, Some(_)) => RESOURCES / 2,
            (Said::Contains | Said::Parent, Some(_)) => 16,
            (Said::Versions | Said::Version, Some(_)) => 1,
            (Said::Versions | Said::Version, None) => RESOURCES / 16,
            (_, Some(_)) => RESOURCES / 16,
            (_, None) => RESOURCES,
        });
        Ok(each.sum::<u64>() + topics)
    }

    /// The properties that a pattern asks for, and of which any may have its object.
    fn possible(&self, predicate: Option<&Node>, object: Option<&Node>) -> Result<Asked> {
        let asked = self.asked(predicate);
        let Some(object) = object else { return Ok(asked) };
        let possible = |said| match self.may_be(said, object) {
            Ok(true) => Some(Ok(said)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        asked.iter().filter_map(possible).collect()
    }

    /// Where a property that may have an object has it.
    fn saying(&'a self, said: Said, object: Option<&Node>) -> Result<Where<'a>> {
        match (said, object.and_then(Node::id)) {
            (Said::MembershipResource | Said::HasMemberRelation, _)
            | (Said::InsertedContentRelation, _) => Ok(Where::Among(self.defined()?)),
            (Said::Contains, Some(child)) => {
                let parent = self.data.seen(child)?.map(|seen| Ok(seen.parent));
                Ok(Where::Among(Box::new(parent.into_iter())))
            }
            (Said::Parent, Some(parent)) => self.children_of(parent),
            (Said::Versions | Said::Version, _) => Ok(Where::Among(self.versioned(object))),
            _ => Ok(Where::Anywhere),
        }
    }

    fn children_of(&'a self, parent: ResourceId) -> Result<Where<'a>> {
        match self.data.seen(parent)? {
            Some(seen) if seen.kind != Kind::Collection => return Ok(Where::Nowhere),
            Some(seen) if seen.may_list => {}
            // Resources in it may be shared with callers who may not list it.
            _ => return Ok(Where::Anywhere),
        }
        let children = self.data.children(parent)?.filter_map(Result::transpose);
        Ok(Where::Among(Box::new(children.map(|seen| Ok(seen?.id)))))
    }

    /// The direct and indirect containers, which are all that have a definition.
    fn defined(&'a self) -> Result<Ids<'a>> {
        Ok(Box::new(self.memberships()?.iter().map(|it| Ok(it.container))))
    }

    /// Whether the server may state this of any resource.
    fn may_be(&self, said: Said, object: &Node) -> Result<bool> {
        Ok(match object.what() {
            What::Resource(_, "") => {
                matches!(said, Said::Contains | Said::Parent | Said::MembershipResource)
            }
            What::Term(Term::NamedNode(iri)) => self.may_be_iri(said, object, iri),
            What::Term(Term::Literal(literal)) => self.may_be_literal(said, literal)?,
            What::Resource(..) | What::Blank(..) | What::Graph(..) | What::Term(_) => false,
        })
    }

    fn may_be_iri(&self, said: Said, object: &Node, iri: &NamedNode) -> bool {
        match said {
            Said::Type => {
                self.vocabulary.is_type(object) || self.has_meta() && self.meta.is_class(object)
            }
            // The path of a resource shows its collection, also to those who may not see that.
            Said::Parent => self.words.inward(iri.as_str()).starts_with("cenote:"),
            Said::HasMemberRelation => *object == self.vocabulary.member,
            Said::InsertedContentRelation => *object == self.vocabulary.member_subject,
            Said::Digest => iri.as_str().starts_with("urn:"),
            Said::Versions | Said::Version => Memento::may_be(iri.as_str()),
            _ => false,
        }
    }

    fn may_be_literal(&self, said: Said, literal: &Literal) -> Result<bool> {
        let is_string = literal.datatype().as_str().ends_with("#string");
        Ok(match said {
            Said::CreatedBy | Said::ModifiedBy => {
                is_string && self.reading.may_be_person(literal.value())?
            }
            Said::MediaType => is_string,
            Said::Size => literal.datatype().as_str().ends_with("#long"),
            Said::Created | Said::Modified => literal.datatype().as_str().ends_with("#dateTime"),
            _ => false,
        })
    }

    /// The resources of which containers say something, with a predicate if one is given; none if no container does.
    fn memberships_by(&'a self, predicate: Option<&Node>) -> Result<Option<Ids<'a>>> {
        let memberships = self.memberships()?.iter();
        let wanted = |it: &&Membership| predicate.is_none_or(|predicate| it.relation == *predicate);
        let said: Vec<_> = memberships.filter(wanted).collect();
        if said.is_empty() {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for membership in said {
            match membership.inverse {
                false => ids.push(membership.home()),
                true => {
                    for child in self.data.children(membership.container)? {
                        ids.extend(child?.map(|child| child.id));
                    }
                }
            }
        }
        Ok(Some(Box::new(ids.into_iter().map(Ok))))
    }
}
