//! Turtle (<https://www.w3.org/TR/turtle/>), the syntax of nearly every answer, written into one buffer without
//! an allocation or a formatter for each term.
//!
//! The text is that of `oxttl`, byte for byte, except that an IRI is shortened only where its local name needs no
//! escapes. A property test compares both.

use std::io::Write;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{LiteralRef, NamedNodeRef, NamedOrBlankNodeRef, TermRef, TripleRef};

use super::prefixes::{Prefix, local_name};

/// Writes triples, grouped by the subjects and predicates that follow each other.
pub(super) struct TurtleWriter {
    /// Those that are declared; others are written in full.
    prefixes: Vec<Prefix>,
    started: bool,
    /// The subject of the last triple, as it is written, and its predicate. Empty before the first.
    subject: Vec<u8>,
    predicate: String,
    /// Where the subject of the next triple is written to be compared.
    next: Vec<u8>,
}

impl TurtleWriter {
    pub(super) fn new(prefixes: Vec<Prefix>) -> Self {
        let (subject, next) = (Vec::new(), Vec::new());
        Self { prefixes, started: false, subject, predicate: String::new(), next }
    }

    pub(super) fn triple(&mut self, triple: TripleRef<'_>, text: &mut Vec<u8>) {
        self.start(text);
        self.next.clear();
        match triple.subject {
            NamedOrBlankNodeRef::NamedNode(node) => iri(&self.prefixes, node, &mut self.next),
            NamedOrBlankNodeRef::BlankNode(node) => blank(node.as_str(), &mut self.next),
        }
        if self.next != self.subject {
            self.end_subject(text);
            text.extend_from_slice(&self.next);
            std::mem::swap(&mut self.subject, &mut self.next);
            text.push(b' ');
            self.begin_predicate(triple.predicate, text);
        } else if self.predicate != triple.predicate.as_str() {
            text.extend_from_slice(b" ;\n\t");
            self.begin_predicate(triple.predicate, text);
        } else {
            text.extend_from_slice(b" , ");
        }
        self.object(triple.object, text);
    }

    /// Ends the last sentence.
    pub(super) fn finish(&mut self, text: &mut Vec<u8>) {
        self.start(text);
        self.end_subject(text);
    }

    fn start(&mut self, text: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.started, true) {
            for (prefix, namespace) in &self.prefixes {
                put(text, &["@prefix ", prefix, ": <", namespace, "> .\n"]);
            }
        }
    }

    fn end_subject(&self, text: &mut Vec<u8>) {
        if !self.subject.is_empty() {
            text.extend_from_slice(b" .\n");
        }
    }

    fn begin_predicate(&mut self, predicate: NamedNodeRef<'_>, text: &mut Vec<u8>) {
        iri(&self.prefixes, predicate, text);
        text.push(b' ');
        self.predicate.clear();
        self.predicate.push_str(predicate.as_str());
    }

    fn object(&self, object: TermRef<'_>, text: &mut Vec<u8>) {
        match object {
            TermRef::NamedNode(node) => iri(&self.prefixes, node, text),
            TermRef::BlankNode(node) => blank(node.as_str(), text),
            TermRef::Literal(literal) => self.literal(literal, text),
        }
    }

    fn literal(&self, literal: LiteralRef<'_>, text: &mut Vec<u8>) {
        let (value, datatype) = (literal.value(), literal.datatype());
        if is_abbreviated(value, datatype) {
            return text.extend_from_slice(value.as_bytes());
        }
        quoted(value, text);
        if let Some(language) = literal.language() {
            put(text, &["@", language]);
        } else if datatype != xsd::STRING && datatype != rdf::LANG_STRING {
            text.extend_from_slice(b"^^");
            iri(&self.prefixes, datatype, text);
        }
    }
}

fn put(text: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
}

fn blank(label: &str, text: &mut Vec<u8>) {
    put(text, &["_:", label]);
}

fn iri(prefixes: &[Prefix], node: NamedNodeRef<'_>, text: &mut Vec<u8>) {
    let node = node.as_str();
    match shortened(prefixes, node) {
        Some((prefix, local)) => put(text, &[prefix, ":", local]),
        None => put(text, &["<", node, ">"]),
    }
}

/// The prefix and the local name of an IRI, if it has both.
fn shortened<'a>(prefixes: &[Prefix], node: &'a str) -> Option<(&'static str, &'a str)> {
    let (namespace, local) = node.split_at(local_name(node)?);
    let (prefix, _) = prefixes.iter().find(|(_, known)| *known == namespace)?;
    is_plain_name(local).then_some((prefix, local))
}

/// Whether a local name needs no escapes; the grammar allows more than these.
fn is_plain_name(local: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = local.as_bytes();
    bytes.first().is_none_or(is_word) && bytes.iter().all(|byte| is_word(byte) || *byte == b'-')
}

