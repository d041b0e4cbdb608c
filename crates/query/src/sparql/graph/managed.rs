//! The triples that the server manages of a resource: computed, never stored.
//!
//! Invariant: they are those that the linked-data opening shows of the resource, in the same dialect; a test of the server compares them.

use std::rc::Rc;

use cenote_rdf::{Literal, NamedNode};
use cenote_store::{Kind, PersonId, ResourceId, Time, VisibleResource, iri_of};

use super::Graph;
use super::described::{Like, Triple};
use super::node::Node;
use super::property::{LDP, Property, PropertySet};
use crate::Result;

pub(super) const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

/// The class of a container, or what else a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    Basic,
    Direct,
    Indirect,
    Source,
    Binary,
}

/// The stated terms, as nodes.
pub(super) struct Vocabulary {
    /// The properties of this dialect.
    all: PropertySet,
    predicates: Vec<(Property, Node)>,
    states_basic_container: bool,
    pub(super) resource: Node,
    pub(super) rdf_source: Node,
    pub(super) container: Node,
    basic: Node,
    pub(super) direct: Node,
    pub(super) indirect: Node,
    binary: Node,
    fedora_resource: Node,
    fedora_container: Node,
    fedora_binary: Node,
    root: Node,
    pub(super) member: Node,
    pub(super) member_subject: Node,
}

pub(super) fn node(iri: impl Into<String>) -> Node {
    Node::term(NamedNode::new_unchecked(iri).into())
}

impl Vocabulary {
    pub(super) fn new(fedora: &str, states_basic_container: bool, all: PropertySet) -> Self {
        let ldp = |name: &str| node(format!("{LDP}{name}"));
        let own = |name: &str| node(format!("{fedora}{name}"));
        Self {
            all,
            predicates: PropertySet::ALL
                .iter()
                .map(|property| (property, node(property.iri(fedora))))
                .collect(),
            states_basic_container,
            resource: ldp("Resource"),
            rdf_source: ldp("RDFSource"),
            container: ldp("Container"),
            basic: ldp("BasicContainer"),
            direct: ldp("DirectContainer"),
            indirect: ldp("IndirectContainer"),
            binary: ldp("NonRDFSource"),
            fedora_resource: own("Resource"),
            fedora_container: own("Container"),
            fedora_binary: own("Binary"),
            root: own("RepositoryRoot"),
            member: ldp("member"),
            member_subject: ldp("MemberSubject"),
        }
    }

    /// The triples with a predicate.
    pub(super) fn property(&self, predicate: &Node) -> Option<Property> {
        let found = self.predicates.iter().find(|(_, node)| node == predicate);
        found.map(|(property, _)| *property).filter(|property| self.all.has(*property))
    }

    pub(super) fn predicate(&self, property: Property) -> &Node {
        &self.predicates[property as usize].1
    }

    /// The types of a resource of this model.
    pub(super) fn types(&self, model: Model, is_root: bool) -> impl Iterator<Item = &Node> {
        let (kind, fedora, class) = match model {
            Model::Binary => ([Some(&self.binary), None], Some(&self.fedora_binary), None),
            Model::Source => ([Some(&self.rdf_source), None], None, None),
            Model::Basic | Model::Direct | Model::Indirect => (
                [Some(&self.rdf_source), Some(&self.container)],
                Some(&self.fedora_container),
                self.class(model),
            ),
        };
        let root = is_root.then_some(&self.root);
        let types = [Some(&self.resource), kind[0], kind[1], Some(&self.fedora_resource)];
        types.into_iter().chain([fedora, class, root]).flatten()
    }

    /// What distinguishes a container from those of other classes, if that is stated.
    fn class(&self, model: Model) -> Option<&Node> {
        match model {
            Model::Basic => self.states_basic_container.then_some(&self.basic),
            Model::Direct => Some(&self.direct),
            Model::Indirect => Some(&self.indirect),
            Model::Source | Model::Binary => None,
        }
    }

