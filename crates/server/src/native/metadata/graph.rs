//! Descriptions as RDF: N-Triples out, N-Triples or any other Turtle in. `<>` is the resource and `<#part>` a part of it;
//! `<cenote:/lab/x>` is the resource at that path.
//!
//! Triples have no units. A PUT of what was got changes nothing: a statement that has a unit keeps
//! it for as long as its triple is put.

use std::borrow::Cow;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Limits, Syntax};
use cenote_store::{At, Graph};

use crate::app::App;
use crate::layer::{Viewer, Writer};
use crate::native::json::{Resource, Target, VersionQuery};
use crate::native::request::address::About;
use crate::native::request::conditional::{answer_description, write_conditions};
use crate::native::request::extract::{Json, small_body};
use crate::problem::Problem;
use crate::statements::{Iris, statement, triple, with_units};

/// What `<>` is read as.
const THIS: &str = "urn:x-cenote:this";
/// More than a description may have is refused by the store, with its own words.
const LIMITS: Limits = Limits { triples: 1 << 20, term: 2 << 20 };

/// The description of a resource, or of a version of it.
#[utoipa::path(get, path = "/v1/graph", tag = "metadata", params(Target, VersionQuery),
    responses((status = 200, body = String, content_type = "application/n-triples"),
        (status = 304, description = "The client has the current state")))]
pub(crate) async fn read(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, query): About<VersionQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let triples = |graph| ([(header::CONTENT_TYPE, "application/n-triples")], write(graph));
    if let Some(version) = query.version {
        let graph = app.blocking(move |store| store.graph_of_version(&caller, &at, version));
        return Ok(triples(&graph.await?).into_response());
    }
    let (stat, graph) = app.blocking(move |store| store.graph(&caller, &at)).await?;
    answer_description(&headers, &stat, &graph, triples(&graph))
}

/// Replaces the description of a resource.
#[utoipa::path(put, path = "/v1/graph", tag = "metadata", params(Target),
    request_body(content = String, content_type = "application/n-triples"),
    responses((status = 200, body = Resource)))]
pub(crate) async fn replace(
    State(app): State<App>,
    Writer(caller): Writer,
    at: At,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<Resource>, Problem> {
    let conditions = write_conditions(&headers)?;
    let wanted = parse(&small_body(request, &app).await?)?;
    app.blocking(move |store| {
        let stat =
            store.change_graph(&caller, &at, &conditions, |old| Ok(with_units(&wanted, old)))?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

fn write(graph: &Graph) -> String {
    let mut lines: Vec<String> = graph
        .iter()
        .map(|statement| format!("{} .\n", triple(statement.clone(), &Relative)))
        .collect();
    // Statements that differ only in their units are one triple.
    lines.dedup();
    lines.concat()
}

fn parse(text: &[u8]) -> Result<Graph, Problem> {
    let triples = cenote_rdf::read(text, Syntax::Turtle, THIS, LIMITS).map_err(|error| {
        Problem::invalid(format!("invalid triples: {error}")).with_hint("send N-Triples or Turtle")
    });
    Ok(triples?.into_iter().map(|triple| statement(triple, &Relative)).collect())
}

/// IRIs relative to the resource whose description it is.
struct Relative;

impl Iris for Relative {
    fn outward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        iri.into()
    }

    fn inward<'a>(&self, iri: &'a str) -> Cow<'a, str> {
        match iri.strip_prefix(THIS) {
            Some(part) if part.is_empty() || part.starts_with('#') => part.into(),
            _ => iri.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use cenote_store::{Statement, Term};
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    fn term() -> impl Strategy<Value = Term> {
        let iri = "(urn:[a-z]{1,3}|#[a-z]{0,3})?".prop_map(Term::Iri);
        let blank = "[a-z]{1,3}".prop_map(Term::Blank);
        let plain = any::<String>().prop_map(Term::string);
        let typed = any::<String>().prop_map(|value| Term::Literal {
            value,
            datatype: Some("urn:type".to_owned()),
            language: None,
        });
        let tagged = any::<String>().prop_map(|value| Term::Literal {
            value,
            datatype: None,
            language: Some("en".to_owned()),
        });
        prop_oneof![iri, blank, plain, typed, tagged]
    }

    fn statement() -> impl Strategy<Value = Statement> {
        let subject =
            prop_oneof![Just(None), "(urn:[a-z]{1,3}|_:[a-z]{1,3}|#[a-z]{0,3})".prop_map(Some)];
        let unit = proptest::option::of("[A-Z]{1,2}");
        (subject, "urn:[a-z]{1,3}", term(), unit).prop_map(|(subject, predicate, object, unit)| {
            Statement { subject, predicate, object, unit }
        })
    }

    proptest! {
        #[test]
        fn putting_back_a_graph_changes_nothing(graph in btree_set(statement(), 0..6)) {
            let read = parse(write(&graph).as_bytes()).unwrap();
            prop_assert_eq!(with_units(&read, &graph), graph);
        }

        #[test]
        fn any_text_is_read_or_refused(text: Vec<u8>) {
            let _ = parse(&text);
        }
    }
}
