//! LAKEsuperior's term search: resources by predicate, comparison and value, without a query language. `~`, by which a value is sought by its
//! words, is an addition.
//!
//! A search is written as a query, which is answered like any other.

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Answers, Format, TEXT_QUERY};
use serde::Deserialize;
use serde_json::Value;

use super::answer;
use super::page::{TermForm, is_for_people};
use super::prefixes::LAKESUPERIOR;
use super::request::{Params, Text, gathered};
use super::spelling::TERM_SEARCH;
use crate::app::App;
use crate::layer::Viewer;
use crate::problem::Problem;

/// The route.
pub(crate) const PATH: &str = "/query/term_search";

/// The comparisons of a term, with what the form says of them.
pub(super) const COMPARISONS: [(&str, &str); 8] = [
    ("_id", "is the term"),
    ("~", "has the words"),
    ("=", "="),
    ("!=", "!="),
    ("<", "<"),
    (">", ">"),
    ("<=", "<="),
    (">=", ">="),
];

/// The most terms of a search.
const MOST: usize = 100;

/// What to look for.
#[derive(Debug, Deserialize)]
struct Search {
    #[serde(default)]
    logic: Logic,
    terms: Vec<Term>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Logic {
    #[default]
    And,
    Or,
}

/// A predicate, how its object compares, and with what.
#[derive(Debug, Deserialize)]
struct Term {
    pred: String,
    op: String,
    val: String,
}

/// The addresses of the results, as a JSON array; without terms, a form.
pub(crate) async fn term_search(State(app): State<App>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let is_empty = parts.uri.query().unwrap_or_default().is_empty();
    if parts.method == Method::GET && is_empty {
        return TermForm::example().empty();
    }
    let form = TermForm::sent(&parts);
    match (search(&app, parts, body).await, form) {
        (Ok(found), Some(form)) => form.answered(&found),
        (Ok(found), None) => Json(found).into_response(),
        (Err(problem), Some(form)) if is_for_people(&problem) => form.refused(&problem),
        (Err(problem), _) => problem.into_response(),
    }
}

/// The addresses of what a request looks for.
async fn search(app: &App, mut parts: Parts, body: Body) -> Result<Vec<String>, Problem> {
    let caller = Viewer::from_request_parts(&mut parts, app).await?.0;
    let search = match parts.method {
        Method::GET => Search::of(&parts)?,
        _ => Search::read(&gathered(app, &parts, body).await?)?,
    };
    let query = Text { text: search.query()?, ..Text::default() };
    let (spelling, format) = (TERM_SEARCH.spelling(&parts, false), Format::Answers(Answers::Json));
    found(&answer::query(app, caller, query, spelling, format, usize::MAX).await?)
}

/// The addresses in a table of one column.
fn found(table: &[u8]) -> Result<Vec<String>, Problem> {
    let table: Value =
        serde_json::from_slice(table).map_err(|error| Problem::invalid(error.to_string()))?;
    let rows = table["results"]["bindings"].as_array().into_iter().flatten();
    let iris = rows.filter(|row| row["s"]["type"] == "uri");
    Ok(iris.filter_map(|row| row["s"]["value"].as_str().map(str::to_owned)).collect())
}

impl Search {
    fn read(body: &[u8]) -> Result<Self, Problem> {
        serde_json::from_slice(body)
            .map_err(|error| Problem::invalid(format!("invalid search: {error}")).with_hint(FORM))
    }

    /// One term, as a form sends it.
    fn of(parts: &Parts) -> Result<Self, Problem> {
        let params = Params::decode(parts.uri.query().unwrap_or_default().as_bytes())?;
        let need = |name: &str| {
            let given = params.one(name)?;
            given.ok_or_else(|| Problem::invalid(format!("`{name}` is missing")).with_hint(FORM))
        };
        let term = Term { pred: need("pred")?, op: need("op")?, val: need("val")? };
        Ok(Self { logic: Logic::And, terms: vec![term] })
    }

