//! Descriptions as RDF: N-Triples out, N-Triples or any other Turtle in. `<>` is the resource and `<#part>` a part of it;
//! `<cenote:/lab/x>` is the resource at that path.
//!
//! Triples have no units. A PUT of what was got changes nothing: a statement that has a unit keeps
//! it for as long as its triple is put.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use cenote_store::{At, Graph, Statement, Term};
use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Triple};
use oxttl::TurtleParser;

use crate::app::App;
use crate::layer::{Asker, Writer};
use crate::native::json::{Names, Resource, Target};
use crate::native::request::conditional::{answer_description, write_conditions};
use crate::native::request::extract::{Json, small_body};
use crate::problem::Problem;

/// What `<>` is read as.
const THIS: &str = "urn:x-cenote:this";
const XSD_STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const RDF_LANG_STRING: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";

/// The description of a resource.
#[utoipa::path(get, path = "/v1/graph", tag = "metadata", params(Target),
    responses((status = 200, body = String, content_type = "application/n-triples"),
        (status = 304, description = "The caller has it already")))]
pub(crate) async fn read(
    State(app): State<App>,
    Asker(caller): Asker,
    at: At,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (stat, graph) = app.blocking(move |store| store.graph(&caller, &at)).await?;
    let triples = ([(header::CONTENT_TYPE, "application/n-triples")], write(&graph));
    answer_description(&headers, &stat, &graph, triples)
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
        Ok(Json(Resource::of(&stat, &mut Names::new(store))?))
    })
    .await
}

/// The statements wanted, with the units that theirs had.
fn with_units(wanted: &Graph, old: &Graph) -> Graph {
    let kept = old.iter().filter(|statement| wanted.contains(&bare(statement)));
    let kept: Graph = kept.cloned().collect();
    let known: Graph = kept.iter().map(bare).collect();
    wanted.difference(&known).cloned().chain(kept).collect()
}

fn bare(statement: &Statement) -> Statement {
    Statement { unit: None, ..statement.clone() }
}

fn write(graph: &Graph) -> String {
    let mut lines: Vec<String> =
        graph.iter().map(|statement| format!("{} .\n", triple(statement))).collect();
    // Statements that differ in their units only are one triple.
    lines.dedup();
    lines.concat()
}

fn triple(statement: &Statement) -> Triple {
    let subject: NamedOrBlankNode = match statement.subject.as_deref() {
        None => NamedNode::new_unchecked("").into(),
        Some(subject) => match subject.strip_prefix("_:") {
            Some(label) => BlankNode::new_unchecked(label).into(),
            None => NamedNode::new_unchecked(subject).into(),
        },
    };
    Triple::new(subject, NamedNode::new_unchecked(&statement.predicate), object(&statement.object))
}

fn object(term: &Term) -> oxrdf::Term {
    match term {
        Term::Iri(iri) => NamedNode::new_unchecked(iri).into(),
        Term::Blank(label) => BlankNode::new_unchecked(label.trim_start_matches("_:")).into(),
        Term::Literal { value, language: Some(language), .. } => {
            Literal::new_language_tagged_literal_unchecked(value, language).into()
        }
        Term::Literal { value, datatype: Some(datatype), .. } => {
            Literal::new_typed_literal(value, NamedNode::new_unchecked(datatype)).into()
        }
        Term::Literal { value, .. } => Literal::new_simple_literal(value).into(),
    }
}

fn parse(text: &[u8]) -> Result<Graph, Problem> {
    let parser = TurtleParser::new().with_base_iri(THIS).expect("it is an IRI");
    let statements = parser.for_slice(text).map(|triple| match triple {
        Ok(triple) => Ok(statement(triple)),
        Err(error) => Err(Problem::invalid(format!("the triples are wrong: {error}"))
            .with_hint("send N-Triples or Turtle")),
    });
    statements.collect()
}

fn statement(triple: Triple) -> Statement {
    let subject = match triple.subject {
        NamedOrBlankNode::NamedNode(node) => Some(relative(node)).filter(|iri| !iri.is_empty()),
        NamedOrBlankNode::BlankNode(node) => Some(node.to_string()),
    };
    let object = match triple.object {
        oxrdf::Term::NamedNode(node) => Term::Iri(relative(node)),
        oxrdf::Term::BlankNode(node) => Term::Blank(node.into_string()),
        oxrdf::Term::Literal(literal) => own_literal(literal),
    };
    Statement { subject, predicate: triple.predicate.into_string(), object, unit: None }
}

/// An IRI as the description has it: relative, for the resource itself and its parts.
fn relative(node: NamedNode) -> String {
    match node.as_str().strip_prefix(THIS) {
        Some(part) if part.is_empty() || part.starts_with('#') => part.to_owned(),
        _ => node.into_string(),
    }
}

fn own_literal(literal: Literal) -> Term {
    let language = literal.language().map(str::to_owned);
    let datatype = Some(literal.datatype().as_str().to_owned());
    let datatype = datatype.filter(|iri| iri != XSD_STRING && iri != RDF_LANG_STRING);
    Term::Literal { value: literal.value().to_owned(), datatype, language }
}

#[cfg(test)]
mod tests {
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
        fn putting_what_was_got_changes_nothing(graph in btree_set(statement(), 0..6)) {
            let read = parse(write(&graph).as_bytes()).unwrap();
            prop_assert_eq!(with_units(&read, &graph), graph);
        }

        #[test]
        fn any_text_is_read_or_refused(text: Vec<u8>) {
            let _ = parse(&text);
        }
    }
}
