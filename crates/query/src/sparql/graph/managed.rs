//! The triples that the server manages of a resource: computed, never stored.
//!
//! Invariant: they are those that the linked-data opening shows of the resource, in the same dialect; a test of the server compares them.

use std::rc::Rc;

use cenote_rdf::{Literal, NamedNode};
use cenote_store::{
    Algorithm, ContentHead, Kind, PersonId, ResourceId, Time, VisibleResource, iri_of,
};

use super::Graph;
use super::described::{Like, Triple};
use super::node::Node;
use super::part::Part;
use crate::Result;

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LDP: &str = "http://www.w3.org/ns/ldp#";
pub(super) const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// The media type of bytes of which nothing is known.
const OCTETS: &str = "application/octet-stream";

/// The triples of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    Type,
    Created,
    CreatedBy,
    Modified,
    ModifiedBy,
    Parent,
    Contains,
    MembershipResource,
    HasMemberRelation,
    InsertedContentRelation,
    Size,
    MediaType,
    Digest,
}

impl Said {
    /// In the same order as in the linked-data opening.
    pub(super) const ALL: [Self; 13] = [
        Self::Type,
        Self::Created,
        Self::CreatedBy,
        Self::Modified,
        Self::ModifiedBy,
        Self::Parent,
        Self::Contains,
        Self::MembershipResource,
        Self::HasMemberRelation,
        Self::InsertedContentRelation,
        Self::Size,
        Self::MediaType,
        Self::Digest,
    ];

    fn iri(self, fedora: &str) -> String {
        match self {
            Self::Type => RDF_TYPE.to_owned(),
            Self::Created => format!("{fedora}created"),
            Self::CreatedBy => format!("{fedora}createdBy"),
            Self::Modified => format!("{fedora}lastModified"),
            Self::ModifiedBy => format!("{fedora}lastModifiedBy"),
            Self::Parent => format!("{fedora}hasParent"),
            Self::Contains => format!("{LDP}contains"),
            Self::MembershipResource => format!("{LDP}membershipResource"),
            Self::HasMemberRelation => format!("{LDP}hasMemberRelation"),
            Self::InsertedContentRelation => format!("{LDP}insertedContentRelation"),
            Self::Size => "http://www.loc.gov/premis/rdf/v1#hasSize".to_owned(),
            Self::MediaType => {
                "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType".to_owned()
            }
            Self::Digest => "http://www.loc.gov/premis/rdf/v1#hasMessageDigest".to_owned(),
        }
    }

