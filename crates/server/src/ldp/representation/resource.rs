//! A resource as one request sees it: what the store says of it, and the triples that the server manages.

use cenote_rdf::{Literal, NamedNode, Triple};
use cenote_store::{
    Algorithm, At, Caller, Graph, Kind, Membership, Reading, Result, Stamp, Stat, StorePath, Time,
    Version, links_tag,
};

use crate::ldp::dialect::Dialect;
use crate::ldp::external;
use crate::ldp::representation::members::value;
use crate::ldp::representation::membership::{Inferred, Others};
use crate::ldp::representation::model::Model;
use crate::ldp::representation::vocabulary::{
    FILENAME, HAS_MEMBER_RELATION, HAS_MIME_TYPE, INSERTED_CONTENT_RELATION, IS_MEMBER_OF_RELATION,
    LDP, MEMBER, MEMBER_SUBJECT, MEMBERSHIP_RESOURCE, PREMIS, PROXY_FOR, RDF_TYPE, REDIRECTS_TO,
    XSD,
};
use crate::ldp::representation::web::{OwnIris, Web};

/// A resource, with all that one request needs to know of it.
#[derive(Debug, Clone)]
pub(crate) struct LoadedResource {
    pub(crate) stat: Stat,
    /// Its description, as the caller sees it.
    pub(crate) description: Graph,
    pub(crate) model: Model,
    membership: Option<Membership>,
    /// What follows of it from other descriptions.
    others: Others,
    created_by: String,
    modified_by: String,
}

impl LoadedResource {
    pub(crate) fn read(reading: &Reading, at: &At) -> Result<Self> {
        let (stat, description) = reading.graph(at)?;
        Self::new(reading, stat, description)
    }

    /// A resource with as much of its description as headers need.
    pub(crate) fn read_headings(reading: &Reading, at: &At) -> Result<Self> {
        let (stat, description) = reading.graph_part(at, &OF_HEADERS)?;
        Self::new(reading, stat, description)
    }

    /// A resource with the description that it has, as the caller sees it.
    pub(crate) fn new(reading: &Reading, stat: Stat, description: Graph) -> Result<Self> {
        let created_by = reading.person_name(stat.resource.created_by)?;
        let modified_by = match stat.resource.modified_by == stat.resource.created_by {
            true => created_by.clone(),
            false => reading.person_name(stat.resource.modified_by)?,
        };
        Ok(Self {
            model: Model::of(stat.resource.kind, &description),
            membership: reading.membership(&stat)?,
            others: Others::Unknown,
            created_by,
            modified_by,
            stat,
            description,
        })
    }

    /// The same with what follows from other descriptions in its tag.
    pub(crate) fn with_inferred(mut self, reading: &Reading) -> Result<Self> {
        self.others = Inferred::of(reading, &self.stat, &self.description)?.into();
        Ok(self)
    }

    /// What the caller has just created.
    pub(crate) fn created(
        caller: &Caller,
        (stat, description): (Stat, Graph),
        inferred: Option<Inferred>,
    ) -> Self {
        let membership = (stat.resource.kind == Kind::Collection).then_some(Membership {
            collection: stat.id,
            changes: 0,
            changed: stat.resource.created,
        });
        let by = || caller.name().to_owned();
        Self {
            model: Model::of(stat.resource.kind, &description),
            membership,
            others: inferred.map_or(Others::Unknown, Others::Something),
            created_by: by(),
            modified_by: by(),
            stat,
            description,
        }
    }

    /// The same in a version, without what versions do not have.
    pub(crate) fn in_version(
        self,
        version: &Version,
        description: Graph,
        modified_by: String,
    ) -> Self {
        let mut stat = self.stat;
        stat.resource.modified = version.modified;
        stat.resource.content = version.content.clone();
        let described = Stamp { time: version.described, revision: version.version };
        stat.resource.description_changed = Some(described);
        let model = Model::of(stat.resource.kind, &description);
        Self {
            model,
            membership: None,
            others: Others::Unknown,
            modified_by,
            stat,
            description,
            ..self
        }
    }

    pub(crate) fn path(&self) -> &StorePath {
        &self.stat.path
    }

    /// The tag of the state that a graph shows, whatever syntax and part of it a request prefers: it changes with the description, with
    /// the membership, with the paths of what the description links to, and with the members that other containers state.
    pub(crate) fn tag(&self) -> String {
        let mut tag = self.stat.description_tag();
        if let Some(membership) = &self.membership {
            tag += &format!("-{}", membership.changes);
        }
        if let Some(links) = links_tag(&self.description) {
            tag += &format!("-{}", hex::encode(links));
        }
        if let Some(inferred) = self.others.inferred() {
            tag += &format!("-{}", inferred.tag);
        }
        tag
    }

    /// Whether other containers state something of it, as far as that is known.
    pub(crate) fn has_others(&self) -> bool {
        !matches!(self.others, Others::Nothing)
    }

    /// When the whole graph last changed, with what follows from other descriptions.
    pub(crate) fn validated(&self) -> Time {
        let changed = self.changed();
        self.others.inferred().map_or(changed, |inferred| changed.max(inferred.changed))
    }

    /// When what a graph shows last changed.
    pub(crate) fn changed(&self) -> Time {
        let described = self.stat.resource.described().time;
        self.membership.map_or(described, |membership| described.max(membership.changed))
    }

