//! From a description to entities of the flattened graph of a crate.

use std::collections::BTreeMap;

use cenote_client::{Avu, Resource, ResourceKind};
use cenote_rdf::{NamedOrBlankNode, Term, Triple};
use serde_json::{Map, Value, json};

use super::terms::term;
use super::{BASE, DESCRIPTION};
use crate::archive::graph::Stated;
use crate::archive::names::{Place, encoded};

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";

/// Entities by their ids, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Entities {
    order: Vec<String>,
    known: BTreeMap<String, BTreeMap<String, Vec<Value>>>,
}

/// How resources are written as ids.
pub(super) struct Ids<'a> {
    /// Whether a place is a collection.
    pub(super) is_collection: &'a dyn Fn(&str) -> bool,
}

impl Ids<'_> {
    /// The id of a resource; that of a collection ends with a slash.
    pub(super) fn of(&self, place: &Place, kind: ResourceKind) -> String {
        let names = place.text();
        let encoded: Vec<_> = names.split('/').map(encoded).collect();
        match (names.as_str(), kind) {
            ("", _) => "./".to_owned(),
            (_, ResourceKind::Collection) => encoded.join("/") + "/",
            _ => encoded.join("/"),
        }
    }

    /// An IRI as an id: relative, if it is below the root.
    fn relative(&self, iri: &str) -> String {
        let (address, fragment) = iri.split_at(iri.find('#').unwrap_or(iri.len()));
        match address.strip_prefix(BASE) {
            Some("") => format!("./{fragment}"),
            Some(path) if path.starts_with('/') => {
                let slash = if (self.is_collection)(address) { "/" } else { "" };
                format!("{}{slash}{fragment}", &path[1..])
            }
            _ => iri.to_owned(),
        }
    }
}

impl Entities {
    /// Says something of an entity, once.
    pub(super) fn add(&mut self, id: &str, key: &str, value: Value) {
        let values = self.values(id, key);
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// Says that a resource is in a collection, which may have very many.
    pub(super) fn add_part(&mut self, id: &str, part: &str) {
        self.values(id, "hasPart").push(json!({ "@id": part }));
    }

    fn values(&mut self, id: &str, key: &str) -> &mut Vec<Value> {
        if !self.known.contains_key(id) {
            self.order.push(id.to_owned());
        }
        let entity = self.known.entry(id.to_owned()).or_default();
        entity.entry(key.to_owned()).or_default()
    }

    /// Whether an entity has any properties.
    pub(super) fn has(&self, id: &str, key: &str) -> bool {
        self.known.get(id).is_some_and(|entity| entity.contains_key(key))
    }

    /// Adds the properties derived from the kind of a resource, its bytes and its times.
    pub(super) fn resource(&mut self, id: &str, resource: &Resource) {
        match resource.kind {
            ResourceKind::Collection => self.add(id, "@type", json!("Dataset")),
            ResourceKind::Object => {
                self.add(id, "@type", json!("File"));
                self.file(id, resource);
            }
            ResourceKind::Description | ResourceKind::Link => {
                self.add(id, "@type", json!("CreativeWork"));
                self.add(id, "@type", json!(DESCRIPTION));
            }
        }
    }

    fn file(&mut self, id: &str, resource: &Resource) {
        let size = resource.size.map(|size| size.to_string());
        let modified = resource.mtime.or(resource.content_modified).map(|time| time.to_string());
        for (key, value) in [
            ("contentSize", size),
            ("encodingFormat", resource.media_type.clone()),
            ("dateModified", modified),
            ("sha256", resource.sha256.clone()),
        ] {
            if let Some(value) = value {
                self.add(id, key, json!(value));
            }
        }
    }

    /// Adds the statements of a description. Blank nodes are those of this resource.
    pub(super) fn stated(&mut self, ids: &Ids<'_>, resource: u64, stated: &Stated) {
        let blank = |label: &str| format!("_:r{resource}{label}");
        for Triple { subject, predicate, object } in stated.triples() {
            let id = match subject {
                NamedOrBlankNode::NamedNode(node) => ids.relative(node.as_str()),
                NamedOrBlankNode::BlankNode(node) => blank(node.as_str()),
            };
            let value = match object {
                Term::NamedNode(node) if predicate.as_str() == RDF_TYPE => {
                    self.add(&id, "@type", json!(term(node.as_str())));
                    continue;
                }
                Term::NamedNode(node) => json!({ "@id": ids.relative(node.as_str()) }),
                Term::BlankNode(node) => json!({ "@id": blank(node.as_str()) }),
                Term::Literal(literal) => match (literal.language(), literal.datatype().as_str()) {
                    (Some(language), _) => {
                        json!({ "@value": literal.value(), "@language": language })
                    }
                    (None, XSD_STRING) => json!(literal.value()),
                    (None, datatype) => json!({ "@value": literal.value(), "@type": datatype }),
                },
            };
            self.add(&id, term(predicate.as_str()), value);
        }
    }

    /// Adds statements with their units, as entities of their own.
    pub(super) fn units(&mut self, id: &str, resource: u64, described: &[Avu]) {
        let with_unit = described.iter().filter_map(|avu| Some((avu, avu.unit.as_ref()?)));
        for (index, (avu, unit)) in with_unit.enumerate() {
            let value = format!("_:u{resource}.{index}");
            self.add(id, "additionalProperty", json!({ "@id": value }));
            self.add(&value, "@type", json!("PropertyValue"));
            self.add(&value, "name", json!(avu.attribute));
            self.add(&value, "value", json!(avu.value));
            self.add(&value, "unitText", json!(unit));
        }
    }

    /// The flattened graph; a single value is not wrapped in an array.
    pub(super) fn into_graph(mut self) -> Vec<Value> {
        let graph = self.order.iter().filter_map(|id| {
            let values = self.known.remove(id)?;
            let mut entity = Map::from_iter([("@id".to_owned(), json!(id))]);
            for (key, mut values) in values {
                let value = if values.len() == 1 { values.remove(0) } else { json!(values) };
                entity.insert(key, value);
            }
            Some(Value::Object(entity))
        });
        graph.collect()
    }
}