    fn part(self) -> Part {
        match self {
            Self::Contains => Part::Structure,
            _ => Part::Admin,
        }
    }
}

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
    predicates: Vec<(Said, Node)>,
    says_basic: bool,
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
    pub(super) fn new(fedora: &str, says_basic: bool) -> Self {
        let ldp = |name: &str| node(format!("{LDP}{name}"));
        let own = |name: &str| node(format!("{fedora}{name}"));
        Self {
            predicates: Said::ALL.iter().map(|said| (*said, node(said.iri(fedora)))).collect(),
            says_basic,
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
    pub(super) fn said(&self, predicate: &Node) -> Option<Said> {
        self.predicates.iter().find(|(_, node)| node == predicate).map(|(said, _)| *said)
    }

    pub(super) fn predicate(&self, said: Said) -> &Node {
        &self.predicates[said as usize].1
    }

    /// The types of a resource of this model.
    fn types(&self, model: Model, is_root: bool) -> Vec<&Node> {
        let mut types = match model {
            Model::Binary => {
                vec![&self.resource, &self.binary, &self.fedora_resource, &self.fedora_binary]
            }
            Model::Source => vec![&self.resource, &self.rdf_source, &self.fedora_resource],
            Model::Basic | Model::Direct | Model::Indirect => vec![
                &self.resource,
                &self.rdf_source,
                &self.container,
                &self.fedora_resource,
                &self.fedora_container,
            ],
        };
        match model {
            Model::Basic if self.says_basic => types.push(&self.basic),
            Model::Direct => types.push(&self.direct),
            Model::Indirect => types.push(&self.indirect),
            _ => {}
        }
        if is_root {
            types.push(&self.root);
        }
        types
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
    /// The managed triples of a resource.
    pub(super) fn managed(&self, id: ResourceId, like: &Like) -> Result<Vec<Triple>> {
        let only = match &like.predicate {
            Some(predicate) => match self.vocabulary.said(predicate) {
                Some(said) => Some(said),
                None => return self.members(id, like),
            },
            None => None,
        };
        let Some(seen) = self.data.seen(id)? else { return Ok(Vec::new()) };
        let mut triples = Vec::new();
        for said in Said::ALL.into_iter().filter(|said| only.is_none_or(|only| only == *said)) {
            for object in self.objects(&seen, said, like.object.as_ref())? {
                triples.push(Triple {
                    subject: Node::resource(id, ""),
                    predicate: self.vocabulary.predicate(said).clone(),
                    object,
                    part: said.part(),
                });
            }
        }
        if only.is_none() {
            triples.extend(self.members(id, like)?);
        }
        Ok(triples)
    }

    /// The objects of the triples of a resource; only the wanted one, if given.
    fn objects(
        &self,
        seen: &Rc<VisibleResource>,
        said: Said,
        wanted: Option<&Node>,
    ) -> Result<Vec<Node>> {
        let resource = &seen.resource;
        let content = resource.content.as_ref();
        let mut objects = match said {
            Said::Type => return self.types(seen, wanted),
            Said::Contains => return self.contained(seen, wanted),
            Said::Created => vec![date_time(resource.created)],
            Said::CreatedBy => vec![self.person(resource.created_by)?],
            Said::Modified => vec![date_time(self.modified(seen)?)],
            Said::ModifiedBy => vec![self.person(resource.modified_by)?],
            Said::Parent => self.parent(seen)?.into_iter().collect(),
            Said::MembershipResource | Said::HasMemberRelation | Said::InsertedContentRelation => {
                self.definition(seen, said)?.into_iter().collect()
            }
            Said::Size => content.map(|content| size(content.size)).into_iter().collect(),
            Said::MediaType => content.map(media_type).into_iter().collect(),
            Said::Digest => content.map(digests).unwrap_or_default(),
        };
        objects.retain(|object| wanted.is_none_or(|wanted| wanted == object));
        Ok(objects)
    }

    fn types(&self, seen: &Rc<VisibleResource>, wanted: Option<&Node>) -> Result<Vec<Node>> {
        let needs_class = wanted.is_none_or(|class| self.vocabulary.is_class(class));
        let model = self.model(seen, needs_class)?;
        let types = self.vocabulary.types(model, seen.id == ResourceId::ROOT);
        let types = types.into_iter().filter(|class| wanted.is_none_or(|wanted| wanted == *class));
        Ok(types.cloned().collect())
    }

    /// What a resource is; the class of a container only if it is needed.
    pub(super) fn model(&self, seen: &Rc<VisibleResource>, needs_class: bool) -> Result<Model> {
        let stated = |class: &Node| {
            let like = Like {
                subject: Some(Node::resource(seen.id, "")),
                predicate: Some(self.vocabulary.predicate(Said::Type).clone()),
                object: Some(class.clone()),
                text: None,
            };
            Ok::<_, crate::Error>(!self.stated(seen.id, &like)?.is_empty())
        };
        Ok(match seen.resource.kind {
            Kind::Object => Model::Binary,
            Kind::Link | Kind::Description => Model::Source,
            Kind::Collection if !needs_class => Model::Basic,
            Kind::Collection if stated(&self.vocabulary.indirect)? => Model::Indirect,
            Kind::Collection if stated(&self.vocabulary.direct)? => Model::Direct,
            Kind::Collection => Model::Basic,
        })
    }

    fn modified(&self, seen: &VisibleResource) -> Result<Time> {
        match seen.resource.kind {
            Kind::Object => Ok(seen.resource.modified),
            _ => Ok(self.data.changed(seen)?),
        }
    }

    /// The collection of a resource: its path reveals it, even if the caller does not see it.
    fn parent(&self, seen: &VisibleResource) -> Result<Option<Node>> {
        let path = self.data.path(seen.id)?;
        let Some((above, _)) = path.as_ref().and_then(|path| path.split_last()) else {
            return Ok(None);
        };
        match self.data.seen(seen.resource.parent)? {
            Some(parent) => Ok(Some(Node::resource(parent.id, ""))),
            None => self.iri(&iri_of(&above)).map(Some),
        }
    }

    /// The children of a container; only the wanted one, if given.
    fn contained(&self, seen: &Rc<VisibleResource>, wanted: Option<&Node>) -> Result<Vec<Node>> {
        if seen.resource.kind != Kind::Collection {
            return Ok(Vec::new());
        }
        if let Some(wanted) = wanted {
            let child = wanted.id().map(|id| self.data.seen(id)).transpose()?.flatten();
            let is_in = |child: &Rc<VisibleResource>| {
                child.resource.parent == seen.id && child.id != ResourceId::ROOT && seen.may_list
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

    fn person(&self, id: PersonId) -> Result<Node> {
        if let Some(known) = self.persons.borrow().get(&id) {
            return Ok(known.clone());
        }
        let node = literal(self.reading.person_name(id)?);
        self.persons.borrow_mut().insert(id, node.clone());
        Ok(node)
    }
}

fn literal(text: impl Into<String>) -> Node {
    Node::term(Literal::new_simple_literal(text).into())
}

fn typed(text: String, datatype: &str) -> Node {
    let datatype = NamedNode::new_unchecked(format!("{XSD}{datatype}"));
    Node::term(Literal::new_typed_literal(text, datatype).into())
}

fn size(bytes: u64) -> Node {
    typed(bytes.to_string(), "long")
}

fn media_type(content: &ContentHead) -> Node {
    literal(content.media_type.as_deref().unwrap_or(OCTETS))
}

fn digests(content: &ContentHead) -> Vec<Node> {
    let others = [("sha1", Algorithm::Sha1), ("blake2b", Algorithm::Blake2b)];
    let sha256 = content.digests.sha256.as_ref().map(|digest| ("sha-256", &digest[..]));
    let others = others.into_iter().filter_map(|(name, algorithm)| {
        content.digests.get(algorithm).map(|digest| (name, digest))
    });
    let urn = |(name, digest)| node(format!("urn:{name}:{}", hex::encode(digest)));
    sha256.into_iter().chain(others).map(urn).collect()
}

fn date_time(time: Time) -> Node {
    let time = jiff::Timestamp::from_nanosecond(time.nanos().into()).unwrap_or_default();
    typed(time.to_string(), "dateTime")
}