fn quoted(value: &str, text: &mut Vec<u8>) {
    // 0xef begins the two noncharacters that are escaped, among others that need not be.
    let is_special = |byte: u8| matches!(byte, 0..0x20 | 0x7f | b'"' | b'\\' | 0xef);
    // Without an early end, many bytes are compared at once.
    if value.bytes().fold(false, |special, byte| special | is_special(byte)) {
        let literal = LiteralRef::new_simple_literal(value);
        return write!(text, "{literal}").expect(super::MEMORY);
    }
    put(text, &["\"", value, "\""]);
}

/// Whether a literal is written as a bare word: see "BooleanLiteral" and "NumericLiteral" in the grammar.
fn is_abbreviated(value: &str, datatype: NamedNodeRef<'_>) -> bool {
    match datatype {
        xsd::BOOLEAN => matches!(value, "true" | "false"),
        xsd::INTEGER | xsd::DECIMAL | xsd::DOUBLE => numeric(value) == Some(datatype),
        _ => false,
    }
}

/// The datatype that a bare number has in Turtle.
fn numeric(value: &str) -> Option<NamedNodeRef<'static>> {
    let (mantissa, exponent) = match value.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (value, None),
    };
    let (whole, fraction) = match unsigned(mantissa).split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned(mantissa), None),
    };
    let parts = [Some(whole), fraction, exponent];
    if !parts.into_iter().flatten().all(|part| part.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let digits = |part: Option<&str>| part.is_some_and(|part| !part.is_empty());
    match (exponent, fraction) {
        (Some(""), _) => None,
        (Some(_), _) => (digits(Some(whole)) || digits(fraction)).then_some(xsd::DOUBLE),
        (None, Some(_)) => digits(fraction).then_some(xsd::DECIMAL),
        (None, None) => digits(Some(whole)).then_some(xsd::INTEGER),
    }
}

fn unsigned(number: &str) -> &str {
    number.strip_prefix(['+', '-']).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};
    use oxttl::TurtleSerializer;
    use proptest::prelude::*;

    use super::*;

    const PREFIX: Prefix = ("ldp", "http://www.w3.org/ns/ldp#");

    fn subject() -> impl Strategy<Value = NamedOrBlankNode> {
        prop_oneof![
            "http://(h/|www.w3.org/ns/ldp#)[a-z0-9_]{0,2}"
                .prop_map(|iri| NamedNode::new_unchecked(iri).into()),
            "[a-b]".prop_map(|label| BlankNode::new_unchecked(label).into()),
        ]
    }

    fn literal() -> impl Strategy<Value = Literal> {
        let number = "[+-]{0,2}[0-9]{0,2}[.]{0,2}[0-9]{0,2}([eE][+-]?[0-9]{0,2})?|true|false";
        let datatype = prop_oneof![
            Just(xsd::INTEGER),
            Just(xsd::DECIMAL),
            Just(xsd::DOUBLE),
            Just(xsd::BOOLEAN),
            Just(xsd::DATE),
            Just(NamedNodeRef::new_unchecked("http://www.w3.org/ns/ldp#t")),
        ];
        prop_oneof![
            any::<String>().prop_map(Literal::new_simple_literal),
            "[\"\\\\\n\u{fffd}-\u{ffff}\u{0}-\u{20}a]{0,4}".prop_map(Literal::new_simple_literal),
            any::<String>()
                .prop_map(|text| { Literal::new_language_tagged_literal_unchecked(text, "de-at") }),
            (number, datatype)
                .prop_map(|(text, datatype)| Literal::new_typed_literal(text, datatype)),
        ]
    }

    fn triple() -> impl Strategy<Value = Triple> {
        let object = prop_oneof![subject().prop_map(Term::from), literal().prop_map(Term::from)];
        let predicate = "http://(h/|www.w3.org/ns/ldp#)[a-b]".prop_map(NamedNode::new_unchecked);
        (subject(), predicate, object)
            .prop_map(|(subject, predicate, object)| Triple::new(subject, predicate, object))
    }

    proptest! {
        #[test]
        fn the_text_is_that_of_oxttl(triples in proptest::collection::vec(triple(), 1..12)) {
            let mut theirs = TurtleSerializer::new().with_prefix(PREFIX.0, PREFIX.1).unwrap().for_writer(Vec::new());
            let mut ours = TurtleWriter::new(vec![PREFIX]);
            let mut text = Vec::new();
            for triple in &triples {
                theirs.serialize_triple(triple).unwrap();
                ours.triple(triple.as_ref(), &mut text);
            }
            ours.finish(&mut text);
            prop_assert_eq!(String::from_utf8(text).unwrap(), String::from_utf8(theirs.finish().unwrap()).unwrap());
        }
    }

    #[test]
    fn a_local_name_that_needs_escapes_is_written_as_an_iri() {
        for local in ["a/b", "a.b", "-a", "%20", "é", "a~"] {
            let mut text = Vec::new();
            iri(&[PREFIX], NamedNodeRef::new_unchecked(&format!("{}{local}", PREFIX.1)), &mut text);
            assert_eq!(text, format!("<{}{local}>", PREFIX.1).into_bytes());
        }
    }
}
