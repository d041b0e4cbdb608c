//! Forms for those who come with a browser; they need no script.

use axum::http::request::Parts;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::Format;

use super::request::{Params, accepted};
use super::shown::{self, SHOWN, counted};
use super::spelling::Address;
use super::term_search::{COMPARISONS, PATH};
use crate::page::{Markup, page};
use crate::problem::Problem;

/// The formats that the form offers, with what it says of them.
const FORMATS: [(&str, &str); 9] = [
    ("html", "this page"),
    ("json", "JSON"),
    ("xml", "XML"),
    ("csv", "CSV"),
    ("tsv", "TSV"),
    ("turtle", "Turtle"),
    ("ntriples", "N-Triples"),
    ("jsonld", "JSON-LD"),
    ("rdfxml", "RDF/XML"),
];

const EXAMPLE: &str = "PREFIX ldp: <http://www.w3.org/ns/ldp#>\n\
                       SELECT ?collection ?contained\n\
                       WHERE { ?collection ldp:contains ?contained }\n\
                       LIMIT 100\n";

/// What a form for queries has in it.
#[derive(Debug)]
pub(super) struct Form {
    query: String,
    format: String,
}

impl Form {
    pub(super) fn example() -> Self {
        Self { query: EXAMPLE.to_owned(), format: "html".to_owned() }
    }

    /// The form that a browser sent.
    pub(super) fn sent(parts: &Parts) -> Option<Self> {
        let params = sent(parts)?;
        let one = |name| params.one(name).ok().flatten();
        let format = one("format");
        let is_browsed = Format::prefers_page(&accepted(&parts.headers));
        (is_browsed || format.as_deref() == Some("html")).then(|| Self {
            query: one("query").unwrap_or_default(),
            format: format.unwrap_or_else(|| "html".to_owned()),
        })
    }

    pub(super) fn wants_page(&self) -> bool {
        self.format == "html"
    }

    pub(super) fn empty(&self, address: &Address) -> Response {
        self.page(address, StatusCode::OK, &mut Markup::default())
    }

    /// With the results below.
    pub(super) fn answered(
        &self,
        address: &Address,
        format: Format,
        answer: &[u8],
    ) -> Result<Response, Problem> {
        let mut results = Markup::default();
        shown::results(&mut results, format, answer)?;
        Ok(self.page(address, StatusCode::OK, &mut results))
    }

    /// With the reason why there are no results.
    pub(super) fn refused(&self, address: &Address, problem: &Problem) -> Response {
        self.page(address, problem.status(), &mut refusal(problem))
    }

    fn page(&self, address: &Address, status: StatusCode, below: &mut Markup) -> Response {
        let mut body = Markup::default();
        body.raw("<form action=\"").text(address.path).raw("\" method=\"get\">\n");
        body.raw("<p><label for=\"query\">Query, over everything that you may see</label>\n");
        body.raw("<p><textarea id=\"query\" name=\"query\" rows=\"12\" cols=\"80\" required>");
        body.raw("\n").text(&self.query).raw("</textarea>\n");
        body.raw(
            "<p><label for=\"format\">Answer as</label> <select id=\"format\" name=\"format\">",
        );
        options(&mut body, &FORMATS, &self.format);
        body.raw("</select>\n<button>Run</button>\n</form>\n");
        of_status(status, page("SPARQL", body.append(below)))
    }
}

/// The parameters of a form that was sent.
fn sent(parts: &Parts) -> Option<Params> {
    let is_read = parts.method == Method::GET || parts.method == Method::HEAD;
    let query = parts.uri.query().filter(|_| is_read)?;
    Params::decode(query.as_bytes()).ok()
}

/// Whether a problem is one of what was asked, which a page explains beside the form. A login is asked for by the browser itself.
pub(super) fn is_for_people(problem: &Problem) -> bool {
    problem.status().is_client_error() && problem.status() != StatusCode::UNAUTHORIZED
}

fn refusal(problem: &Problem) -> Markup {
    let mut markup = Markup::default();
    markup.raw("<h2>No answer</h2>\n<p role=\"alert\">").text(&problem.to_string()).raw("\n");
    markup
}

fn of_status(status: StatusCode, mut page: Response) -> Response {
    *page.status_mut() = status;
    ([(header::VARY, "Accept")], page).into_response()
}

fn options(body: &mut Markup, options: &[(&str, &str)], selected: &str) {
    for (value, text) in options {
        body.raw("<option value=\"").text(value).raw("\"");
        body.raw(if *value == selected { " selected>" } else { ">" });
        body.text(text).raw("</option>");
    }
}

/// What the form of the term search has in it.
#[derive(Debug)]
pub(super) struct TermForm([String; 3]);

impl TermForm {
    pub(super) fn example() -> Self {
        Self(["rdf:type", "_id", "ldp:Container"].map(str::to_owned))
    }

    /// The form that a browser sent.
    pub(super) fn sent(parts: &Parts) -> Option<Self> {
        let params = sent(parts)?;
        let one = |name| params.one(name).ok().flatten().unwrap_or_default();
        Format::prefers_page(&accepted(&parts.headers))
            .then(|| Self(["pred", "op", "val"].map(one)))
    }

    pub(super) fn empty(&self) -> Response {
        self.page(StatusCode::OK, &mut Markup::default())
    }

    /// With the addresses that were found.
    pub(super) fn answered(&self, found: &[String]) -> Response {
        let mut results = Markup::default();
        results.raw("<h2>Found</h2>\n");
        counted(&mut results, found.len(), "resources");
        results.raw("<ul>\n");
        for address in found.iter().take(SHOWN) {
            results.raw("<li>").link(address, address).raw("\n");
        }
        results.raw("</ul>\n");
        self.page(StatusCode::OK, &mut results)
    }

    /// With the reason why nothing was looked for.
    pub(super) fn refused(&self, problem: &Problem) -> Response {
        self.page(problem.status(), &mut refusal(problem))
    }

    fn page(&self, status: StatusCode, below: &mut Markup) -> Response {
        let [pred, op, val] = &self.0;
        let mut body = Markup::default();
        body.raw("<form action=\"").text(PATH).raw("\" method=\"get\">\n");
        body.raw(
            "<p><label for=\"pred\">Predicate</label> <input id=\"pred\" name=\"pred\" value=\"",
        );
        body.text(pred)
            .raw("\" required>\n<label for=\"op\">compares</label> <select id=\"op\" name=\"op\">");
        options(&mut body, &COMPARISONS, op);
        body.raw(
            "</select>\n<label for=\"val\">value</label> <input id=\"val\" name=\"val\" value=\"",
        );
        body.text(val).raw("\" required>\n<button>Search</button>\n</form>\n");
        of_status(status, page("Term search", body.append(below)))
    }
}
