//! `cenote sparql`: queries over all that the caller may read.

use std::io::Read;

use serde_json::{Value, json};

use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Query descriptions, sizes, dates and links of the whole store with SPARQL.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A query finds what matches all its patterns. A pattern is a subject, a predicate and an object; ?name stands for anything.
A resource is <cenote:/path>, an attribute of `cenote meta` the predicate <cenote:attribute/NAME>, or meta:NAME.

Objects, the largest first:
  cenote sparql 'SELECT ?x ?size { ?x premis:hasSize ?size } ORDER BY DESC(?size) LIMIT 10'
What is in a collection and has an attribute:
  cenote sparql 'SELECT ?x ?t { <cenote:/lab> ldp:contains ?x . ?x meta:temp ?t FILTER(xsd:decimal(?t) > 300) }'
How many objects each user created:
  cenote sparql 'SELECT ?who (COUNT(?x) AS ?n) { ?x a ldp:NonRDFSource ; fedora:createdBy ?who } GROUP BY ?who'
What has these words in its name or its values:
  cenote sparql 'SELECT ?x { ?x text:query \"water box*\" }'
All that is known of a resource:
  cenote sparql 'DESCRIBE <cenote:/lab/run7>'

The prefixes rdf, rdfs, xsd, dcterms, foaf, ldp, fedora, premis, ebucore, meta and text need not be declared. A table is printed as
values with tabs between them, in the order of the query; a graph as N-Triples; --format prints the server's answer as it is.")]
pub(crate) struct Args {
    /// The query; `-` is standard input
    #[arg(required_unless_present = "file")]
    query: Option<String>,
    /// Read the query from a file
    #[arg(long, short, value_name = "FILE", conflicts_with = "query")]
    file: Option<std::path::PathBuf>,
    /// Print the answer in this format
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table as SPARQL results in JSON, a graph as JSON-LD
    Json,
    /// A table as SPARQL results in XML, a graph as RDF/XML
    Xml,
    /// A table with commas; the first line has the names
    Csv,
    /// A table with tabs, terms as in SPARQL; the first line has the names
    Tsv,
    /// A graph as Turtle
    Turtle,
    /// A graph as N-Triples
    Ntriples,
}

impl Format {
    /// What is accepted.
    fn media_types(self) -> &'static str {
        match self {
            Self::Json => "application/sparql-results+json, application/ld+json",
            Self::Xml => "application/sparql-results+xml, application/rdf+xml",
            Self::Csv => "text/csv",
            Self::Tsv => "text/tab-separated-values",
            Self::Turtle => "text/turtle",
            Self::Ntriples => "application/n-triples",
        }
    }
}

/// What is printed without a format: tables from JSON, graphs as they come.
const PLAIN: &str = "application/sparql-results+json, application/n-triples";

/// Prefixes that need not be declared.
const PREFIXES: [(&str, &str); 11] = [
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("ldp", "http://www.w3.org/ns/ldp#"),
    ("fedora", "http://fedora.info/definitions/v4/repository#"),
    ("premis", "http://www.loc.gov/premis/rdf/v1#"),
    ("ebucore", "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#"),
    ("meta", "cenote:attribute/"),
    ("text", "http://jena.apache.org/text#"),
];

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let query = declared(&self.text()?);
        let client = session.client()?;
        if let Some(format) = self.format {
            let answer = client.sparql(&query, format.media_types()).await?;
            return session.output.bytes(&answer);
        }
        let answer = client.sparql(&query, PLAIN).await?;
        match serde_json::from_slice::<Value>(&answer) {
            Ok(table) => print_table(session, &table),
            Err(_) => print_graph(session, &answer),
        }
    }

    fn text(&self) -> Result<String> {
        let unread = |from: &str, error: std::io::Error| {
            CliError::new(Kind::Usage, format!("the query cannot be read from {from}: {error}"))
        };
        match (&self.file, self.query.as_deref()) {
            (Some(file), _) => std::fs::read_to_string(file)
                .map_err(|error| unread(&file.display().to_string(), error)),
            (None, Some("-") | None) => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.map_err(|error| unread("standard input", error))?;
                Ok(text)
            }
            (None, Some(query)) => Ok(query.to_owned()),
        }
    }
}

/// A query with the usual prefixes that it uses: before its first line, so that lines are counted as they were written.
fn declared(query: &str) -> String {
    let used = PREFIXES.iter().filter(|(prefix, _)| query.contains(&format!("{prefix}:")));
    let declared: String = used.map(|(prefix, iri)| format!("PREFIX {prefix}: <{iri}> ")).collect();
    declared + query
}

/// The values of each row, or a truth.
fn print_table(session: &Session, table: &Value) -> Result<()> {
    if let Some(truth) = table["boolean"].as_bool() {
        return session.output.item(&json!({ "boolean": truth }), |_| truth.to_string());
    }
    let names: Vec<&str> = texts(&table["head"]["vars"]).collect();
    for row in table["results"]["bindings"].as_array().into_iter().flatten() {
        session.output.item(row, |row| {
            let values = names.iter().map(|name| value(&row[*name]));
            values.collect::<Vec<_>>().join("\t")
        })?;
    }
    Ok(())
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// A term without what it is, in one line; nothing if it is not bound.
fn value(term: &Value) -> String {
    let text = term["value"].as_str().unwrap_or_default();
    let prefix = if term["type"] == "bnode" { "_:" } else { "" };
    let escaped = text.replace('\\', "\\\\").replace('\t', "\\t");
    format!("{prefix}{}", escaped.replace('\n', "\\n").replace('\r', "\\r"))
}

fn print_graph(session: &Session, triples: &[u8]) -> Result<()> {
    for line in String::from_utf8_lossy(triples).lines() {
        session.output.item(&json!({ "triple": line }), |_| line.to_owned())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_prefixes_are_declared() {
        assert_eq!(declared("ASK { ?s ?p 1 }"), "ASK { ?s ?p 1 }");
        let query = declared("ASK { ?s ldp:contains ?o }");
        assert_eq!(query, "PREFIX ldp: <http://www.w3.org/ns/ldp#> ASK { ?s ldp:contains ?o }");
    }

    #[test]
    fn a_value_is_one_field() {
        let literal = json!({ "type": "literal", "value": "a\tb\nc\\d" });
        assert_eq!(value(&literal), "a\\tb\\nc\\\\d");
        assert_eq!(value(&json!({ "type": "bnode", "value": "b1" })), "_:b1");
        assert_eq!(value(&Value::Null), "");
    }
}
