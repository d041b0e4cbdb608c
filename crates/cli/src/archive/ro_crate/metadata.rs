//! The content of `ro-crate-metadata.json`, as descriptions of the files and directories of the crate.
//!
//! * The context of RO-Crate is a table here (`terms`); no context is fetched.
//! * Statements about an entity that is not a file or directory of the crate, such as a person, belong to the first one
//!   that refers to it.
//!
//! Invariant: each statement is in one description, except for properties of a file that the store determines itself.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use cenote_client::Avu;
use cenote_rdf::{NamedOrBlankNode, Term, Triple};
use jiff::Timestamp;
use serde_json::Value;

use super::terms::{resolved, schema};
use super::{BASE, DESCRIPTION, GENERATED, METADATA, PREVIEW, is_about_the_crate};
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place};
use crate::error::{CliError, Kind, Result};

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// The metadata of one file or directory.
#[derive(Debug, Default)]
pub(super) struct Entity {
    pub(super) is_file: bool,
    pub(super) is_dataset: bool,
    /// It has a description only.
    pub(super) is_description: bool,
    pub(super) size: Option<u64>,
    pub(super) sha256: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) modified: Option<Timestamp>,
    pub(super) stated: Stated,
    pub(super) units: Vec<Avu>,
}

/// Reads the metadata of a crate that has these files and directories.
pub(super) fn read(
    text: &[u8],
    names: &Names,
    there: impl Fn(&Place) -> bool,
) -> Result<BTreeMap<Place, Entity>> {
    let mut crate_: Value =
        serde_json::from_slice(text).map_err(|error| refused(format!("not JSON: {error}")))?;
    let context = crate_.get("@context").ok_or_else(|| refused("it has no @context"))?;
    crate_["@context"] = resolved(context).map_err(|address| {
        refused(format!("the context {address} is not known, and not fetched"))
    })?;
    let text = serde_json::to_vec(&crate_).map_err(|error| refused(error.to_string()))?;
    let base = format!("{BASE}/");
    let stated = Stated::of_json_ld(&text, &base)
        .map_err(|error| refused(error.to_string()))?
        .with(|iri| normal(iri, names));
    Reading::new(stated, names, &there)?.entities()
}

fn refused(what: impl Into<String>) -> CliError {
    CliError::new(Kind::Mismatch, format!("{METADATA}: {}", what.into()))
        .hint("nothing was imported")
}

/// An IRI of a resource of the crate in the one way that is compared, without a slash at its end.
fn normal(iri: &str, names: &Names) -> Option<String> {
    let (address, fragment) = iri.split_at(iri.find('#').unwrap_or(iri.len()));
    Some(names.iri(&names.place(address)?) + fragment)
}

struct Reading<'a> {
    names: &'a Names,
    /// The statements, by subject.
    subjects: HashMap<String, Vec<Triple>>,
    order: Vec<String>,
    /// The resources of the crate.
    data: BTreeMap<Place, String>,
    root: String,
}

fn subject(triple: &Triple) -> String {
    match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => node.as_str().to_owned(),
        NamedOrBlankNode::BlankNode(node) => node.to_string(),
    }
}

/// What a statement leads to, if that may be an entity.
fn object(triple: &Triple) -> Option<String> {
    match &triple.object {
        Term::NamedNode(node) => Some(node.as_str().to_owned()),
        Term::BlankNode(node) => Some(node.to_string()),
        Term::Literal(_) => None,
    }
}

fn value(triple: &Triple) -> Option<&str> {
    match &triple.object {
        Term::Literal(literal) => Some(literal.value()),
        _ => None,
    }
}

fn is_type(triple: &Triple, class: &str) -> bool {
    triple.predicate.as_str() == RDF_TYPE && object(triple).as_deref() == Some(class)
}

impl<'a> Reading<'a> {
    fn new(stated: Stated, names: &'a Names, there: &impl Fn(&Place) -> bool) -> Result<Self> {
        let mut reading = Self {
            names,
            subjects: HashMap::new(),
            order: Vec::new(),
            data: BTreeMap::from([(Place::default(), BASE.to_owned())]),
            root: BASE.to_owned(),
        };
        for triple in stated.into_triples() {
            let subject = subject(&triple);
            if !reading.subjects.contains_key(&subject) {
                reading.order.push(subject.clone());
            }
            reading.subjects.entry(subject).or_default().push(triple);
        }
        reading.find_root()?;
        for iri in &reading.order {
            let Some(place) = names.place(iri) else { continue };
            let about = reading.subjects.get(iri).map_or(&[][..], Vec::as_slice);
            let is_data = [schema("MediaObject"), schema("Dataset"), DESCRIPTION.to_owned()];
            let is_named = about.iter().any(|it| is_data.iter().any(|class| is_type(it, class)));
            if !is_about_the_crate(&place) && (is_named || there(&place)) {
                reading.data.insert(place, iri.clone());
            }
        }
        Ok(reading)
    }

