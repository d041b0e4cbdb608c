//! RDF/XML (<https://www.w3.org/TR/rdf-syntax-grammar/>): an element for each subject, and in it one for each triple.
//!
//! Invariant: what is written is well-formed and is read as the same triples; what RDF/XML cannot say is refused, and nothing
//! of it is written. It cannot say a predicate whose end is no name of an element, a predicate that its grammar uses (section 5.1),
//! and characters that XML does not have.

use oxrdf::vocab::xsd;
use oxrdf::{NamedOrBlankNode, NamedOrBlankNodeRef, TermRef, TripleRef};

use super::inexpressible::Inexpressible;
use super::prefixes::Prefix;
use crate::xml::{escape, is_nc_name, name_at_end};

const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The namespace of declarations, which no element may be in (Namespaces in XML, section 3).
const XMLNS: &str = "http://www.w3.org/2000/xmlns/";
/// Names in the namespace of RDF that no property element has, and `li`, which is read as another predicate.
const RESERVED: [&str; 12] = [
    "Description",
    "RDF",
    "ID",
    "about",
    "aboutEach",
    "aboutEachPrefix",
    "bagID",
    "datatype",
    "li",
    "nodeID",
    "parseType",
    "resource",
];

/// Writes triples, grouped by the subjects that follow each other.
pub(super) struct RdfXmlWriter {
    /// Those that are declared at the root; other namespaces are declared where they are used.
    prefixes: Vec<Prefix>,
    started: bool,
    /// The subject of the open element.
    subject: Option<NamedOrBlankNode>,
}

impl RdfXmlWriter {
    pub(super) fn new(mut prefixes: Vec<Prefix>) -> Self {
        if !prefixes.iter().any(|(prefix, _)| *prefix == "rdf") {
            prefixes.push(("rdf", RDF));
        }
        Self { prefixes, started: false, subject: None }
    }

    pub(super) fn triple(
        &mut self,
        triple: TripleRef<'_>,
        text: &mut Vec<u8>,
    ) -> Result<(), Inexpressible> {
        let (namespace, local) = checked(triple)?;
        self.start(text);
        if self.subject.as_ref().map(NamedOrBlankNode::as_ref) != Some(triple.subject) {
            self.end_subject(text);
            self.begin_subject(triple.subject, text);
        }
        self.property(namespace, local, triple.object, text);
        Ok(())
    }

    /// Ends all elements.
    pub(super) fn finish(&mut self, text: &mut Vec<u8>) {
        self.start(text);
        self.end_subject(text);
        put(text, &["</rdf:RDF>\n"]);
    }

    fn start(&mut self, text: &mut Vec<u8>) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        put(text, &["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF"]);
        for (prefix, namespace) in &self.prefixes {
            put(text, &[" xmlns:", prefix, "=\"", namespace, "\""]);
        }
        put(text, &[">\n"]);
    }

    fn begin_subject(&mut self, subject: NamedOrBlankNodeRef<'_>, text: &mut Vec<u8>) {
        put(text, &["\t<rdf:Description"]);
        match subject {
            NamedOrBlankNodeRef::NamedNode(node) => attribute("rdf:about", node.as_str(), text),
            NamedOrBlankNodeRef::BlankNode(node) => {
                attribute("rdf:nodeID", &label(node.as_str()), text);
            }
        }
        put(text, &[">\n"]);
        self.subject = Some(subject.into_owned());
    }

    fn end_subject(&mut self, text: &mut Vec<u8>) {
        if self.subject.take().is_some() {
            put(text, &["\t</rdf:Description>\n"]);
        }
    }

    fn property(&self, namespace: &str, local: &str, object: TermRef<'_>, text: &mut Vec<u8>) {
        let declared = self.prefixes.iter().find(|(_, known)| *known == namespace);
        let (prefix, colon) = declared.map_or(("", ""), |(prefix, _)| (*prefix, ":"));
        put(text, &["\t\t<", prefix, colon, local]);
        if declared.is_none() {
            attribute("xmlns", namespace, text);
        }
        match object {
            TermRef::NamedNode(node) => attribute("rdf:resource", node.as_str(), text),
            TermRef::BlankNode(node) => attribute("rdf:nodeID", &label(node.as_str()), text),
            TermRef::Literal(literal) => {
                if let Some(language) = literal.language() {
                    attribute("xml:lang", language, text);
                } else if literal.datatype() != xsd::STRING {
                    attribute("rdf:datatype", literal.datatype().as_str(), text);
                }
                put(text, &[">"]);
                escape(literal.value(), text);
                return put(text, &["</", prefix, colon, local, ">\n"]);
            }
        }
        put(text, &["/>\n"]);
    }
}

/// The namespace and the local name of the predicate of a triple that can be written.
pub(super) fn checked(triple: TripleRef<'_>) -> Result<(&str, &str), Inexpressible> {
    let predicate = triple.predicate.as_str();
    let object = match triple.object {
        TermRef::NamedNode(node) => [node.as_str(), ""],
        TermRef::BlankNode(_) => ["", ""],
        TermRef::Literal(literal) => [literal.value(), literal.datatype().as_str()],
    };
    let subject = match triple.subject {
        NamedOrBlankNodeRef::NamedNode(node) => node.as_str(),
        NamedOrBlankNodeRef::BlankNode(_) => "",
    };
    for term in [subject, predicate].into_iter().chain(object) {
        Inexpressible::check(term)?;
    }
    named(predicate).ok_or_else(|| Inexpressible::predicate(predicate))
}

/// An IRI as a namespace and a local name, if it can be the name of a property element.
fn named(predicate: &str) -> Option<(&str, &str)> {
    if predicate.strip_prefix(RDF).is_some_and(|name| RESERVED.contains(&name)) {
        return None;
    }
    let (namespace, local) = predicate.split_at(name_at_end(predicate)?);
    (!namespace.is_empty() && namespace != XMLNS).then_some((namespace, local))
}

/// The label of a blank node as an attribute may have it, another one for each label.
fn label(label: &str) -> String {
    match is_nc_name(label) && !label.starts_with("_0") {
        true => label.to_owned(),
        false => label.bytes().fold("_0".to_owned(), |name, byte| format!("{name}{byte:02x}")),
    }
}

fn attribute(name: &str, value: &str, text: &mut Vec<u8>) {
    put(text, &[" ", name, "=\""]);
    escape(value, text);
    put(text, &["\""]);
}

fn put(text: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
}
