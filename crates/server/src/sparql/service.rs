//! What this service can do, for clients that look before they ask: the SPARQL 1.1 Service Description
//! (<https://www.w3.org/TR/sparql11-service-description/>), which is the answer to a request without a query.

use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{BlankNode, Format, NamedNode, NamedOrBlankNode, TEXT_QUERY, Term, Triple, write};

use super::request::accepted;
use crate::problem::Problem;

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
/// The formats of results and of graphs (<https://www.w3.org/ns/formats/>).
const FORMATS: [&str; 9] = [
    "SPARQL_Results_JSON",
    "SPARQL_Results_XML",
    "SPARQL_Results_CSV",
    "SPARQL_Results_TSV",
    "Turtle",
    "N-Triples",
    "JSON-LD",
    "RDF_XML",
    "N3",
];

/// The description of an address in the syntax that the client prefers; none if it accepts none.
pub(super) fn description(headers: &HeaderMap, address: &str) -> Option<Response> {
    let format = Format::negotiate(&accepted(headers), true)?;
    let Format::Graph(syntax) = format else { return None };
    let triples = triples(address);
    let headers = [(header::CONTENT_TYPE, format.media_type()), (header::VARY, "Accept")];
    let text = write(&triples, syntax).map_err(Problem::from);
    Some(text.map_or_else(IntoResponse::into_response, |text| (headers, text).into_response()))
}

fn triples(address: &str) -> Vec<Triple> {
    let iri = |iri: String| NamedNode::new_unchecked(iri);
    let sd = |name: &str| iri(format!("{SD}{name}"));
    let a = || iri(RDF_TYPE.to_owned());
    let service: NamedOrBlankNode = iri(address.to_owned()).into();
    let [dataset, graph] = ["dataset", "graph"].map(BlankNode::new_unchecked);
    let own = [
        (a(), sd("Service").into()),
        (sd("endpoint"), iri(address.to_owned()).into()),
        (sd("supportedLanguage"), sd("SPARQL11Query").into()),
        (sd("feature"), sd("UnionDefaultGraph").into()),
        (sd("propertyFeature"), iri(TEXT_QUERY.to_owned()).into()),
        (sd("defaultDataset"), Term::from(dataset.clone())),
    ];
    let format = |name: &str| iri(format!("http://www.w3.org/ns/formats/{name}")).into();
    let formats = FORMATS.into_iter().map(|name| (sd("resultFormat"), format(name)));
    let own = own.into_iter().chain(formats);
    let mut triples: Vec<_> = own.map(|(p, o)| Triple::new(service.clone(), p, o)).collect();
    triples.extend([
        Triple::new(dataset.clone(), a(), sd("Dataset")),
        Triple::new(dataset, sd("defaultGraph"), graph.clone()),
        Triple::new(graph, a(), sd("Graph")),
    ]);
    triples
}
