//! Membership: what direct and indirect containers say of other resources (LDP 1.0, sections 5.4 and 5.5), and the defaults of
//! their definitions.
//!
//! The containers are found by their class, once a query, and only if there is any.

use std::rc::Rc;

use cenote_rdf::{Term, may_be_membership};
use cenote_store::{At, Kind, Pattern, ResourceId, Term as Stated, VisibleResource};

use super::Graph;
use super::described::{Like, Triple};
use super::lakesuperior::part::Part;
use super::managed::{Model, node};
use super::node::{Node, What};
use super::property::{LDP, Property, RDF_TYPE};
use crate::Result;
use crate::sparql::meter;

/// The membership stated by one container.
#[derive(Debug)]
pub(super) struct Membership {
    pub(super) container: ResourceId,
    pub(super) resource: Node,
    pub(super) relation: Node,
    /// Whether the members say it of the resource, and not the resource of the members.
    pub(super) inverse: bool,
    /// The predicate with which each child states what the member is; none if it is the child itself.
    inserted: Option<Node>,
}

impl Membership {
    /// In whose graph the members are: that of the resource, or of the container if they are stated of something else.
    pub(super) fn home(&self) -> ResourceId {
        self.resource.id().unwrap_or(self.container)
    }

    /// Whether they are stated of something that has no graph itself.
    fn is_foreign(&self) -> bool {
        !self.inverse && self.resource.id().is_none()
    }
}

