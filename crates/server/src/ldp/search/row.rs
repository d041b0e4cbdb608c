//! What a search knows of a resource.

use cenote_store::{At, ContentHead, Graph, Reading, ResourceId, Result, Stat, StorePath, Term};
use serde_json::{Map, Value, json};

use super::condition::{Field, number};
use crate::ldp::external;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::{OCTETS, rfc3339, types};
use crate::ldp::representation::vocabulary::RDF_TYPE;
use crate::ldp::request::call::Call;

/// A value by which rows are compared and sorted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Number(i64),
    Text(String),
}

/// The data of a resource.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: ResourceId,
    pub(super) path: StorePath,
    created: cenote_store::Time,
    modified: cenote_store::Time,
    size: Option<u64>,
    media_type: Option<String>,
    /// Empty unless they were wanted.
    pub(super) types: Vec<String>,
}

/// Whether the description of an object says that its bytes are elsewhere, as far as it may be read.
fn is_external(reading: &Reading, id: ResourceId) -> bool {
    let described = reading.graph(&At::Id(id));
    described.is_ok_and(|(_, description)| external::kept(&description).is_some())
}

impl Row {
    pub(super) fn new(reading: &Reading, stat: Stat) -> Result<Self> {
        let (id, resource) = (stat.id, &stat.resource);
        let content = resource.content.as_ref();
        let modified = match (content, reading.membership(&stat)?) {
            (Some(_), _) => resource.modified,
            (None, Some(membership)) => resource.described().time.max(membership.changed),
            (None, None) => resource.described().time,
        };
        let media_type =
            content.map(|head| head.media_type.as_deref().unwrap_or(OCTETS).to_owned());
        // Bytes that are elsewhere may be changed there at any time, and are an empty file here.
        let is_here = |head: &ContentHead| head.size > 0 || !is_external(reading, id);
        let size = content.filter(|head| is_here(head)).map(|head| head.size);
        let created = resource.created;
        Ok(Self { id, path: stat.path, created, modified, size, media_type, types: Vec::new() })
    }

    /// The same with its types: those that the server manages, and those that its description states.
    pub(super) fn with_types(mut self, call: &Call, stat: &Stat, description: &Graph) -> Self {
        let model = Model::of(stat.resource.kind, description);
        self.types = types(model, &self.path, call.dialect);
        let stated =
            description.iter().filter(|it| it.subject.is_none() && it.predicate == RDF_TYPE);
        for class in stated {
            if let Term::Iri(iri) = &class.object
                && !self.types.contains(iri)
            {
                self.types.push(iri.clone());
            }
        }
        self
    }

    pub(super) fn key(&self, field: Field) -> Option<Key> {
        match field {
            Field::FedoraId => Some(Key::Text(self.path.to_string())),
            Field::Created => Some(Key::Number(number(self.created))),
            Field::Modified => Some(Key::Number(number(self.modified))),
            Field::ContentSize => Some(Key::Number(i64::try_from(self.size?).unwrap_or(i64::MAX))),
            Field::MimeType => self.media_type.clone().map(Key::Text),
            Field::RdfType => self.types.first().cloned().map(Key::Text),
        }
    }

    /// The fields that are wanted; what has no size has -1, as fcrepo has it.
    pub(super) fn shown(&self, call: &Call, fields: &[Field]) -> Value {
        let value = |field| match field {
            Field::FedoraId => json!(call.web.address(&self.path)),
            Field::Created => json!(rfc3339(self.created)),
            Field::Modified => json!(rfc3339(self.modified)),
            Field::ContentSize => self.size.map_or(json!(-1), Value::from),
            Field::MimeType => json!(self.media_type),
            Field::RdfType => json!(self.types),
        };
        let named = fields.iter().map(|field| (field.name().to_owned(), value(*field)));
        Value::Object(named.collect::<Map<_, _>>())
    }
}
