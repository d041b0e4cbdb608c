//! The resources of which the server may state what a pattern asks for.
//!
//! Invariants: no resource is left out of which a managed triple matches. What an object is rules out most properties: a pattern with an object that
//! none of them can have reads no record.

use std::collections::HashSet;

use cenote_rdf::{Literal, NamedNode, Term};
use cenote_store::{Kind, ResourceId};

use super::Graph;
use super::described::Like;
use super::found::{Found, Which, none, one};
use super::managed::Said;
use super::members::Membership;
use super::node::{Node, What};
use crate::Result;

/// Where one property may have an object.
enum Where<'a> {
    Nowhere,
    Among(Found<'a>),
    Anywhere,
}

/// How many resources there are, as a guess.
const RESOURCES: u64 = 100_000;

impl<'a> Graph<'a> {
    /// Where managed triples may match; none if nowhere.
    pub(super) fn managing(&'a self, like: &Like) -> Result<Option<Found<'a>>> {
        let mut places = Vec::new();
        for said in self.asked(like.predicate.as_ref()) {
            match self.saying(said, like.object.as_ref())? {
                Where::Nowhere => {}
                Where::Among(found) => places.push(found),
                Where::Anywhere => return Ok(Some(self.all(Which::Managed))),
            }
        }
        places.extend(self.memberships_by(like.predicate.as_ref())?);
        if places.is_empty() {
            return Ok(None);
        }
        let mut known = HashSet::new();
        let is_new = move |it: &Result<(ResourceId, Which)>| match it {
            Ok((id, _)) => known.insert(*id),
            Err(_) => true,
        };
        Ok(Some(Box::new(places.into_iter().flatten().filter(is_new))))
    }

    /// Roughly how many managed triples are like this.
    pub(super) fn managed_estimate(
        &self,
        predicate: Option<&Node>,
        object: Option<&Node>,
    ) -> Result<u64> {
        let mut sum = 0;
        for said in self.asked(predicate) {
            let is_possible = object.map(|object| self.may_be(said, object)).transpose()?;
            sum += match (said, object, is_possible) {
                (_, Some(_), Some(false)) => 0,
                (Said::Type, Some(class), _) if self.vocabulary.is_common(class) => RESOURCES,
                (Said::Type, Some(_), _) => RESOURCES / 2,
                (Said::Contains | Said::Parent, Some(_), _) => 16,
                (_, Some(_), _) => RESOURCES / 16,
                (_, None, _) => RESOURCES,
            };
        }
        Ok(sum)
    }

    /// The properties that a pattern asks for.
    fn asked(&self, predicate: Option<&Node>) -> Vec<Said> {
        match predicate {
            Some(predicate) => self.vocabulary.said(predicate).into_iter().collect(),
            None => Said::ALL.to_vec(),
        }
    }

    fn saying(&'a self, said: Said, object: Option<&Node>) -> Result<Where<'a>> {
        if object.map(|object| self.may_be(said, object)).transpose()? == Some(false) {
            return Ok(Where::Nowhere);
        }
        match (said, object.and_then(Node::id)) {
            (Said::MembershipResource | Said::HasMemberRelation, _)
            | (Said::InsertedContentRelation, _) => Ok(Where::Among(self.defined()?)),
            (Said::Contains, Some(child)) => {
                let seen = self.data.seen(child)?;
                Ok(Where::Among(
                    seen.map_or_else(none, |seen| one(seen.resource.parent, Which::Managed)),
                ))
            }
            (Said::Parent, Some(parent)) => self.children_of(parent),
            _ => Ok(Where::Anywhere),
        }
    }

    fn children_of(&'a self, parent: ResourceId) -> Result<Where<'a>> {
        match self.data.seen(parent)? {
            Some(seen) if seen.resource.kind != Kind::Collection => return Ok(Where::Nowhere),
            Some(seen) if seen.may_list => {}
            // Resources in it may be shared with callers who may not list it.
            _ => return Ok(Where::Anywhere),
        }
        let children = self.data.children(parent)?.filter_map(Result::transpose);
        Ok(Where::Among(Box::new(children.map(|seen| Ok((seen?.id, Which::Managed))))))
    }

    /// The direct and indirect containers, which are all that have a definition.
    fn defined(&'a self) -> Result<Found<'a>> {
        let containers = self.memberships()?.iter().map(|it| it.container);
        Ok(Box::new(containers.map(|id| Ok((id, Which::Managed)))))
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
            Said::Type => self.vocabulary.is_type(object),
            // The path of a resource shows its collection, also to those who may not see that.
            Said::Parent => self.words.inward(iri.as_str()).starts_with("cenote:"),
            Said::HasMemberRelation => *object == self.vocabulary.member,
            Said::InsertedContentRelation => *object == self.vocabulary.member_subject,
            Said::Digest => iri.as_str().starts_with("urn:"),
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
    fn memberships_by(&'a self, predicate: Option<&Node>) -> Result<Option<Found<'a>>> {
        let memberships = self.memberships()?.iter();
        let wanted = |it: &&Membership| predicate.is_none_or(|predicate| it.relation == *predicate);
        let said: Vec<_> = memberships.filter(wanted).collect();
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
        Ok(Some(Box::new(ids.into_iter().map(|id| Ok((id, Which::Managed))))))
    }
}