    fn query(&self) -> Result<String, Problem> {
        if self.terms.is_empty() || self.terms.len() > MOST {
            let detail = format!("a search has 1 to {MOST} terms");
            return Err(Problem::invalid(detail).with_hint(FORM));
        }
        let terms = self.terms.iter().enumerate().map(|(nth, term)| term.pattern(nth));
        let terms = terms.collect::<Result<Vec<_>, _>>()?;
        let patterns = match self.logic {
            Logic::And => terms.join("\n"),
            Logic::Or => format!("{{ {} }}", terms.join(" } UNION { ")),
        };
        let prefixes = LAKESUPERIOR.iter().map(|(name, iri)| format!("PREFIX {name}: <{iri}>\n"));
        Ok(prefixes.collect::<String>() + &format!("SELECT DISTINCT ?s WHERE {{ {patterns} }}"))
    }
}

const FORM: &str =
    r#"send {"logic":"and","terms":[{"pred":"rdf:type","op":"_id","val":"ldp:Container"}]}"#;

impl Term {
    /// The patterns of the term of this number.
    fn pattern(&self, nth: usize) -> Result<String, Problem> {
        let pred = self.pred.trim();
        if !is_iri(pred) {
            return Err(wrong("predicate", pred));
        }
        require_known_prefix(pred)?;
        match self.op.as_str() {
            "_id" => {
                let val = self.val.trim();
                if !is_iri(val) && !is_literal(val) {
                    return Err(wrong("term", val));
                }
                require_known_prefix(
                    val.rsplit_once("\"^^").map_or(val, |(_, datatype)| datatype),
                )?;
                Ok(format!("?s {pred} {val} ."))
            }
            op @ ("=" | "!=" | "<" | ">" | "<=" | ">=") => {
                let val = quoted(&self.val);
                Ok(format!("?s {pred} ?o{nth} . FILTER(STR(?o{nth}) {op} {val})"))
            }
            "~" => Ok(format!("?s <{TEXT_QUERY}> ({pred} {}) .", quoted(&self.val))),
            other => Err(wrong("comparison", other)),
        }
    }
}

fn wrong(what: &str, text: &str) -> Problem {
    Problem::invalid(format!("not a {what}: {text:.100}")).with_hint(FORM)
}

/// Refuses a prefixed name whose prefix is none of those that are known here.
fn require_known_prefix(text: &str) -> Result<(), Problem> {
    let Some((prefix, _)) = text.split_once(':').filter(|_| !text.starts_with(['<', '"'])) else {
        return Ok(());
    };
    if LAKESUPERIOR.iter().any(|(known, _)| *known == prefix) {
        return Ok(());
    }
    let known = LAKESUPERIOR.map(|(name, _)| name).join(", ");
    let detail = format!(
        "unknown prefix: {prefix:.100}; known are {known}; or write the IRI in angle brackets"
    );
    Err(Problem::invalid(detail).with_hint(FORM))
}

/// Whether a text is an IRI in angle brackets, or a prefixed name.
fn is_iri(text: &str) -> bool {
    let is_of_iri = |c: char| c > ' ' && !"<>\"{}|^`\\".contains(c);
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    match (text.strip_prefix('<').and_then(|it| it.strip_suffix('>')), text.split_once(':')) {
        (Some(iri), _) => iri.chars().all(is_of_iri),
        (None, Some((prefix, name))) => prefix.chars().chain(name.chars()).all(is_of_name),
        (None, None) => false,
    }
}

/// Whether a text is a literal in quotation marks, with a language or a datatype if it has one.
fn is_literal(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('"') else { return false };
    let mut escaped = false;
    let end = rest.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let Some((end, _)) = end else { return false };
    let after = &rest[end + 1..];
    let is_tag = |tag: &str| {
        !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_typed = after.strip_prefix("^^").is_some_and(is_iri);
    !rest[..end].contains(['\n', '\r'])
        && (after.is_empty() || is_typed || after.strip_prefix('@').is_some_and(is_tag))
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n").replace('\r', "\\r"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_cannot_inject_query_text() {
        for text in ["<http://h/a>", "rdf:type", "ldp:", ":x"] {
            assert!(is_iri(text), "{text}");
        }
        for text in ["", "a", "<a> <b>", "a:b . ?s ?p ?o", "?s", "<a", "a:b#c"] {
            assert!(!is_iri(text), "{text}");
        }
        for text in ["\"\"", "\"a\"", "\"a \\\" b\"", "\"a\"@en-GB", "\"1\"^^xsd:integer"] {
            assert!(is_literal(text), "{text}");
        }
        for text in ["\"", "\"a\" . ?s ?p ?o", "\"a\"@", "\"a\\\"", "'a'", "\"a\nb\""] {
            assert!(!is_literal(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_search_is_a_query_or_refused(
            pred in "(<|>|rdf:|type|\"| |\\}|\\{|\\?s|\\PC){0,6}",
            op in "(_id|=|<|~|x)",
            val in "(<|>|rdf:|\"|\\\\| |\\}|@en|\\^\\^|\\PC){0,6}",
            logic in prop_oneof![Just(Logic::And), Just(Logic::Or)],
        ) {
            let term = || Term { pred: pred.clone(), op: op.clone(), val: val.clone() };
            let search = Search { logic, terms: vec![term(), term()] };
            if let Ok(text) = search.query() {
                // The parser only rejects an unknown prefix or an invalid IRI.
                let parsed = cenote_rdf::Query::parse(&text, "http://h/");
                let forms = text.matches("SELECT").count();
                prop_assert!(parsed.is_err() || forms == 1, "{}", text);
            }
        }
    }
}
