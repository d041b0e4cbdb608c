//! From triples to text, piece by piece: a graph of any size is written with the memory of a piece.
//!
//! Invariant: text that is given out is read as the triples that were appended. What a syntax cannot express fails the text, from the
//! piece with it on.

mod inexpressible;
mod prefixes;
mod rdf_xml;
mod turtle;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use oxrdf::{Triple, TripleRef};
use oxrdfio::{RdfSerializer, WriterQuadSerializer};
use oxttl::NTriplesSerializer;
use oxttl::ntriples::LowLevelNTriplesSerializer;

pub use self::inexpressible::Inexpressible;

use self::prefixes::{Prefix, used};
use self::rdf_xml::RdfXmlWriter;
use self::turtle::TurtleWriter;
use crate::Syntax;

/// Writes triples in one syntax.
pub struct Writer {
    text: Vec<u8>,
    kind: Kind,
    failed: Option<Inexpressible>,
}

/// The serializer of a syntax. That of JSON-LD stores its output; the others are given the text with each triple.
enum Kind {
    Turtle(TurtleWriter),
    NTriples(LowLevelNTriplesSerializer),
    RdfXml(RdfXmlWriter),
    JsonLd(Shared, WriterQuadSerializer<Shared>),
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

/// About what a triple takes, so that a text is not copied each time that it outgrows its room.
const TRIPLE_BYTES: usize = 128;

/// Why writing cannot fail.
const MEMORY: &str = "memory takes what is written";

impl Writer {
    /// A text without triples yet, with the usual prefixes that the first of them use.
    pub fn new(syntax: Syntax, first: &[Triple]) -> Self {
        let text = Vec::with_capacity(first.len() * TRIPLE_BYTES);
        Self { text, kind: Kind::new(syntax, first), failed: None }
    }

    /// Refuses a triple that a syntax cannot express, without writing it.
    ///
    /// # Errors
    /// [`Inexpressible`], of RDF/XML only.
    pub fn check<'a>(
        syntax: Syntax,
        triple: impl Into<TripleRef<'a>>,
    ) -> Result<(), Inexpressible> {
        match syntax {
            Syntax::RdfXml => rdf_xml::checked(triple.into()).map(drop),
            Syntax::Turtle | Syntax::NTriples | Syntax::JsonLd | Syntax::N3 => Ok(()),
        }
    }

    /// Appends a triple. Those of one subject should follow each other: the syntaxes are shorter for it. After one that cannot be expressed,
    /// there is no more text.
    pub fn triple<'a>(&mut self, triple: impl Into<TripleRef<'a>>) {
        let text = &mut self.text;
        match &mut self.kind {
            _ if self.failed.is_some() => {}
            Kind::Turtle(turtle) => turtle.triple(triple.into(), text),
            Kind::NTriples(lines) => lines.serialize_triple(triple, text).expect(MEMORY),
            Kind::RdfXml(xml) => self.failed = xml.triple(triple.into(), text).err(),
            Kind::JsonLd(_, json) => json.serialize_triple(triple).expect(MEMORY),
        }
    }

    /// What was written since the last call.
    ///
    /// # Errors
    /// [`Inexpressible`] if the syntax cannot express one of the triples so far.
    pub fn take(&mut self) -> Result<Vec<u8>, Inexpressible> {
        match (&self.failed, &self.kind) {
            (Some(failed), _) => Err(failed.clone()),
            (None, Kind::JsonLd(shared, _)) => Ok(shared.take()),
            (None, _) => Ok(std::mem::take(&mut self.text)),
        }
    }

    /// What was not taken yet, up to the end of the text.
    ///
    /// # Errors
    /// [`Inexpressible`] if the syntax cannot express one of the triples.
    pub fn finish(mut self) -> Result<Vec<u8>, Inexpressible> {
        self.failed.map_or(Ok(()), Err)?;
        match self.kind {
            Kind::Turtle(mut turtle) => turtle.finish(&mut self.text),
            Kind::NTriples(_) => {}
            Kind::RdfXml(mut xml) => xml.finish(&mut self.text),
            Kind::JsonLd(_, json) => return Ok(json.finish().expect(MEMORY).take()),
        }
        Ok(self.text)
    }
}

