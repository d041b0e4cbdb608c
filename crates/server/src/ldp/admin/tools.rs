//! `/admin/tools`: what there is for administrators, as a page without scripts.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Act, StorePath};

use crate::app::App;
use crate::front::{prompt_for_login, wants_page};
use crate::layer::Viewer;
use crate::ldp::dialect::LAKESUPERIOR;
use crate::ldp::representation::web::Web;
use crate::ldp::request::fault::Fault;
use crate::page::{Markup, page};

/// Where the form is sent to.
const FIXITY: &str = "/admin/fixity";

pub(super) async fn answer(app: &App, parts: &mut Parts) -> Result<Response, Fault> {
    let caller = Viewer::from_request_parts(parts, app).await?.0;
    match caller.require(Act::Inspect) {
        Ok(()) => Ok(page("Tools", &tools())),
        Err(error) if is_browsed_without_login(&parts.headers) => {
            Ok(prompt_for_login(Fault::from(error).into_response()))
        }
        Err(error) => Err(error.into()),
    }
}

fn is_browsed_without_login(headers: &HeaderMap) -> bool {
    wants_page(headers) && !headers.contains_key(header::AUTHORIZATION)
}

fn tools() -> Markup {
    let mut markup = Markup::default();
    markup.raw("<ul>\n<li>").link("/admin/stats", "Statistics");
    markup.raw("\n<li>").link("/admin/stats?counted", "Statistics, with triples and versions");
    markup.raw(" (reads every description)\n<li>");
    markup.link("/admin/references", "Dangling links");
    markup.raw(" (CSV; reads every description)\n<li>").link("/sparql", "Query");
    markup.raw("\n<li>").link("/query/term_search", "Search for a term").raw("\n</ul>\n");
    markup.raw("<form action=\"").text(FIXITY).raw("\" method=\"get\">\n");
    markup.raw("<p><label for=\"resource\">Compare the bytes of a file with their digests: its path or address</label>\n");
    markup.raw("<input id=\"resource\" name=\"resource\" size=\"60\" required>\n");
    markup.raw("<button>Compare</button>\n</form>\n");
    markup
}

/// A form cannot write a path into an address: this redirects to the page of the file that it names.
pub(super) fn to_fixity(parts: &Parts) -> Result<Response, Fault> {
    let web = Web::of(&LAKESUPERIOR, &parts.uri, &parts.headers, &parts.extensions);
    let query = parts.uri.query().unwrap_or_default();
    let named = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "resource");
    let named = named.map(|(_, resource)| resource.trim().to_owned()).unwrap_or_default();
    let path = web.named(&named).map(|(path, _)| path).or_else(|| named.parse::<StorePath>().ok());
    let path = path.ok_or_else(|| Fault::bad("this is not the path or address of a file"))?;
    let to = web.part(&path, "fcr:fixity");
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response())
}
