//! The results of a query for people: a table of solutions, yes or no, or statements.

use cenote_rdf::{Answers, BlankNode, Format, Limits, Literal, NamedNode, Syntax, Term, read};
use serde_json::Value;

use crate::page::Markup;
use crate::problem::Problem;

/// Solutions, statements or resources that a page shows.
pub(super) const SHOWN: usize = 1_000;
/// Bytes of an answer that is shown: more than so many are for programs.
pub(super) const MOST: usize = 8 << 20;

/// The format that is read here.
pub(super) fn format(constructs: bool) -> Format {
    match constructs {
        true => Format::Graph(Syntax::NTriples),
        false => Format::Answers(Answers::Json),
    }
}

/// An answer in this format.
pub(super) fn results(body: &mut Markup, format: Format, answer: &[u8]) -> Result<(), Problem> {
    body.raw("<h2>Answer</h2>\n");
    if let Format::Graph(syntax) = format {
        return statements(body, syntax, answer);
    }
    let answer: Value = serde_json::from_slice(answer).map_err(unreadable)?;
    match answer["boolean"].as_bool() {
        Some(truth) => drop(body.raw(if truth { "<p>Yes\n" } else { "<p>No\n" })),
        None => table(body, &answer),
    }
    Ok(())
}

fn unreadable(error: impl std::fmt::Display) -> Problem {
    Problem::invalid(format!("the answer cannot be shown: {error}"))
}

fn statements(body: &mut Markup, syntax: Syntax, answer: &[u8]) -> Result<(), Problem> {
    let all = Limits { triples: usize::MAX, term: usize::MAX };
    let triples = read(answer, syntax, "http://localhost/", all).map_err(unreadable)?;
    counted(body, triples.len(), "statements");
    body.statements(triples.iter().take(SHOWN));
    Ok(())
}

/// How many there are, and how many of these follow.
pub(super) fn counted(body: &mut Markup, count: usize, what: &'static str) {
    body.raw("<p>").text(&count.to_string()).raw(" ").raw(what);
    if count > SHOWN {
        body.raw(", of which the first ").text(&SHOWN.to_string()).raw(" follow");
    }
    body.raw("\n");
}

fn table(body: &mut Markup, answer: &Value) {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns = items(&answer["head"]["vars"]);
    let columns: Vec<&str> = columns.iter().filter_map(Value::as_str).collect();
    let rows = answer["results"]["bindings"].as_array().map_or(&[][..], Vec::as_slice);
    counted(body, rows.len(), "solutions");
    body.raw("<table>\n<thead><tr>");
    for column in &columns {
        body.raw("<th scope=\"col\">").text(column).raw("</th>");
    }
    body.raw("</tr></thead>\n");
    for row in rows.iter().take(SHOWN) {
        body.raw("<tr>");
        for column in &columns {
            body.raw("<td>");
            if let Some(term) = term(&row[*column]) {
                body.term(&term);
            }
            body.raw("</td>");
        }
        body.raw("</tr>\n");
    }
    body.raw("</table>\n");
}

/// A term of the SPARQL 1.1 Query Results JSON Format (section 3.2.2); none for what is not bound.
fn term(value: &Value) -> Option<Term> {
    let text = value["value"].as_str()?.to_owned();
    let node = |iri: &str| NamedNode::new_unchecked(iri);
    Some(match (value["type"].as_str()?, &value["xml:lang"], &value["datatype"]) {
        ("uri", ..) => node(&text).into(),
        ("bnode", ..) => BlankNode::new_unchecked(text).into(),
        (_, Value::String(language), _) => {
            Literal::new_language_tagged_literal_unchecked(text, language).into()
        }
        (_, _, Value::String(datatype)) => Literal::new_typed_literal(text, node(datatype)).into(),
        _ => Literal::new_simple_literal(text).into(),
    })
}
