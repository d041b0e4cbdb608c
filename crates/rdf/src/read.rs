//! From text to triples.

use oxrdf::Triple;
use oxrdfio::{RdfParseError, RdfParser};

use crate::{Syntax, json_ld, rdf_xml};

/// The maximum to read. Larger input is refused before more of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Triples of one graph.
    pub triples: usize,
    /// Bytes of one IRI, label or literal.
    pub term: usize,
}

/// Why text was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not of the syntax. Lines and columns count from 1.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// Where.
        line: u64,
        /// Where in the line, in characters.
        column: u64,
        /// Why.
        message: String,
    },
    /// It is not of the syntax, and it is not known where.
    #[error("{0}")]
    Malformed(String),
    /// It has more triples than allowed.
    #[error("more than {0} triples")]
    TooMany(usize),
    /// A term is longer than allowed.
    #[error("a term of more than {0} bytes")]
    TooLong(usize),
}

/// The triples of a text, with relative IRIs resolved against `base`, an absolute IRI. Named graphs are refused, and remote JSON-LD
/// contexts are not fetched: a text that has one is refused, too.
///
/// Turtle may leave out the full stop after a directive and after the last statement, as Jena allows and clients of Fedora do.
pub fn read(
    text: &[u8],
    syntax: Syntax,
    base: &str,
    limits: Limits,
) -> Result<Vec<Triple>, ReadError> {
    let parser = parser(syntax, base)?;
    match read_exactly(text, syntax, &parser, limits) {
        Err(error @ ReadError::Syntax { .. }) if syntax == Syntax::Turtle => {
            read_exactly(&[text, b"\n."].concat(), syntax, &parser, limits).map_err(|_| error)
        }
        read => read,
    }
}

/// The same of a text whose IRIs need not be valid, such as `http://h/100%`: they are taken as they are. Some repositories have written such, and their
/// graphs have to be read to be mended.
pub fn read_any_iris(
    text: &[u8],
    syntax: Syntax,
    base: &str,
    limits: Limits,
) -> Result<Vec<Triple>, ReadError> {
    read_exactly(text, syntax, &parser(syntax, base)?.lenient(), limits)
}

/// What some programs put before text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

fn parser(syntax: Syntax, base: &str) -> Result<RdfParser, ReadError> {
    let parser = RdfParser::from_format(syntax.format()).without_named_graphs();
    parser.with_base_iri(base).map_err(|error| malformed(&error))
}

fn read_exactly(
    text: &[u8],
    syntax: Syntax,
    parser: &RdfParser,
    limits: Limits,
) -> Result<Vec<Triple>, ReadError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    match syntax {
        Syntax::JsonLd => json_ld::check(text)?,
        Syntax::RdfXml => rdf_xml::check(text)?,
        Syntax::Turtle | Syntax::NTriples | Syntax::N3 => {}
    }
    let mut triples = Vec::new();
    for quad in parser.clone().for_slice(text) {
        let triple = match quad {
            Err(error) if syntax == Syntax::Turtle && is_missing_stop(&error) => continue,
            quad => Triple::from(quad?),
        };
        if triples.len() == limits.triples {
            return Err(ReadError::TooMany(limits.triples));
        }
        if longest(&triple) > limits.term {
            return Err(ReadError::TooLong(limits.term));
        }
        triples.push(triple);
    }
    Ok(triples)
}

/// Whether the parser missed a full stop, after which it continues as if there had been one.
fn is_missing_stop(error: &oxrdfio::RdfSyntaxError) -> bool {
    error.to_string().ends_with("A dot is expected at the end of statements")
}

fn longest(triple: &Triple) -> usize {
    let subject = match &triple.subject {
        oxrdf::NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
        oxrdf::NamedOrBlankNode::BlankNode(node) => node.as_str().len(),
    };
    let object = match &triple.object {
        oxrdf::Term::NamedNode(node) => node.as_str().len(),
        oxrdf::Term::BlankNode(node) => node.as_str().len(),
        oxrdf::Term::Literal(literal) => literal.value().len(),
    };
    subject.max(triple.predicate.as_str().len()).max(object)
}