/// The text of a whole graph; triples of one subject should follow each other.
///
/// # Errors
/// [`Inexpressible`] if the syntax cannot express one of the triples, which only RDF/XML refuses.
pub fn write(triples: &[Triple], syntax: Syntax) -> Result<Vec<u8>, Inexpressible> {
    let mut writer = Writer::new(syntax, triples);
    triples.iter().for_each(|triple| writer.triple(triple));
    writer.finish()
}

impl Kind {
    fn new(syntax: Syntax, first: &[Triple]) -> Self {
        match syntax {
            Syntax::Turtle | Syntax::N3 => Self::Turtle(TurtleWriter::new(used(first))),
            Syntax::NTriples => Self::NTriples(NTriplesSerializer::new().low_level()),
            Syntax::RdfXml => Self::RdfXml(RdfXmlWriter::new(used(first))),
            Syntax::JsonLd => Self::json_ld(&used(first)),
        }
    }

    fn json_ld(prefixes: &[Prefix]) -> Self {
        let serializer = RdfSerializer::from_format(Syntax::JsonLd.format());
        let serializer = prefixes.iter().fold(serializer, |serializer, (prefix, iri)| {
            serializer.with_prefix(*prefix, *iri).expect("the prefixes are IRIs")
        });
        let shared = Shared::default();
        Self::JsonLd(shared.clone(), serializer.for_writer(shared))
    }
}