    /// The subject of the descriptor, which is the directory, whatever its id.
    fn find_root(&mut self) -> Result<()> {
        let descriptor = format!("{BASE}/{METADATA}");
        let about = schema("about");
        let triples = self.subjects.remove(&descriptor).unwrap_or_default();
        // The preview's own entity: the file itself is evidence enough.
        self.subjects.remove(&format!("{BASE}/{PREVIEW}"));
        let root =
            triples.iter().find(|triple| triple.predicate.as_str() == about).and_then(object);
        self.root = root.ok_or_else(|| refused("it does not say what it is about"))?;
        let generated = |triple: &Triple| triple.predicate.as_str() == GENERATED;
        let generated: HashSet<_> =
            triples.iter().filter(|it| generated(it)).filter_map(value).map(schema).collect();
        let mut own = self.subjects.remove(&self.root).unwrap_or_default();
        own.retain(|triple| !generated.contains(triple.predicate.as_str()));
        if self.root != BASE {
            let whole = Stated::new(own).with(|iri| (iri == self.root).then(|| BASE.to_owned()));
            own = whole.into_triples();
            self.order.push(BASE.to_owned());
        }
        self.subjects.insert(BASE.to_owned(), own);
        Ok(())
    }

    fn entities(mut self) -> Result<BTreeMap<Place, Entity>> {
        let mut entities = BTreeMap::new();
        let mut taken: HashSet<String> = self.data.values().cloned().collect();
        for (place, iri) in self.data.clone() {
            let mut triples = Vec::new();
            let parts = self
                .order
                .iter()
                .filter(|it| it.strip_prefix(&iri).is_some_and(|rest| rest.starts_with('#')));
            let mut waiting: VecDeque<String> = parts.cloned().collect();
            waiting.retain(|part| taken.insert(part.clone()));
            waiting.push_front(iri.clone());
            while let Some(subject) = waiting.pop_front() {
                for triple in self.subjects.remove(&subject).unwrap_or_default() {
                    let next = object(&triple).filter(|next| self.subjects.contains_key(next));
                    waiting.extend(next.filter(|next| taken.insert(next.clone())));
                    triples.push(triple);
                }
            }
            entities.insert(place, self.entity(&iri, triples));
        }
        self.left_over(&mut entities);
        Ok(entities)
    }

    /// Statements about unreachable entities are added to the description of the root.
    fn left_over(&mut self, entities: &mut BTreeMap<Place, Entity>) {
        let root = entities.entry(Place::default()).or_default();
        for subject in &self.order {
            root.stated.extend(self.subjects.remove(subject).unwrap_or_default());
        }
    }

    /// Removes properties that do not become statements: the kind, those derived from the bytes, and values with units.
    fn entity(&self, own: &str, triples: Vec<Triple>) -> Entity {
        let mut entity = Entity::default();
        let properties = self.properties(own, &triples);
        entity.units = properties.values().cloned().collect();
        let (mut is_file, mut is_dataset) = (false, false);
        let mut kept = Vec::new();
        for triple in triples {
            let about = subject(&triple);
            let is_unit = properties.contains_key(&about)
                || object(&triple).is_some_and(|object| properties.contains_key(&object));
            if is_unit {
                continue;
            }
            if about == own {
                if is_type(&triple, DESCRIPTION) {
                    entity.is_description = true;
                    continue;
                }
                let first = |seen: &mut bool, class: &str| {
                    is_type(&triple, &schema(class)) && !std::mem::replace(seen, true)
                };
                if first(&mut is_file, "MediaObject") || first(&mut is_dataset, "Dataset") {
                    continue;
                }
                if self.is_part(&triple) || entity.take(&triple, is_file) {
                    continue;
                }
            }
            kept.push(triple);
        }
        (entity.is_file, entity.is_dataset) = (is_file, is_dataset);
        entity.stated = Stated::new(kept);
        if entity.is_description {
            entity.stated.take_type(own, &["http://schema.org/CreativeWork"]);
        }
        entity
    }

    /// Whether it states that a directory contains an existing entry.
    fn is_part(&self, triple: &Triple) -> bool {
        let is_data = |iri: String| {
            self.names.place(&iri).is_some_and(|place| self.data.contains_key(&place))
        };
        triple.predicate.as_str() == schema("hasPart") && object(triple).is_some_and(is_data)
    }

