//! A request of the SPARQL 1.1 Protocol (<https://www.w3.org/TR/sparql11-protocol/>, section 2.1): a query in the address, in a
//! form, or as the body.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use cenote_rdf::{Answers, Format, Query, Syntax};
use percent_encoding::percent_decode;

use super::prefixes::Prefixes;
use crate::app::App;
use crate::layer::{Admission, NotGathered, gather};
use crate::problem::{Problem, ProblemKind};

const FORM: &str = "application/x-www-form-urlencoded";
const QUERY: &str = "application/sparql-query";

/// The query of a request.
#[derive(Debug)]
pub(crate) struct QueryRequest {
    pub(crate) query: Text,
    /// Whether resources are identified by their paths.
    pub(crate) paths: bool,
    format: Option<String>,
    pub(crate) constructs: bool,
}

/// A query, with the graphs that were named beside it. It is parsed here for what it is, and again where it runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) default: Vec<String>,
    pub(crate) named: Vec<String>,
    /// Prefixes that need not be declared at this address.
    pub(crate) prefixes: Prefixes,
}

/// Parameters with their values, in their order.
#[derive(Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl QueryRequest {
    pub(crate) async fn read(
        app: &App,
        parts: &Parts,
        body: Body,
        prefixes: Prefixes,
    ) -> Result<Self, Problem> {
        let mut params = Params::decode(parts.uri.query().unwrap_or_default().as_bytes())?;
        if parts.method == Method::POST {
            let body = gathered(app, parts, body).await?;
            match essence(&parts.headers).as_str() {
                FORM => params.0.extend(Params::decode(&body)?.0),
                QUERY => params.0.push(("query".to_owned(), utf8(&body)?)),
                other => return Err(other_type(other)),
            }
        }
        Self::of(&params, prefixes)
    }

    fn of(params: &Params, prefixes: Prefixes) -> Result<Self, Problem> {
        params.check()?;
        let text = params.one("query")?.ok_or_else(|| {
            Problem::invalid("the query is missing").with_hint("send it as the parameter `query`")
        })?;
        let query = Query::parse_with(&text, "http://localhost/", prefixes).map_err(not_a_query)?;
        Ok(Self {
            constructs: query.constructs(),
            query: Text {
                text,
                default: params.all("default-graph-uri"),
                named: params.all("named-graph-uri"),
                prefixes,
            },
            paths: match params.one("iris")?.as_deref() {
                None | Some("addresses") => false,
                Some("paths") => true,
                Some(_) => return Err(Problem::invalid("`iris` must be `addresses` or `paths`")),
            },
            format: params.one("format")?,
        })
    }

    /// The format of the answer.
    pub(crate) fn format(&self, headers: &HeaderMap) -> Result<Format, Problem> {
        if let Some(name) = &self.format {
            return named(name, self.constructs);
        }
        Format::negotiate(&accepted(headers), self.constructs).ok_or_else(|| {
            let detail = match self.constructs {
                true => "the answer is a graph, for which no acceptable syntax is available",
                false => "the answer is a table or a boolean, for which no acceptable format is available",
            };
            Problem::new(ProblemKind::NotAcceptable, detail).with_hint(
                "graphs: Turtle, N-Triples, JSON-LD, RDF/XML, N3; tables: JSON, XML, CSV, TSV",
            )
        })
    }
}

/// What a client accepts, in one line.
pub(crate) fn accepted(headers: &HeaderMap) -> String {
    let lines = headers.get_all(header::ACCEPT).iter();
    lines.filter_map(|line| line.to_str().ok()).collect::<Vec<_>>().join(",")
}

/// The format of a name that a form has.
fn named(name: &str, constructs: bool) -> Result<Format, Problem> {
    let format = match name {
        "json" => Format::Answers(Answers::Json),
        "xml" => Format::Answers(Answers::Xml),
        "csv" => Format::Answers(Answers::Csv),
        "tsv" => Format::Answers(Answers::Tsv),
        "turtle" => Format::Graph(Syntax::Turtle),
        "ntriples" => Format::Graph(Syntax::NTriples),
        "jsonld" => Format::Graph(Syntax::JsonLd),
        "rdfxml" => Format::Graph(Syntax::RdfXml),
        _ => return Err(Problem::invalid(format!("there is no format {name:.64}"))),
    };
    match (format, constructs) {
        // A form has one list for all queries.
        (Format::Answers(Answers::Json), true) => Ok(Format::Graph(Syntax::JsonLd)),
        (Format::Answers(Answers::Xml), true) => Ok(Format::Graph(Syntax::RdfXml)),
        (Format::Answers(_), true) => Ok(Format::Graph(Syntax::Turtle)),
        (Format::Graph(Syntax::JsonLd), false) => Ok(Format::Answers(Answers::Json)),
        (Format::Graph(Syntax::RdfXml), false) => Ok(Format::Answers(Answers::Xml)),
        (Format::Graph(_), false) => Ok(Format::Answers(Answers::Tsv)),
        (format, _) => Ok(format),
    }
}

