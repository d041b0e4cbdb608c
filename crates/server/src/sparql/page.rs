//! Forms for those who come with a browser; they need no script.

use axum::response::Response;

use super::spelling::Address;
use crate::page::{Markup, page};

/// The form of an address.
pub(crate) fn form(address: &Address) -> Response {
    let mut body = Markup::default();
    body.raw("<form action=\"").text(address.path).raw("\" method=\"get\">\n");
    body.raw("<p><label for=\"query\">Query, over everything that you may see</label>\n");
    body.raw("<p><textarea id=\"query\" name=\"query\" rows=\"12\" cols=\"80\" required>");
    body.text(EXAMPLE).raw("</textarea>\n");
    body.raw(
        "<p><label for=\"format\">Format</label>\n\
         <select id=\"format\" name=\"format\"><option>json<option>xml<option>csv<option>tsv\
         <option>turtle<option>ntriples<option>jsonld<option>rdfxml</select>\n\
         <button>Run</button>\n</form>\n",
    );
    page("SPARQL", &body)
}

/// The form of the term search.
pub(crate) fn term_search(path: &str) -> Response {
    let mut body = Markup::default();
    body.raw("<form action=\"").text(path).raw("\" method=\"get\">\n");
    body.raw(
        "<p><label for=\"pred\">Predicate</label> <input id=\"pred\" name=\"pred\" value=\"rdf:type\" required>\n\
         <label for=\"op\">compares</label> <select id=\"op\" name=\"op\">\
         <option value=\"_id\">is the term<option value=\"~\">has the words<option>=<option>!=<option>&lt;<option>&gt;<option>&lt;=<option>&gt;=</select>\n\
         <label for=\"val\">value</label> <input id=\"val\" name=\"val\" value=\"ldp:Container\" required>\n\
         <button>Search</button>\n</form>\n",
    );
    page("Term search", &body)
}

const EXAMPLE: &str = "PREFIX ldp: <http://www.w3.org/ns/ldp#>\n\
                       SELECT ?collection ?contained\n\
                       WHERE { ?collection ldp:contains ?contained }\n\
                       LIMIT 100\n";
