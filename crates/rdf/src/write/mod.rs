//! From triples to text, piece by piece: a graph of any size is written with the memory of a piece.

mod prefixes;
mod turtle;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use oxrdf::{Triple, TripleRef};
use oxrdfio::{RdfSerializer, WriterQuadSerializer};
use oxttl::NTriplesSerializer;
use oxttl::ntriples::LowLevelNTriplesSerializer;

use self::prefixes::{Prefix, used};
use self::turtle::TurtleWriter;
use crate::Syntax;

/// Writes triples in one syntax.
pub struct Writer {
    text: Vec<u8>,
    kind: Kind,
}

/// The serializer of a syntax. Those of Turtle and N-Triples are given the text with each triple; the others store their output.
enum Kind {
    Turtle(TurtleWriter),
    NTriples(LowLevelNTriplesSerializer),
    Other(Shared, WriterQuadSerializer<Shared>),
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
        Self { text, kind: Kind::new(syntax, first) }
    }

    /// Appends a triple. Those of one subject should follow each other: the syntaxes are shorter for it.
    pub fn triple<'a>(&mut self, triple: impl Into<TripleRef<'a>>) {
        let text = &mut self.text;
        match &mut self.kind {
            Kind::Turtle(turtle) => turtle.triple(triple.into(), text),
            Kind::NTriples(lines) => lines.serialize_triple(triple, text).expect(MEMORY),
            Kind::Other(_, other) => other.serialize_triple(triple).expect(MEMORY),
        }
    }

    /// What was written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        match &self.kind {
            Kind::Other(shared, _) => shared.take(),
            _ => std::mem::take(&mut self.text),
        }
    }

    /// What was not taken yet, up to the end of the text.
    pub fn finish(mut self) -> Vec<u8> {
        match self.kind {
            Kind::Turtle(mut turtle) => turtle.finish(&mut self.text),
            Kind::NTriples(_) => {}
            Kind::Other(_, other) => return other.finish().expect(MEMORY).take(),
        }
        self.text
    }
}

impl Kind {
    fn new(syntax: Syntax, first: &[Triple]) -> Self {
        match syntax {
            Syntax::Turtle | Syntax::N3 => Self::Turtle(TurtleWriter::new(used(first))),
            Syntax::NTriples => Self::NTriples(NTriplesSerializer::new().low_level()),
            Syntax::JsonLd | Syntax::RdfXml => Self::other(syntax, &used(first)),
        }
    }

    fn other(syntax: Syntax, prefixes: &[Prefix]) -> Self {
        let serializer = RdfSerializer::from_format(syntax.format());
        let serializer = prefixes.iter().fold(serializer, |serializer, (prefix, iri)| {
            serializer.with_prefix(*prefix, *iri).expect("the prefixes are IRIs")
        });
        let shared = Shared::default();
        Self::Other(shared.clone(), serializer.for_writer(shared))
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
        // XML cannot represent control characters.
        let text = "[^\\p{Cc}\u{fffe}\u{ffff}]{0,6}";
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
        (subject(), "http://h/p#[a-z]{1,3}", object).prop_map(|(subject, predicate, object)| {
            Triple::new(subject, NamedNode::new_unchecked(predicate), object)
        })
    }

    fn written(triples: &[Triple], syntax: Syntax) -> Vec<u8> {
        let mut writer = Writer::new(syntax, triples);
        let mut text = Vec::new();
        for triple in triples {
            writer.triple(triple);
            text.append(&mut writer.take());
        }
        text.append(&mut writer.finish());
        text
    }

    proptest! {
        #[test]
        fn a_graph_is_the_same_after_every_syntax(triples in proptest::collection::vec(triple(), 0..8)) {
            for syntax in Syntax::ALL {
                let text = written(&triples, syntax);
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
