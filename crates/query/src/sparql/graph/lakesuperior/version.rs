//! The triples of one version: what the server managed, what was stated, and what `info:fcsystem/histmeta` has of these two graphs.
//!
//! Source: LAKEsuperior's snapshots, which state of the version what was stated of the resource.

use cenote_store::{Fact, Kind, Node as Stored, ResourceId, VisibleResource};

use super::memento::Memento;
use super::part::Part;
use crate::Result;
use crate::sparql::graph::Graph;
use crate::sparql::graph::content::{is_address, media_type, size};
use crate::sparql::graph::described::Triple;
use crate::sparql::graph::managed::{Model, date_time, literal, node};
use crate::sparql::graph::node::Node;
use crate::sparql::graph::property::Property;
use crate::sparql::meter;

/// A triple with the graph in which it is.
#[derive(Debug, Clone)]
pub(crate) struct PastTriple {
    pub(crate) graph: Node,
    pub(crate) triple: Triple,
    /// Whether it is about something other than the version, or one of its graphs.
    pub(crate) is_foreign: bool,
}

/// What the types of the present are called; a version has none of them.
const PRESENT_TYPES: [&str; 3] = ["Resource", "Container", "Binary"];

impl Graph<'_> {
    /// All that is known of a version.
    pub(super) fn version(
        &self,
        seen: &VisibleResource,
        memento: &Memento,
    ) -> Result<Vec<PastTriple>> {
        let own = self.memento(memento, "")?;
        let stated = self.stated_then(seen.id, memento)?;
        let mut all = self.about_graph(memento, &own, Part::Admin);
        if !stated.is_empty() {
            all.extend(self.about_graph(memento, &own, Part::Main));
        }
        let graph = memento.graph(Part::Admin);
        for (property, object) in self.managed_then(seen, memento, &stated)? {
            let predicate = self.vocabulary.predicate(property).clone();
            let triple = Triple { subject: own.clone(), predicate, object, part: Part::Admin };
            all.push(PastTriple { graph: graph.clone(), triple, is_foreign: false });
        }
        all.extend(stated);
        Ok(all)
    }

    /// What `info:fcsystem/histmeta` has of a graph of a version.
    fn about_graph(&self, memento: &Memento, own: &Node, part: Part) -> Vec<PastTriple> {
        let version = &memento.version;
        let predicate = |property| self.vocabulary.predicate(property).clone();
        let label = version.label.as_ref();
        let about = [
            (predicate(Property::Type), node(part.class())),
            (self.meta.topic.clone(), own.clone()),
            (predicate(Property::Created), date_time(version.time)),
        ];
        let about = about.into_iter().chain(label.map(|it| (self.meta.label.clone(), literal(it))));
        let triple = |(predicate, object)| {
            let subject = memento.graph(part);
            let triple = Triple { subject, predicate, object, part: Part::History };
            PastTriple { graph: self.meta.history.clone(), triple, is_foreign: false }
        };
        about.map(triple).collect()
    }

    /// The description as it was.
    fn stated_then(&self, id: ResourceId, memento: &Memento) -> Result<Vec<PastTriple>> {
        let mut stated = Vec::new();
        for fact in self.data.facts_of_version(id, memento.version.version)? {
            meter::row()?;
            stated.push(self.fact_then(id, memento, fact)?);
        }
        Ok(stated)
    }

    /// A statement: of the version, if it was one of the resource.
    fn fact_then(&self, id: ResourceId, memento: &Memento, fact: Fact) -> Result<PastTriple> {
        let (subject, is_foreign) = match fact.subject {
            Stored::Resource { id: of, part } if of == id => (self.memento(memento, &part)?, false),
            Stored::Blank(label) => (Node::blank(id, &label), false),
            other => (self.stored(id, other), true),
        };
        let predicate = self.iri_of_predicate(fact.predicate)?;
        let object = self.stored(id, fact.object);
        let triple = Triple { subject, predicate, object, part: Part::Main };
        Ok(PastTriple { graph: memento.graph(Part::Main), triple, is_foreign })
    }

    /// What the server managed. The place of the resource, what it contains, and the digests of its bytes are not said of a version.
    fn managed_then(
        &self,
        seen: &VisibleResource,
        memento: &Memento,
        stated: &[PastTriple],
    ) -> Result<Vec<(Property, Node)>> {
        let (version, record) = (&memento.version, seen.record()?);
        let modified = match seen.kind {
            Kind::Object => version.modified,
            _ => version.described,
        };
        let types = self.types_then(self.model_then(seen, stated)?).into_iter();
        let mut managed: Vec<_> = types.map(|class| (Property::Type, class)).collect();
        managed.push((Property::Created, date_time(record.created)));
        managed.push((Property::CreatedBy, self.person(record.created_by)?));
        managed.push((Property::Modified, date_time(modified)));
        managed.push((Property::ModifiedBy, self.person(version.modified_by)?));
        if let Some(content) = &version.content {
            managed.push((Property::MediaType, media_type(content)));
            let is_elsewhere = content.size == 0 && self.was_elsewhere(stated);
            managed.extend((!is_elsewhere).then(|| (Property::Size, size(content.size))));
        }
        Ok(managed)
    }

    fn types_then(&self, model: Model) -> Vec<Node> {
        let present = PRESENT_TYPES.map(|name| node(format!("{}{name}", self.words.fedora())));
        let types = self.vocabulary.types(model, false).filter(|class| !present.contains(class));
        types.cloned().chain([self.meta.version.clone()]).collect()
    }

    fn model_then(&self, seen: &VisibleResource, stated: &[PastTriple]) -> Result<Model> {
        let is_type = |it: &&PastTriple| {
            !it.is_foreign && it.triple.predicate == *self.vocabulary.predicate(Property::Type)
        };
        let is = |class: &Node| stated.iter().filter(is_type).any(|it| it.triple.object == *class);
        self.model_of(seen.kind, |class| Ok(is(class)))
    }

    /// Whether the description named the address of the bytes.
    fn was_elsewhere(&self, stated: &[PastTriple]) -> bool {
        let is_address = |it: &PastTriple| is_address(&it.triple.predicate, self.words);
        stated.iter().any(|it| !it.is_foreign && is_address(it))
    }
}
