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
use super::property::{Property, PropertySet};
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
        let properties = self.possible(predicate, object)?;
        let mut places = Vec::new();
        for property in properties.iter() {
            match self.where_stated(property, object)? {
                Where::Nowhere => {}
                Where::Among(found) => places.push(found),
                Where::Anywhere => return Ok(Some(self.all(Which::Managed(properties)))),
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
        Ok(Some(Box::new(found.map(move |id| Ok((id?, Which::Managed(properties)))))))
    }

    /// Roughly how many managed triples are like this.
    pub(super) fn managed_estimate(
        &self,
        predicate: Option<&Node>,
        object: Option<&Node>,
    ) -> Result<u64> {
        let properties = self.possible(predicate, object)?;
        let topics = match (predicate.is_some_and(|it| self.meta.is_topic(it)), object) {
            (true, Some(_)) => 3,
            (true, None) => RESOURCES,
            (false, _) => 0,
        };
        let each = properties.iter().map(|property| match (property, object) {
            (Property::Type, Some(class)) if self.vocabulary.is_common(class) => RESOURCES,
            (Property::Type, Some(_)) => RESOURCES / 2,
            (Property::Contains | Property::Parent, Some(_)) => 16,
            (Property::Versions | Property::Version, Some(_)) => 1,
            (Property::Versions | Property::Version, None) => RESOURCES / 16,
            (_, Some(_)) => RESOURCES / 16,
            (_, None) => RESOURCES,
        });
        Ok(each.sum::<u64>() + topics)
    }

    /// The properties that a pattern asks for, and of which any may have its object.
    fn possible(&self, predicate: Option<&Node>, object: Option<&Node>) -> Result<PropertySet> {
        let properties = self.properties_for(predicate);
        let Some(object) = object else { return Ok(properties) };
        let possible = |property| match self.may_be(property, object) {
            Ok(true) => Some(Ok(property)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        properties.iter().filter_map(possible).collect()
    }

    /// Where a property that may have an object has it.
    fn where_stated(&'a self, property: Property, object: Option<&Node>) -> Result<Where<'a>> {
        match (property, object.and_then(Node::id)) {
            (Property::MembershipResource | Property::HasMemberRelation, _)
            | (Property::InsertedContentRelation, _) => Ok(Where::Among(self.defined()?)),
            (Property::Contains, Some(child)) => {
                let parent = self.data.resource(child)?.map(|seen| Ok(seen.parent));
                Ok(Where::Among(Box::new(parent.into_iter())))
            }
            (Property::Parent, Some(parent)) => self.children_of(parent),
            (Property::Versions | Property::Version, _) => Ok(Where::Among(self.versioned(object))),
            _ => Ok(Where::Anywhere),
        }
    }

    fn children_of(&'a self, parent: ResourceId) -> Result<Where<'a>> {
        match self.data.resource(parent)? {
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
    fn may_be(&self, property: Property, object: &Node) -> Result<bool> {
        Ok(match object.what() {
            What::Resource(_, "") => {
                matches!(
                    property,
                    Property::Contains | Property::Parent | Property::MembershipResource
                )
            }
            What::Term(Term::NamedNode(iri)) => self.may_be_iri(property, object, iri),
            What::Term(Term::Literal(literal)) => self.may_be_literal(property, literal)?,
            What::Resource(..) | What::Blank(..) | What::Graph(..) | What::Term(_) => false,
        })
    }

    fn may_be_iri(&self, property: Property, object: &Node, iri: &NamedNode) -> bool {
        match property {
            Property::Type => {
                self.vocabulary.is_type(object) || self.has_meta() && self.meta.is_class(object)
            }
            // The path of a resource shows its collection, also to those who may not see that.
            Property::Parent => self.words.inward(iri.as_str()).starts_with("cenote:"),
            Property::HasMemberRelation => *object == self.vocabulary.member,
            Property::InsertedContentRelation => *object == self.vocabulary.member_subject,
            Property::Digest => iri.as_str().starts_with("urn:"),
            Property::Versions | Property::Version => Memento::may_be(iri.as_str()),
            _ => false,
        }
    }

    fn may_be_literal(&self, property: Property, literal: &Literal) -> Result<bool> {
        let is_string = literal.datatype().as_str().ends_with("#string");
        Ok(match property {
            Property::CreatedBy | Property::ModifiedBy => {
                is_string && self.reading.may_be_person(literal.value())?
            }
            Property::MediaType => is_string,
            Property::Size => literal.datatype().as_str().ends_with("#long"),
            Property::Created | Property::Modified => {
                literal.datatype().as_str().ends_with("#dateTime")
            }
            _ => false,
        })
    }

    /// The resources of which containers say something, with a predicate if one is given; none if no container does.
    fn memberships_by(&'a self, predicate: Option<&Node>) -> Result<Option<Ids<'a>>> {
        let memberships = self.memberships()?.iter();
        let wanted = |it: &&Membership| predicate.is_none_or(|predicate| it.relation == *predicate);
        let matching: Vec<_> = memberships.filter(wanted).collect();
        if matching.is_empty() {
            return Ok(None);
        }
        let mut ids = Vec::new();
        for membership in matching {
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