    /// The additional properties that have a unit, by their nodes.
    fn properties(&self, own: &str, triples: &[Triple]) -> BTreeMap<String, Avu> {
        let named = |node: &str, term: &str| {
            let iri = schema(term);
            let mut about = triples.iter().filter(|triple| subject(triple) == node);
            about.find(|triple| triple.predicate.as_str() == iri).and_then(value).map(str::to_owned)
        };
        let additional = schema("additionalProperty");
        let nodes = triples
            .iter()
            .filter(|triple| subject(triple) == own && triple.predicate.as_str() == additional);
        let property = |triple: &Triple| {
            let node = object(triple)?;
            let (attribute, value) = (named(&node, "name")?, named(&node, "value")?);
            let unit = Some(named(&node, "unitText")?);
            Some((node, Avu { attribute, value, unit }))
        };
        nodes.filter_map(property).collect()
    }
}

impl Entity {
    /// Removes the first of the properties of a file that the store determines itself.
    fn take(&mut self, triple: &Triple, is_file: bool) -> bool {
        let Some(value) = value(triple).filter(|_| is_file) else { return false };
        let taken =
            |place: &mut Option<String>| place.is_none() && place.insert(value.to_owned()) == value;
        match triple.predicate.as_str().strip_prefix("http://schema.org/") {
            Some("contentSize") if self.size.is_none() => {
                self.size = value.parse().ok();
                self.size.is_some()
            }
            Some("dateModified") if self.modified.is_none() => {
                self.modified = value.parse().ok();
                self.modified.is_some()
            }
            Some("sha256") => taken(&mut self.sha256),
            Some("encodingFormat") if value.contains('/') => taken(&mut self.media_type),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names() -> Names {
        Names::new(BASE, "/lab").unwrap()
    }

    const TEXT: &str = r##"{
        "@context": ["https://w3id.org/ro/crate/1.1/context", { "extra": "urn:extra" }],
        "@graph": [
            { "@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": { "@id": "./" } },
            { "@id": "./", "@type": "Dataset", "name": "Lab", "hasPart": { "@id": "a%20b.txt" },
              "author": { "@id": "https://orcid.example/1" } },
            { "@id": "a%20b.txt", "@type": ["File", "SoftwareSourceCode"], "contentSize": "3", "extra": "x",
              "encodingFormat": ["text/plain", { "@id": "https://pronom.example/x" }], "isPartOf": { "@id": "./" } },
            { "@id": "https://orcid.example/1", "@type": "Person", "name": "Ada" },
            { "@id": "#alone", "name": "nothing leads here" }
        ]
    }"##;

    #[test]
    fn statements_belong_to_their_subjects() {
        let entities = read(TEXT.as_bytes(), &names(), |_| false).unwrap();
        let of = |path: &str| {
            let entity = &entities[&Place::of(path).unwrap()];
            String::from_utf8(entity.stated.for_store(&names(), &Place::of(path).unwrap())).unwrap()
        };
        let root = of("");
        assert!(root.contains("<> <http://schema.org/name> \"Lab\""), "{root}");
        assert!(root.contains("<https://orcid.example/1> <http://schema.org/name> \"Ada\""));
        assert!(
            root.contains("<#alone> ") && !root.contains("hasPart") && !root.contains("Dataset")
        );
        let file = of("a b.txt");
        assert!(file.contains("<> <urn:extra> \"x\"") && file.contains("SoftwareSourceCode"));
        assert!(file.contains("<http://schema.org/isPartOf> <cenote:/lab>"), "{file}");
        assert!(file.contains("pronom") && !file.contains("contentSize"), "{file}");
        let entity = &entities[&Place::of("a b.txt").unwrap()];
        assert_eq!((entity.size, entity.media_type.as_deref()), (Some(3), Some("text/plain")));
        assert!(entity.is_file);
    }

    #[test]
    fn other_files_than_crates_are_refused() {
        for (from, to) in [
            ("https://w3id.org/ro/crate/1.1/context", "http://example.org/context"),
            ("\"about\"", "\"aboutness\""),
            ("@context", "context"),
        ] {
            let text = TEXT.replace(from, to);
            assert!(read(text.as_bytes(), &names(), |_| false).is_err(), "{to}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(at: usize, byte: u8, any: Vec<u8>) {
            let _ = read(&any, &names(), |_| true);
            let mut text = TEXT.as_bytes().to_vec();
            let at = at % text.len();
            text[at] = byte;
            let _ = read(&text, &names(), |_| true);
        }
    }
}