    /// Whether it is the type of any resource.
    pub(super) fn is_type(&self, class: &Node) -> bool {
        let all = [&self.rdf_source, &self.container, &self.binary];
        let fedora = [&self.fedora_container, &self.fedora_binary, &self.root];
        self.is_common(class) || all.contains(&class) || fedora.contains(&class)
    }

    /// Whether most resources may have this type.
    pub(super) fn is_common(&self, class: &Node) -> bool {
        [&self.resource, &self.fedora_resource].contains(&class) || self.is_class(class)
    }

    /// Whether a type distinguishes the classes of containers.
    fn is_class(&self, class: &Node) -> bool {
        [&self.basic, &self.direct, &self.indirect].contains(&class)
    }
}

impl Graph<'_> {
    /// The properties that the server may state with a predicate.
    pub(super) fn properties_for(&self, predicate: Option<&Node>) -> PropertySet {
        match predicate {
            Some(predicate) => self.vocabulary.property(predicate).into_iter().collect(),
            None => self.vocabulary.all,
        }
    }

    /// The managed triples of a resource and its graphs: of its properties only those asked for, and what containers say of it.
    pub(super) fn managed(
        &self,
        id: ResourceId,
        properties: PropertySet,
        like: &Like,
    ) -> Result<Vec<Triple>> {
        let is_property =
            like.predicate.as_ref().is_some_and(|it| self.vocabulary.property(it).is_some());
        let mut triples = self.graphs_of(id, like)?;
        if like.is_of_resource() {
            triples.extend(self.properties(id, properties, like)?);
        }
        if !is_property {
            triples.extend(self.members(id, like)?);
        }
        Ok(triples)
    }

    fn properties(
        &self,
        id: ResourceId,
        properties: PropertySet,
        like: &Like,
    ) -> Result<Vec<Triple>> {
        let mut triples = Vec::new();
        if properties == PropertySet::NONE {
            return Ok(triples);
        }
        let Some(seen) = self.data.resource(id)? else { return Ok(triples) };
        for property in properties.iter() {
            for object in self.objects(&seen, property, like.object.as_ref())? {
                triples.push(Triple {
                    subject: Node::resource(id, ""),
                    predicate: self.vocabulary.predicate(property).clone(),
                    object,
                    part: property.part(),
                });
            }
        }
        Ok(triples)
    }

    /// The objects of the triples of a resource; only the wanted one, if given.
    fn objects(
        &self,
        seen: &Rc<VisibleResource>,
        property: Property,
        wanted: Option<&Node>,
    ) -> Result<Vec<Node>> {
        let mut objects = match property {
            Property::Type => return self.types(seen, wanted),
            Property::Contains => return self.contained(seen, wanted),
            Property::Created => vec![date_time(seen.record()?.created)],
            Property::CreatedBy => vec![self.person(seen.record()?.created_by)?],
            Property::Modified => vec![date_time(self.modified(seen)?)],
            Property::ModifiedBy => vec![self.person(seen.record()?.modified_by)?],
            Property::Parent => self.parent(seen)?.into_iter().collect(),
            Property::MembershipResource
            | Property::HasMemberRelation
            | Property::InsertedContentRelation => {
                self.definition(seen, property)?.into_iter().collect()
            }
            Property::Size | Property::MediaType | Property::Digest => {
                self.of_content(seen, property)?
            }
            Property::Versions => self.list_of_versions(seen.id)?.into_iter().collect(),
            Property::Version => self.versions(seen.id)?,
        };
        objects.retain(|object| wanted.is_none_or(|wanted| wanted == object));
        Ok(objects)
    }

    fn types(&self, seen: &Rc<VisibleResource>, wanted: Option<&Node>) -> Result<Vec<Node>> {
        let needs_class = wanted.is_none_or(|class| self.vocabulary.is_class(class));
        let model = self.model(seen, needs_class)?;
        let types = self.vocabulary.types(model, seen.id == ResourceId::ROOT);
        let types = types.filter(|class| wanted.is_none_or(|wanted| wanted == *class));
        Ok(types.cloned().collect())
    }

    /// What a resource is; the class of a container only if it is needed.
    pub(super) fn model(&self, seen: &Rc<VisibleResource>, needs_class: bool) -> Result<Model> {
        let stated = |class: &Node| {
            let like = Like {
                subject: Some(Node::resource(seen.id, "")),
                predicate: Some(self.vocabulary.predicate(Property::Type).clone()),
                object: Some(class.clone()),
                text: None,
            };
            Ok::<_, crate::Error>(!self.stated(seen.id, &like)?.is_empty())
        };
        self.model_of(seen.kind, |class| Ok(needs_class && stated(class)?))
    }

    /// What a resource of this kind is, by the classes that are stated of it: one is asked for only of a container.
    pub(super) fn model_of(
        &self,
        kind: Kind,
        is_stated: impl Fn(&Node) -> Result<bool>,
    ) -> Result<Model> {
        Ok(match kind {
            Kind::Object => Model::Binary,
            Kind::Link | Kind::Description => Model::Source,
            Kind::Collection if is_stated(&self.vocabulary.indirect)? => Model::Indirect,
            Kind::Collection if is_stated(&self.vocabulary.direct)? => Model::Direct,
            Kind::Collection => Model::Basic,
        })
    }

    pub(super) fn modified(&self, seen: &VisibleResource) -> Result<Time> {
        match seen.kind {
            Kind::Object => Ok(seen.record()?.modified),
            _ => Ok(self.data.changed(seen)?),
        }
    }

    /// The collection of a resource: its path reveals it, even if the caller does not see it.
    fn parent(&self, seen: &VisibleResource) -> Result<Option<Node>> {
        let path = self.data.path(seen.id)?;
        let Some((above, _)) = path.as_ref().and_then(|path| path.split_last()) else {
            return Ok(None);
        };
        match self.data.resource(seen.parent)? {
            Some(parent) => Ok(Some(Node::resource(parent.id, ""))),
            None => self.iri(&iri_of(&above)).map(Some),
        }
    }

    /// The children of a container; only the wanted one, if given.
    fn contained(&self, seen: &Rc<VisibleResource>, wanted: Option<&Node>) -> Result<Vec<Node>> {
        if seen.kind != Kind::Collection {
            return Ok(Vec::new());
        }
        if let Some(wanted) = wanted {
            let child = wanted.id().map(|id| self.data.resource(id)).transpose()?.flatten();
            let is_in = |child: &Rc<VisibleResource>| {
                child.parent == seen.id && child.id != ResourceId::ROOT && seen.may_list
            };
            return Ok(child
                .filter(is_in)
                .map(|child| Node::resource(child.id, ""))
                .into_iter()
                .collect());
        }
        let mut children = Vec::new();
        for child in self.data.children(seen.id)? {
            crate::sparql::meter::row()?;
            children.extend(child?.map(|child| Node::resource(child.id, "")));
        }
        Ok(children)
    }

    pub(super) fn person(&self, id: PersonId) -> Result<Node> {
        if let Some(known) = self.persons.borrow().get(&id) {
            return Ok(known.clone());
        }
        let node = literal(self.reading.person_name(id)?);
        self.persons.borrow_mut().insert(id, node.clone());
        Ok(node)
    }
}

pub(super) fn literal(text: impl Into<String>) -> Node {
    Node::term(Literal::new_simple_literal(text).into())
}

pub(super) fn typed(text: String, datatype: &str) -> Node {
    let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
    Node::term(Literal::new_typed_literal(text, datatype).into())
}

pub(super) fn date_time(time: Time) -> Node {
    let time = jiff::Timestamp::from_nanosecond(time.nanos().into()).unwrap_or_default();
    typed(time.to_string(), "dateTime")
}