    /// The triples that the server manages, but for those about what a container contains and what its members are.
    pub(crate) fn managed(&self, dialect: &Dialect, web: &Web) -> Vec<Triple> {
        let iris = OwnIris::new(web, self.path());
        let own = NamedNode::new_unchecked(iris.address());
        let mut triples = Vec::with_capacity(16);
        let mut add = |predicate: String, object: cenote_rdf::Term| {
            let predicate = NamedNode::new_unchecked(predicate);
            triples.push(Triple::new(own.clone(), predicate, object));
        };
        for class in self.types(dialect) {
            add(RDF_TYPE.to_owned(), NamedNode::new_unchecked(class).into());
        }
        let resource = &self.stat.resource;
        let fedora = |name: &str| format!("{}{name}", dialect.fedora);
        let modified = if self.model == Model::Binary { resource.modified } else { self.changed() };
        add(fedora("created"), date_time(resource.created));
        add(fedora("createdBy"), Literal::new_simple_literal(&self.created_by).into());
        add(fedora("lastModified"), date_time(modified));
        add(fedora("lastModifiedBy"), Literal::new_simple_literal(&self.modified_by).into());
        if let Some((parent, _)) = self.path().split_last() {
            add(fedora("hasParent"), NamedNode::new_unchecked(web.address(&parent)).into());
        }
        self.definition(&iris, &mut add);
        if let Some(content) = &resource.content {
            let media_type = content.media_type.as_deref().unwrap_or(OCTETS);
            add(HAS_MIME_TYPE.to_owned(), Literal::new_simple_literal(media_type).into());
        }
        // The bytes of external content may have been changed by others at any time.
        let is_here = !dialect.has_external || external::kept(&self.description).is_none();
        if let Some(content) = resource.content.as_ref().filter(|_| is_here) {
            let size = Literal::new_typed_literal(
                content.size.to_string(),
                NamedNode::new_unchecked(format!("{XSD}long")),
            );
            add(format!("{PREMIS}hasSize"), size.into());
            for digest in digests(content) {
                add(format!("{PREMIS}hasMessageDigest"), NamedNode::new_unchecked(digest).into());
            }
        }
        triples
    }

    /// What a direct or indirect container is defined by, where its description leaves that to the defaults.
    fn definition(&self, iris: &OwnIris<'_>, add: &mut impl FnMut(String, cenote_rdf::Term)) {
        let states = |predicate| value(&self.description, predicate).is_some();
        if !matches!(self.model, Model::Direct | Model::Indirect) {
            return;
        }
        if !states(MEMBERSHIP_RESOURCE) {
            let own = NamedNode::new_unchecked(iris.address());
            add(MEMBERSHIP_RESOURCE.to_owned(), own.into());
        }
        if !states(HAS_MEMBER_RELATION) && !states(IS_MEMBER_OF_RELATION) {
            add(HAS_MEMBER_RELATION.to_owned(), NamedNode::new_unchecked(MEMBER).into());
        }
        if self.model == Model::Indirect && !states(INSERTED_CONTENT_RELATION) {
            let subject = NamedNode::new_unchecked(MEMBER_SUBJECT);
            add(INSERTED_CONTENT_RELATION.to_owned(), subject.into());
        }
    }

    /// All types that the resource has without anybody stating them.
    pub(crate) fn types(&self, dialect: &Dialect) -> Vec<String> {
        types(self.model, self.path(), dialect)
    }
}

/// The predicates of statements on which headers depend, beside links to resources.
const OF_HEADERS: [&str; 8] = [
    RDF_TYPE,
    MEMBERSHIP_RESOURCE,
    HAS_MEMBER_RELATION,
    IS_MEMBER_OF_RELATION,
    INSERTED_CONTENT_RELATION,
    FILENAME,
    PROXY_FOR,
    REDIRECTS_TO,
];

/// The types of a resource of a model, at a path.
pub(crate) fn types(model: Model, path: &StorePath, dialect: &Dialect) -> Vec<String> {
    let ldp = model.types(dialect.states_basic_container).iter().map(|name| format!("{LDP}{name}"));
    let fedora = match model {
        Model::Binary => &["Resource", "Binary"][..],
        Model::Source => &["Resource"],
        _ if path.names().is_empty() => &["Resource", "Container", "RepositoryRoot"],
        _ => &["Resource", "Container"],
    };
    ldp.chain(fedora.iter().map(|name| format!("{}{name}", dialect.fedora))).collect()
}

/// The media type of bytes of which nothing is known.
pub(crate) const OCTETS: &str = "application/octet-stream";

/// The digests of a content that are known, as IRIs.
fn digests(content: &cenote_store::ContentHead) -> Vec<String> {
    let others = [("sha1", Algorithm::Sha1), ("blake2b", Algorithm::Blake2b)];
    let sha256 = content.digests.sha256.map(|digest| ("sha-256", digest.to_vec()));
    let others = others.into_iter().filter_map(|(name, algorithm)| {
        content.digests.get(algorithm).map(|digest| (name, digest.to_vec()))
    });
    let all = sha256.into_iter().chain(others);
    all.map(|(name, digest)| format!("urn:{name}:{}", hex::encode(digest))).collect()
}

/// A time as RFC 3339 has it.
pub(crate) fn rfc3339(time: Time) -> String {
    jiff::Timestamp::from_nanosecond(time.nanos().into()).unwrap_or_default().to_string()
}

pub(crate) fn date_time(time: Time) -> cenote_rdf::Term {
    let datatype = NamedNode::new_unchecked(format!("{XSD}dateTime"));
    Literal::new_typed_literal(rfc3339(time), datatype).into()
}
