//! Containment and membership: triples that follow from the contents of a container, computed when they are shown and never stored.
//!
//! Source: LDP 1.0, sections 5.2 to 5.5. A collection contains its children. A direct container says of each child, and an indirect one
//! of what each child states with the container's `ldp:insertedContentRelation`, that it is a member of its `ldp:membershipResource`.
//!
//! Cost: a page of children at a time, whatever their number; only indirect containers read their children's descriptions.

use cenote_rdf::{NamedNode, Triple};
use cenote_store::{
    At, Caller, Graph, ListOptions, Name, NamedEntry, Reading, ResourceId, Result, Statement,
    Store, Term,
};

use crate::ldp::representation::membership::Definition;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::CONTAINS;
use crate::ldp::representation::web::{OwnIris, Web};
use crate::statements::Iris;

/// Children in a page of which only the names are read.
const NAMES: usize = 2_000;
/// Children in a page whose descriptions are read.
const DESCRIBED: usize = 500;

/// Triples with one predicate about the children of one collection.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    collection: ResourceId,
    subject: String,
    predicate: String,
    /// The predicate with which each child states what the object is; none if it is the child itself.
    inserted: Option<String>,
    after: After,
}

/// Where the next page begins.
#[derive(Debug, Clone)]
enum After {
    Start,
    Entry(NamedEntry),
    Name(Name),
    End,
}

/// The members of a part of the children.
pub(crate) struct MemberPart {
    /// The triples, each with the name of its child, in the order of these names.
    pub(crate) triples: Vec<(Name, Triple)>,
    /// After which name the next part begins; none at the end.
    pub(crate) next: Option<Name>,
}

impl Members {
    /// What a container contains.
    pub(crate) fn contained(of: &LoadedResource, web: &Web) -> Self {
        Self::new(of.stat.id, web.address(of.path()), CONTAINS.to_owned(), None)
    }

    fn new(
        collection: ResourceId,
        subject: String,
        predicate: String,
        inserted: Option<String>,
    ) -> Self {
        Self { collection, subject, predicate, inserted, after: After::Start }
    }

    /// The members of a resource, through each container that adds members to it, and for a container those that it adds to its resource.
    pub(crate) fn of(reading: &Reading, loaded: &LoadedResource, web: &Web) -> Result<Vec<Self>> {
        let mut members = Vec::new();
        // A container shows the membership that it defines, whatever its subject.
        if let Some(own) = Definition::of(reading, &loaded.stat, &loaded.description)? {
            let of = OwnIris::new(web, loaded.path()).outward(&own.resource).into_owned();
            members.extend(Self::by(own, of));
        }
        if loaded.has_others() {
            for other in Definition::about(reading, loaded.path(), loaded.stat.id)? {
                members.extend(Self::by(other, web.address(loaded.path())));
            }
        }
        Ok(members)
    }

    /// All that is computed of a resource: its members, and what it contains if it is a container.
    pub(crate) fn all(reading: &Reading, loaded: &LoadedResource, web: &Web) -> Result<Vec<Self>> {
        let mut all = Self::of(reading, loaded, web)?;
        if loaded.model.is_container() {
            all.push(Self::contained(loaded, web));
        }
        Ok(all)
    }

    /// All pages, one after the other.
    pub(crate) fn pages(
        mut self,
        store: &Store,
        caller: &Caller,
        web: &Web,
    ) -> impl Iterator<Item = Result<Vec<Triple>>> {
        std::iter::from_fn(move || self.page(store, caller, web).transpose())
    }

    /// Whether a triple could be one of these.
    pub(crate) fn matches(&self, triple: &Triple) -> bool {
        triple.predicate.as_str() == self.predicate
    }

    /// The members that a container adds to its membership resource; none if the members say it.
    fn by(definition: Definition, subject: String) -> Option<Self> {
        let Definition { container, relation, is_inverse, inserted, .. } = definition;
        (!is_inverse).then(|| Self::new(container.id, subject, relation, inserted))
    }

    /// The triples of the next page, as far as the caller may see the children; none at the end.
    pub(crate) fn page(
        &mut self,
        store: &Store,
        caller: &Caller,
        web: &Web,
    ) -> Result<Option<Vec<Triple>>> {
        if matches!(self.after, After::End) {
            return Ok(None);
        }
        match self.inserted.clone() {
            None => self.children(store, caller, web).map(Some),
            Some(relation) => self.stated(store, caller, web, &relation).map(Some),
        }
    }