impl Text {
    /// The query, with relative IRIs resolved against `base`.
    pub(crate) fn parse(&self, base: &str) -> Result<Query, cenote_query::Error> {
        let syntax = |error: cenote_rdf::QueryError| cenote_query::Error::Syntax(error.to_string());
        let mut query = Query::parse_with(&self.text, base, self.prefixes).map_err(syntax)?;
        query.on_graphs(&self.default, &self.named).map_err(syntax)?;
        Ok(query)
    }
}

impl Params {
    const KNOWN: [&str; 6] =
        ["query", "default-graph-uri", "named-graph-uri", "format", "iris", "ticket"];

    pub(crate) fn decode(encoded: &[u8]) -> Result<Self, Problem> {
        let pairs = encoded.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty());
        pairs.map(pair).collect::<Result<_, _>>().map(Self)
    }

    fn check(&self) -> Result<(), Problem> {
        if let Some((name, _)) = self.0.iter().find(|(name, _)| name == "update") {
            let detail = format!("`{name}` is not supported here");
            return Err(Problem::invalid(detail)
                .with_hint("PATCH a resource with SPARQL Update at its own address"));
        }
        match self.0.iter().find(|(name, _)| !Self::KNOWN.contains(&name.as_str())) {
            Some((name, _)) => Err(Problem::invalid(format!("unknown parameter `{name:.100}`"))),
            None => Ok(()),
        }
    }

    fn all(&self, name: &str) -> Vec<String> {
        let named = self.0.iter().filter(|(known, _)| known == name);
        named.map(|(_, value)| value.clone()).collect()
    }

    pub(crate) fn one(&self, name: &str) -> Result<Option<String>, Problem> {
        let mut all = self.all(name);
        match all.len() {
            0 | 1 => Ok(all.pop()),
            _ => Err(Problem::invalid(format!("`{name}` is given more than once"))),
        }
    }
}

fn pair(pair: &[u8]) -> Result<(String, String), Problem> {
    let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
    let value = pair.get(at + 1..).unwrap_or_default();
    Ok((decoded(&pair[..at])?, decoded(value)?))
}

fn decoded(encoded: &[u8]) -> Result<String, Problem> {
    let spaced: Vec<u8> =
        encoded.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    utf8(&percent_decode(&spaced).collect::<Vec<u8>>())
}

fn utf8(bytes: &[u8]) -> Result<String, Problem> {
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|_| Problem::invalid("the request is not UTF-8"))
}

pub(crate) async fn gathered(
    app: &App,
    parts: &Parts,
    body: Body,
) -> Result<bytes::Bytes, Problem> {
    let admission = Admission::of(&parts.extensions)?;
    let most = app.limits().json_bytes;
    gather(&admission, body, most).await.map_err(|why| match why {
        NotGathered::TooLarge(most) => {
            let kind = ProblemKind::Store(cenote_store::ErrorKind::TooLarge);
            Problem::new(kind, format!("the body is larger than {most} bytes"))
        }
        NotGathered::Early(error) => Problem::invalid(format!("the body ended early: {error}")),
        NotGathered::Refused(problem) => problem,
    })
}

fn essence(headers: &HeaderMap) -> String {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn other_type(media_type: &str) -> Problem {
    let detail = match media_type {
        "" => "the body has no media type".to_owned(),
        other => format!("a query cannot be sent as {other:.100}"),
    };
    Problem::new(ProblemKind::MediaType, detail)
        .with_hint("send a form, or application/sparql-query")
}

pub(crate) fn not_a_query(error: impl std::fmt::Display) -> Problem {
    Problem::invalid(format!("invalid query: {error}"))
}