fn malformed(error: &impl std::fmt::Display) -> ReadError {
    ReadError::Malformed(error.to_string())
}

impl From<oxrdfio::RdfSyntaxError> for ReadError {
    fn from(error: oxrdfio::RdfSyntaxError) -> Self {
        match error.location() {
            Some(location) => Self::Syntax {
                line: location.start.line + 1,
                column: location.start.column + 1,
                message: error.to_string(),
            },
            None => malformed(&error),
        }
    }
}

impl From<RdfParseError> for ReadError {
    fn from(error: RdfParseError) -> Self {
        match error {
            RdfParseError::Syntax(error) => error.into(),
            RdfParseError::Io(error) => malformed(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Limits = Limits { triples: 10, term: 100 };

    #[test]
    fn relative_iris_are_resolved() {
        let triples = read(b"<> <p> <#x>, <../y> .", Syntax::Turtle, "http://h/a/b", ALL).unwrap();
        let shown: Vec<_> = triples.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "<http://h/a/b> <http://h/a/p> <http://h/a/b#x>",
                "<http://h/a/b> <http://h/a/p> <http://h/y>"
            ]
        );
    }

    #[test]
    fn invalid_iris_are_read_only_where_they_are_allowed() {
        for syntax in [Syntax::Turtle, Syntax::NTriples] {
            let text = b"<http://h/100%> <a:p> <http://h/50%/x> .";
            assert!(read(text, syntax, "http://h/", ALL).is_err());
            let triples = read_any_iris(text, syntax, "http://h/", ALL).unwrap();
            assert_eq!(triples[0].to_string(), "<http://h/100%> <a:p> <http://h/50%/x>");
        }
    }

    #[test]
    fn turtle_may_leave_out_full_stops() {
        for text in [
            "<a:> <a:p> 1 .",
            "<a:> <a:p> 1",
            "<a:> <a:p> 1 ;\n",
            "@prefix a: <a:>\n<a:> a:p 1",
            "@prefix a: <a:>\n@base <a:>\n<a:> a:p 1 .",
        ] {
            let triples = read(text.as_bytes(), Syntax::Turtle, "a:", ALL).unwrap();
            assert_eq!(triples.len(), 1, "{text}");
        }
        for text in ["<a:> <a:p>", "<a:> <a:p> \"", "<a:> <a:p> [", "<a:> <a:p> 1 . ."] {
            assert!(read(text.as_bytes(), Syntax::Turtle, "a:", ALL).is_err(), "{text}");
        }
        let text = b"<a:> <a:p> <a:o>";
        assert!(read(text, Syntax::NTriples, "a:", ALL).is_err());
    }

    #[test]
    fn an_error_reports_its_location() {
        let error = read(b"<a:> <a:> <a:> .\n <a:> oops", Syntax::Turtle, "a:", ALL).unwrap_err();
        assert!(error.to_string().starts_with("line 2, column"), "{error}");
    }

    #[test]
    fn graphs_beyond_the_limits_are_refused() {
        let text = |count| "<a:> <a:> _:b .\n".repeat(count);
        assert_eq!(read(text(10).as_bytes(), Syntax::NTriples, "a:", ALL).unwrap().len(), 10);
        let refused = read(text(11).as_bytes(), Syntax::NTriples, "a:", ALL);
        assert!(matches!(refused, Err(ReadError::TooMany(10))));
        let long = format!("<a:> <a:> {:?} .", "x".repeat(101));
        assert!(matches!(
            read(long.as_bytes(), Syntax::NTriples, "a:", ALL),
            Err(ReadError::TooLong(100))
        ));
    }

    #[test]
    fn no_remote_context_is_fetched_and_no_named_graph_read() {
        let remote = br#"{"@context": "http://localhost:9/c.jsonld", "@id": "a:", "p": "x"}"#;
        assert!(read(remote, Syntax::JsonLd, "a:", ALL).is_err());
        let named = br#"{"@id": "a:g", "@graph": [{"@id": "a:", "a:p": "x"}]}"#;
        assert!(read(named, Syntax::JsonLd, "a:", ALL).is_err());
    }
}