    /// Whether the members are those that a collection contains.
    pub(crate) fn are_in(&self, collection: ResourceId) -> bool {
        self.collection == collection
    }

    /// Whether they are what a container contains.
    pub(crate) fn is_containment(&self) -> bool {
        self.predicate == CONTAINS
    }

    /// A part of the members. One whose children are read with their descriptions may be shorter than another one.
    pub(crate) fn part(
        &self,
        store: &Store,
        caller: &Caller,
        web: &Web,
        options: &ListOptions,
    ) -> Result<MemberPart> {
        if let Some(relation) = &self.inserted {
            return self.part_stated(store, caller, web, relation, options);
        }
        let page = store.list(caller, &At::Id(self.collection), options)?;
        let triples = page.entries.iter().filter_map(|entry| {
            Some((entry.name()?.clone(), self.triple(web.address(&entry.path))))
        });
        Ok(MemberPart { triples: triples.collect(), next: page.next })
    }

    fn children(&mut self, store: &Store, caller: &Caller, web: &Web) -> Result<Vec<Triple>> {
        let after = match &self.after {
            After::Entry(entry) => Some(entry),
            _ => None,
        };
        let page = store.names(caller, &At::Id(self.collection), false, after, NAMES)?;
        let triples = page.entries.iter().map(|entry| self.triple(web.address(&entry.path)));
        let triples = triples.collect();
        self.after = page.next.map_or(After::End, After::Entry);
        Ok(triples)
    }

    fn stated(
        &mut self,
        store: &Store,
        caller: &Caller,
        web: &Web,
        relation: &str,
    ) -> Result<Vec<Triple>> {
        let after = match &self.after {
            After::Name(name) => Some(name.clone()),
            _ => None,
        };
        let options = ListOptions { after, limit: DESCRIBED };
        let part = self.part_stated(store, caller, web, relation, &options)?;
        self.after = part.next.map_or(After::End, After::Name);
        Ok(part.triples.into_iter().map(|(_, triple)| triple).collect())
    }

    fn part_stated(
        &self,
        store: &Store,
        caller: &Caller,
        web: &Web,
        relation: &str,
        options: &ListOptions,
    ) -> Result<MemberPart> {
        let listed = store.list_detailed(caller, &At::Id(self.collection), options, true)?;
        let mut triples = Vec::new();
        for (stat, details) in listed.page.entries.iter().zip(&listed.details) {
            let Some(name) = stat.name() else { continue };
            let iris = OwnIris::new(web, &stat.path);
            let description = match &details.description {
                Some(description) => description.clone(),
                // Too large for a listing, or not readable by the caller.
                None => {
                    store.graph(caller, &At::Id(stat.id)).map(|found| found.1).unwrap_or_default()
                }
            };
            let stated =
                description.iter().filter(|it| it.subject.is_none() && it.predicate == relation);
            triples
                .extend(stated.filter_map(|it| Some((name.clone(), self.triple(iri(it, &iris)?)))));
        }
        Ok(MemberPart { triples, next: listed.page.next })
    }

    fn triple(&self, object: String) -> Triple {
        let node = |iri: &String| NamedNode::new_unchecked(iri);
        Triple::new(node(&self.subject), node(&self.predicate), NamedNode::new_unchecked(object))
    }
}

/// The triple that says of a child that it is a member, where its container states that the child's way round.
pub(crate) fn member_of(
    reading: &Reading,
    loaded: &LoadedResource,
    web: &Web,
) -> Result<Option<Triple>> {
    if !loaded.has_others() {
        return Ok(None);
    }
    let Some(above) = Definition::above(reading, loaded.path())? else { return Ok(None) };
    let resource = OwnIris::new(web, &above.container.path).outward(&above.resource).into_owned();
    let [own, relation, resource] =
        [web.address(loaded.path()), above.relation, resource].map(NamedNode::new_unchecked);
    Ok(Some(Triple::new(own, relation, resource)))
}

/// The IRI that a description states of its resource with a predicate.
pub(crate) fn value<'a>(description: &'a Graph, predicate: &str) -> Option<&'a str> {
    let about = |it: &&Statement| it.subject.is_none() && it.predicate == predicate;
    description.iter().filter(about).find_map(|it| match &it.object {
        Term::Iri(iri) => Some(iri.as_str()),
        _ => None,
    })
}

fn iri(statement: &Statement, iris: &impl Iris) -> Option<String> {
    match &statement.object {
        Term::Iri(iri) => Some(iris.outward(iri).into_owned()),
        _ => None,
    }
}