/// Memory that is written to in one place and taken from in another.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term};
    use proptest::prelude::*;

    use super::*;
    use crate::{Limits, canonical, read};

    const LIMITS: Limits = Limits { triples: 1_000, term: 1_000 };

    fn subject() -> impl Strategy<Value = NamedOrBlankNode> {
        prop_oneof![
            "http://h/[a-z]{1,2}(#[a-z]{1,2})?"
                .prop_map(|iri| NamedNode::new_unchecked(iri).into()),
            "[a-c]".prop_map(|label| BlankNode::new_unchecked(label).into()),
        ]
    }

    fn literal() -> impl Strategy<Value = Literal> {
        let text = "(\\PC|[ \t\r\n&<>\"'\u{7f}\u{85}\u{2028}]){0,6}";
        prop_oneof![
            text.prop_map(Literal::new_simple_literal),
            (text, "en|de-at").prop_map(|(text, tag)| {
                Literal::new_language_tagged_literal_unchecked(text, tag)
            }),
            (text, "http://h/t[a-z]").prop_map(|(text, datatype)| {
                Literal::new_typed_literal(text, NamedNode::new_unchecked(datatype))
            }),
            any::<i64>().prop_map(Literal::from),
            any::<bool>().prop_map(Literal::from),
        ]
    }

    fn triple() -> impl Strategy<Value = Triple> {
        let object = prop_oneof![subject().prop_map(Term::from), literal().prop_map(Term::from)];
        (subject(), predicate(), object).prop_map(|(subject, predicate, object)| {
            Triple::new(subject, NamedNode::new_unchecked(predicate), object)
        })
    }

    /// Of all kinds that RDF/XML can express.
    fn predicate() -> impl Strategy<Value = String> {
        prop_oneof![
            "http://h/p#[a-z]{1,3}",
            "(http://h/|urn:|cenote:attribute/)[a-z0-9._~%()é·:-]{0,4}[a-z_é][0-9.·-]{0,2}"
                .prop_filter("percent-encoded", |iri| NamedNode::new(iri).is_ok()),
            "(http://purl\\.org/dc/terms/|http://www\\.w3\\.org/1999/02/22-rdf-syntax-ns#)(type|_1|xml|x1)",
        ]
    }

    fn written(triples: &[Triple], syntax: Syntax) -> Result<Vec<u8>, Inexpressible> {
        let mut writer = Writer::new(syntax, triples);
        let mut text = Vec::new();
        for triple in triples {
            writer.triple(triple);
            text.append(&mut writer.take()?);
        }
        text.append(&mut writer.finish()?);
        Ok(text)
    }

    fn one(predicate: &str, object: impl Into<Term>) -> Triple {
        let node = NamedNode::new_unchecked;
        Triple::new(node("http://h/s"), node(predicate), object)
    }

    #[test]
    fn rdf_xml_refuses_what_it_cannot_express() {
        let plain = Literal::new_simple_literal;
        let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
        for triple in [
            one("http://e.x/123", plain("x")),
            one("http://e.x/a/", plain("x")),
            one("http://e.x/a#", plain("x")),
            one("urn:1", plain("x")),
            one("cenote:attribute/run%20(b)", plain("x")),
            one(&format!("{rdf}li"), plain("x")),
            one(&format!("{rdf}Description"), plain("x")),
            one("http://www.w3.org/2000/xmlns/a", plain("x")),
            one("http://e.x/p", plain("a\0b")),
            one("http://e.x/p", plain("\u{1}")),
            one("http://e.x/p", plain("\u{fffe}")),
        ] {
            let triples = [one("http://e.x/p", plain("x")), triple];
            let refused = Writer::check(Syntax::RdfXml, &triples[1]).unwrap_err();
            assert_eq!(written(&triples, Syntax::RdfXml), Err(refused), "{}", triples[1]);
            for syntax in [Syntax::Turtle, Syntax::NTriples, Syntax::JsonLd, Syntax::N3] {
                Writer::check(syntax, &triples[1]).unwrap();
                let back = read(&written(&triples, syntax).unwrap(), syntax, "http://h/", LIMITS);
                assert_eq!(canonical(&back.unwrap()), canonical(&triples), "{syntax:?}");
            }
        }
    }

    #[test]
    fn an_error_names_the_term() {
        let predicate = one("http://e.x/123", Literal::from(1));
        let refused = written(&[predicate], Syntax::RdfXml).unwrap_err().to_string();
        assert!(refused.contains("the predicate <http://e.x/123>"), "{refused}");
        let literal =
            one("http://e.x/p", Literal::new_simple_literal(format!("a\0{}", "b".repeat(1_000))));
        let refused = written(&[literal], Syntax::RdfXml).unwrap_err().to_string();
        assert!(refused.contains(r#""a\0bbb"#) && refused.contains("U+0000"), "{refused}");
        assert!(refused.len() < 300, "{refused}");
    }

    #[test]
    fn blank_nodes_keep_their_identity_whatever_their_labels() {
        let labels = ["a", "1", "_031", "_0", "a.b", "a\u{b7}", "é", "0x"];
        let nodes = labels.map(BlankNode::new_unchecked);
        let triples: Vec<_> = nodes.iter().map(|node| one("http://h/p", node.clone())).collect();
        for syntax in Syntax::ALL {
            let back = read(&written(&triples, syntax).unwrap(), syntax, "http://h/", LIMITS);
            let back: std::collections::HashSet<_> = back.unwrap().into_iter().collect();
            assert_eq!(back.len(), labels.len(), "{syntax:?}");
        }
    }

    proptest! {
        #[test]
        fn a_graph_is_the_same_after_every_syntax(triples in proptest::collection::vec(triple(), 0..8)) {
            for syntax in Syntax::ALL {
                let text = written(&triples, syntax).unwrap();
                let back = read(&text, syntax, "http://h/", LIMITS);
                let back = back.unwrap_or_else(|error| panic!("{syntax:?}: {error}: {}", String::from_utf8_lossy(&text)));
                prop_assert_eq!(canonical(&back), canonical(&triples), "{:?}", syntax);
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text: Vec<u8>, likely in "[<>\"{}@:a-c .;,#\\[\\]()_^/=]{0,40}") {
            for syntax in Syntax::ALL {
                let _ = read(&text, syntax, "http://h/", LIMITS);
                let _ = read(likely.as_bytes(), syntax, "http://h/", LIMITS);
            }
        }
    }
}
