//! A resource and all below it as graphs in memory, for an update of them together.
//!
//! Invariant: the name of a blank node identifies its resource, so that blank nodes of two resources are never merged.

use std::collections::{HashMap, HashSet};

use cenote_rdf::{
    BlankNode, Dataset, GraphNameRef, NamedNode, NamedOrBlankNode, QuadRef, Term, Triple,
};
use cenote_store::{At, Graph, ResourceId, Store, StorePath};

use super::patch::settled;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::CONTAINS;
use crate::ldp::representation::web::{OwnIris, Web};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::statements::triple;

/// The graphs of some resources.
pub(super) struct Described {
    resources: Vec<Resource>,
    /// Which of them is where.
    places: HashMap<StorePath, usize>,
    ids: HashMap<ResourceId, usize>,
    addresses: HashMap<String, ResourceId>,
}

/// One resource.
pub(super) struct Resource {
    pub(super) id: ResourceId,
    path: StorePath,
    address: NamedNode,
    /// Its statements, and the server-managed triples.
    before: HashSet<Triple>,
    managed: HashSet<Triple>,
}

impl Described {
    /// The most triples that are held.
    pub(super) const MOST: usize = 500_000;

    /// Reads what the caller may read.
    pub(super) fn read(store: &Store, call: &Call) -> Result<Self, Fault> {
        call.headings(store)?;
        let reading = call.reading(store)?;
        let mut ids = vec![reading.graph(&call.at())?.0.id];
        for below in reading.below(&call.at())? {
            // Hidden resources are not included.
            ids.extend(below?.map(|stat| stat.id));
        }
        let (mut resources, mut triples) = (Vec::new(), 0);
        for id in ids {
            // Visible, but not readable.
            let Ok((stat, description)) = reading.graph(&At::Id(id)) else { continue };
            let resource = Resource::new(call, &LoadedResource::new(&reading, stat, description)?);
            triples += resource.before.len() + resource.managed.len();
            if triples > Self::MOST {
                let most = Self::MOST;
                let detail =
                    format!("there are more than {most} triples here: update a smaller part");
                return Err(Fault::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, detail));
            }
            resources.push(resource);
        }
        Ok(Self::of(resources))
    }

    fn of(mut resources: Vec<Resource>) -> Self {
        let numbered = || 0..resources.len();
        let places: HashMap<_, _> = numbered().map(|n| (resources[n].path.clone(), n)).collect();
        let ids = numbered().map(|n| (resources[n].id, n)).collect();
        let address = |n: usize| resources[n].address.as_str().to_owned();
        let addresses = numbered().map(|n| (address(n), resources[n].id)).collect();
        for n in 0..resources.len() {
            let child = resources[n].address.clone();
            let parent = resources[n].path.split_last().and_then(|(path, _)| places.get(&path));
            if let Some(parent) = parent {
                let parent = &mut resources[*parent];
                let contains = NamedNode::new_unchecked(CONTAINS);
                parent.managed.insert(Triple::new(parent.address.clone(), contains, child));
            }
        }
        Self { resources, places, ids, addresses }
    }

    pub(super) fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// All of it, a graph for each resource.
    pub(super) fn dataset(&self) -> Dataset {
        let mut dataset = Dataset::new();
        for resource in &self.resources {
            for triple in resource.before.union(&resource.managed) {
                dataset.insert(&triple.clone().in_graph(resource.address.clone()));
            }
        }
        dataset
    }

    /// The graph of what something is about.
    pub(super) fn owner(&self, web: &Web, subject: &NamedOrBlankNode) -> Option<NamedNode> {
        let resource = match subject {
            NamedOrBlankNode::NamedNode(node) => self.places.get(&web.named(node.as_str())?.0),
            NamedOrBlankNode::BlankNode(node) => self.ids.get(&of_blank(node.as_str())?.0),
        };
        Some(self.resources[*resource?].address.clone())
    }

    /// Adds a triple to those of its resource.
    pub(super) fn sort(
        &self,
        quad: QuadRef<'_>,
        sorted: &mut HashMap<ResourceId, HashSet<Triple>>,
    ) {
        let GraphNameRef::NamedNode(graph) = quad.graph_name else { return };
        if let Some(id) = self.addresses.get(graph.as_str()) {
            sorted.entry(*id).or_default().insert(quad.into_owned().into());
        }
    }
}

impl Resource {
    fn new(call: &Call, loaded: &LoadedResource) -> Self {
        let iris = OwnIris::new(&call.web, loaded.path());
        let id = loaded.stat.id;
        let stated =
            loaded.description.iter().map(|it| renamed(triple(it.clone(), &iris), &to_blank(id)));
        Self {
            id,
            path: loaded.path().clone(),
            address: NamedNode::new_unchecked(iris.address()),
            before: stated.collect(),
            managed: loaded.managed(call.dialect, &call.web).into_iter().collect(),
        }
    }

    pub(super) fn path(&self) -> &StorePath {
        &self.path
    }

    pub(super) fn differs(&self, after: &HashSet<Triple>) -> bool {
        let is_there = |triple| self.before.contains(triple) || self.managed.contains(triple);
        self.loses(after) || !after.iter().all(is_there)
    }

    pub(super) fn loses(&self, after: &HashSet<Triple>) -> bool {
        !self.before.union(&self.managed).all(|triple| after.contains(triple))
    }

    /// The description that the triples make.
    pub(super) fn settled(
        &self,
        store: &Store,
        call: &Call,
        after: &HashSet<Triple>,
    ) -> Result<Graph, Fault> {
        let own = |triple: &Triple| renamed(triple.clone(), &|label| self.own_blank(label));
        let all = |triples: &HashSet<Triple>| triples.iter().map(own).collect::<HashSet<_>>();
        settled(store, call, &self.path, (&all(&self.before), &self.managed), &all(after))
    }

    /// The name of a blank node within the description.
    fn own_blank(&self, label: &str) -> String {
        match of_blank(label) {
            Some((id, own)) if id == self.id => own.to_owned(),
            _ => label.to_owned(),
        }
    }
}

/// What the names of blank nodes of a resource begin with.
fn to_blank(id: ResourceId) -> impl Fn(&str) -> String {
    move |label| format!("r{:x}x{label}", id.0)
}

/// The resource of a blank node, and its name there.
fn of_blank(label: &str) -> Option<(ResourceId, &str)> {
    let (id, own) = label.strip_prefix('r')?.split_once('x')?;
    Some((ResourceId(u64::from_str_radix(id, 16).ok()?), own))
}

/// A triple with other names of blank nodes.
fn renamed(mut triple: Triple, name: &impl Fn(&str) -> String) -> Triple {
    if let NamedOrBlankNode::BlankNode(node) = &triple.subject {
        triple.subject = BlankNode::new_unchecked(name(node.as_str())).into();
    }
    if let Term::BlankNode(node) = &triple.object {
        triple.object = BlankNode::new_unchecked(name(node.as_str())).into();
    }
    triple
}