impl Graph<'_> {
    /// All memberships that the caller may know of.
    pub(super) fn memberships(&self) -> Result<&[Membership]> {
        if let Some(known) = self.memberships.get() {
            return Ok(known);
        }
        let mut found = Vec::new();
        for class in ["DirectContainer", "IndirectContainer"] {
            let pattern = Pattern {
                predicate: Some(RDF_TYPE.to_owned()),
                object: Some(Stated::Iri(format!("{LDP}{class}"))),
                ..Pattern::default()
            };
            for id in self.data.stating(&pattern)? {
                meter::row()?;
                let id = id?;
                let known = found.iter().any(|it: &Membership| it.container == id);
                if let Some(seen) = self.data.resource(id)?.filter(|_| !known) {
                    found.extend(self.membership(&seen)?);
                }
            }
        }
        Ok(self.memberships.get_or_init(|| found))
    }

    fn membership(&self, seen: &Rc<VisibleResource>) -> Result<Option<Membership>> {
        let model = match seen.kind {
            Kind::Collection => self.model(seen, true)?,
            _ => return Ok(None),
        };
        if !matches!(model, Model::Direct | Model::Indirect) {
            return Ok(None);
        }
        let own = || Node::resource(seen.id, "");
        let inverse = self.value(seen.id, "isMemberOfRelation")?;
        let relation = match &inverse {
            Some(relation) => relation.clone(),
            None => self
                .value(seen.id, "hasMemberRelation")?
                .unwrap_or_else(|| self.vocabulary.member.clone()),
        };
        let inserted = self.value(seen.id, "insertedContentRelation")?.filter(|relation| {
            model == Model::Indirect && *relation != self.vocabulary.member_subject
        });
        let membership = Membership {
            container: seen.id,
            resource: self.value(seen.id, "membershipResource")?.unwrap_or_else(own),
            relation,
            inverse: inverse.is_some(),
            inserted,
        };
        Ok(self.counts(&membership)?.then_some(membership))
    }

    /// Whether a container may state this: not with what the server decides by, nor of a resource that its owner may not describe.
    fn counts(&self, membership: &Membership) -> Result<bool> {
        if let What::Term(Term::NamedNode(relation)) = membership.relation.what()
            && !may_be_membership(relation.as_str())
        {
            return Ok(false);
        }
        let What::Resource(resource, _) = membership.resource.what() else { return Ok(true) };
        if membership.inverse {
            return Ok(true);
        }
        match self.reading.stat(&At::Id(membership.container))? {
            Some(stat) => Ok(self.reading.owner_may_describe(&stat, &At::Id(resource))?),
            None => Ok(false),
        }
    }

    /// The containers that state members of something that has no graph itself.
    pub(super) fn foreign(&self, subject: &Node) -> Result<impl Iterator<Item = ResourceId>> {
        let foreign = |it: &&Membership| it.is_foreign() && it.resource == *subject;
        let ids: Vec<_> =
            self.memberships()?.iter().filter(foreign).map(|it| it.container).collect();
        Ok(ids.into_iter())
    }

    /// Whether the server may state this in the graph of a resource.
    pub(super) fn may_manage(&self, id: ResourceId, like: &Like) -> Result<bool> {
        let Some(subject) = &like.subject else { return Ok(true) };
        if let Some(about) = subject.managed_id() {
            return Ok(about == id);
        }
        Ok(self.foreign(subject)?.any(|container| container == id))
    }

    /// The IRI that a container states of itself with one of LDP's predicates.
    fn value(&self, id: ResourceId, name: &str) -> Result<Option<Node>> {
        let like = Like {
            subject: Some(Node::resource(id, "")),
            predicate: Some(node(format!("{LDP}{name}"))),
            ..Like::default()
        };
        let stated = self.stated(id, &like)?;
        let mut iris = stated.into_iter().map(|triple| triple.object);
        Ok(iris.find(|object| self.is_iri(object)))
    }

    /// What a direct or indirect container is defined by, where its description leaves that to the defaults.
    pub(super) fn definition(
        &self,
        seen: &Rc<VisibleResource>,
        property: Property,
    ) -> Result<Option<Node>> {
        if seen.kind != Kind::Collection {
            return Ok(None);
        }
        let model = self.model(seen, true)?;
        let states = |name| Ok::<_, crate::Error>(self.value(seen.id, name)?.is_some());
        Ok(match (model, property) {
            (Model::Direct | Model::Indirect, Property::MembershipResource) => {
                (!states("membershipResource")?).then(|| Node::resource(seen.id, ""))
            }
            (Model::Direct | Model::Indirect, Property::HasMemberRelation) => {
                let is_stated = states("hasMemberRelation")? || states("isMemberOfRelation")?;
                (!is_stated).then(|| self.vocabulary.member.clone())
            }
            (Model::Indirect, Property::InsertedContentRelation) => {
                let is_stated = states("insertedContentRelation")?;
                (!is_stated).then(|| self.vocabulary.member_subject.clone())
            }
            _ => None,
        })
    }

    /// What containers say of a resource: of one that has members, and of one that is a member where those say it.
    pub(super) fn members(&self, id: ResourceId, like: &Like) -> Result<Vec<Triple>> {
        let mut triples = Vec::new();
        let wanted = |it: &&Membership| like.predicate.as_ref().is_none_or(|p| *p == it.relation);
        for membership in self.memberships()?.iter().filter(wanted) {
            let (subject, of) = match membership.inverse {
                false if membership.home() == id => {
                    let members = self.of_container(membership, like.object.as_ref())?;
                    (membership.resource.clone(), members)
                }
                true => (Node::resource(id, ""), self.of_member(membership, id)?),
                false => continue,
            };
            triples.extend(of.into_iter().map(|object| Triple {
                subject: subject.clone(),
                predicate: membership.relation.clone(),
                object,
                part: Part::Structure,
            }));
        }
        triples.retain(|triple| like.matches(triple));
        Ok(triples)
    }

    /// The members that a container adds to its resource.
    fn of_container(&self, membership: &Membership, wanted: Option<&Node>) -> Result<Vec<Node>> {
        let Some(seen) = self.data.resource(membership.container)? else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        if let (None, Some(wanted)) = (&membership.inserted, wanted) {
            let child = wanted.id().map(|id| self.data.resource(id)).transpose()?.flatten();
            let is_in = child.is_some_and(|it| it.parent == seen.id && seen.may_list);
            return Ok(is_in.then(|| wanted.clone()).into_iter().collect());
        }
        for child in self.data.children(seen.id)? {
            meter::row()?;
            let Some(child) = child? else { continue };
            match &membership.inserted {
                None => members.push(Node::resource(child.id, "")),
                Some(relation) => members.extend(self.inserted(child.id, relation)?),
            }
        }
        Ok(members)
    }

    fn inserted(&self, id: ResourceId, relation: &Node) -> Result<Vec<Node>> {
        let like = Like {
            subject: Some(Node::resource(id, "")),
            predicate: Some(relation.clone()),
            ..Like::default()
        };
        let stated = self.stated(id, &like)?.into_iter().map(|triple| triple.object);
        Ok(stated.filter(|object| self.is_iri(object)).collect())
    }

    /// The resource of which a child of a container is a member.
    fn of_member(&self, membership: &Membership, id: ResourceId) -> Result<Vec<Node>> {
        let member = self.data.resource(id)?;
        let is_in =
            member.is_some_and(|it| it.parent == membership.container && id != ResourceId::ROOT);
        Ok(is_in.then(|| membership.resource.clone()).into_iter().collect())
    }

    pub(super) fn is_iri(&self, node: &Node) -> bool {
        match node.what() {
            What::Resource(..) => true,
            What::Term(term) => matches!(term, Term::NamedNode(_)),
            What::Blank(..) | What::Graph(..) => false,
        }
    }
}
