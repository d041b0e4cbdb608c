//! A resource for people: its statements, its children, in pages, and its versions.
//!
//! Source: LAKEsuperior's pages. Everything comes from the same functions as the graph, so that a page shows what the caller may see, and
//! is written with [`Markup`], which escapes it.

use axum::http::header;
use cenote_rdf::{Choice, NamedOrBlankNode, Triple, negotiate};
use cenote_store::{At, Reading, Rights, Store, StorePath};

use crate::front::wants_page;
use crate::ldp::methods::read::Found;
use crate::ldp::representation::graph::own;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::paging::Page;
use crate::ldp::representation::resource::{LoadedResource, rfc3339};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;
use crate::ldp::request::target::Part;
use crate::page::{Markup, page};

/// Children shown per page, unless set in the address.
const CHILDREN: usize = 100;
/// Versions that are shown, the newest first.
const VERSIONS: usize = 100;

/// Whether a page of a resource is liked best. Of a binary, the bytes are shown.
pub(crate) fn is_wanted(call: &Call, loaded: &LoadedResource) -> bool {
    let is_source = loaded.model != Model::Binary && call.target.part != Part::Content;
    (is_source || call.target.part == Part::Description) && is_preferred(call)
}

/// Whether a page is liked best, where a graph is offered, too.
pub(crate) fn is_preferred(call: &Call) -> bool {
    let accept = call.header(header::ACCEPT).unwrap_or_default();
    wants_page(&call.headers) && negotiate(accept, Some("text/html")) == Some(Choice::Other)
}

pub(crate) fn show(
    reading: &Reading,
    store: &Store,
    call: &Call,
    loaded: &LoadedResource,
) -> Result<Found, Fault> {
    let mut headers = Headers::about(call, loaded);
    headers.add(header::VARY, "Accept, Prefer");
    headers.add(header::CACHE_CONTROL, "no-cache");
    let mut body = Markup::default();
    way(&mut body, call);
    statements(&mut body, &call.address(), &own(call, reading, loaded.clone())?);
    if loaded.model == Model::Binary {
        let fixity = format!("{}/fcr:fixity", call.address());
        body.raw("<p>").link(&call.address(), "Its bytes").raw(", ");
        body.link(&fixity, "compare them with their digests").raw("\n");
    }
    if loaded.model.is_container() {
        children(&mut body, store, call, loaded)?;
    }
    versions(&mut body, store, call, loaded);
    access(&mut body, store, call, loaded);
    body.raw("<p>").link("/sparql", "Query everything").raw(" or ");
    body.link("/query/term_search", "search for a term").raw("\n");
    let title = call.path().to_string();
    Ok(Found::Page(headers, Box::new(page(&title, &body))))
}

/// The collections above, each with a link.
pub(crate) fn way(body: &mut Markup, call: &Call) {
    body.raw("<nav aria-label=\"Collections above\">");
    let mut path = StorePath::root();
    body.link(&call.web.address(&path), "root");
    for name in call.path().names() {
        let Ok(next) = path.join(name.clone()) else { break };
        path = next;
        body.raw(" / ").link(&call.web.address(&path), name.as_str());
    }
    body.raw("</nav>\n");
}

/// The statements about the resource, then those about others.
fn statements(body: &mut Markup, own: &str, triples: &[Triple]) {
    let is_own = |triple: &&Triple| matches!(&triple.subject, NamedOrBlankNode::NamedNode(node) if node.as_str() == own);
    let (of_it, of_others): (Vec<&Triple>, Vec<&Triple>) = triples.iter().partition(is_own);
    body.raw("<h2>Statements</h2>\n").statements_about(of_it);
    if !of_others.is_empty() {
        body.raw("<h2>Statements about others</h2>\n").statements(of_others);
    }
}

/// What a container contains, so many at a time. Who may not list it is shown nothing of that.
fn children(
    body: &mut Markup,
    store: &Store,
    call: &Call,
    loaded: &LoadedResource,
) -> Result<(), Fault> {
    let shown = Page::read(&call.query)?.unwrap_or_else(|| Page::first(CHILDREN));
    let Ok(listed) = store.list(&call.caller, &At::Id(loaded.stat.id), &shown.options()) else {
        return Ok(());
    };
    body.raw("<h2>Contains</h2>\n<ul>\n");
    for entry in &listed.entries {
        let name = entry.name().map(|name| name.as_str()).unwrap_or_default();
        body.raw("<li>").link(&call.web.address(&entry.path), name);
        if entry.resource.content.is_some() {
            let description = format!("{}/fcr:metadata", call.web.address(&entry.path));
            body.raw(" (").link(&description, "description").raw(")");
        }
        body.raw("\n");
    }
    body.raw("</ul>\n");
    if let Some(next) = listed.next {
        let next = shown.next(next).address(&call.address());
        body.raw("<p>").link(&next, "Next page").raw("\n");
    }
    Ok(())
}

/// The newest versions. Who may not read the content learns nothing of them.
fn versions(body: &mut Markup, store: &Store, call: &Call, loaded: &LoadedResource) {
    let mut versions = store.versions(&call.caller, &At::Id(loaded.stat.id)).unwrap_or_default();
    if versions.is_empty() {
        return;
    }
    versions.sort_by_key(|version| std::cmp::Reverse((version.time, version.version)));
    body.raw("<h2>Versions</h2>\n<ul>\n");
    for version in versions.iter().take(VERSIONS) {
        body.raw("<li>")
            .link(&crate::ldp::versions::address(call, version), &rfc3339(version.time));
        if let Some(label) = &version.label {
            body.raw(" ").text(label);
        }
        body.raw("\n");
    }
    let all = format!("{}/fcr:versions", call.address());
    body.raw("</ul>\n<p>").link(&all, "All versions").raw("\n");
}

/// Where its own access list is, for those who may see that.
fn access(body: &mut Markup, store: &Store, call: &Call, loaded: &LoadedResource) {
    let is_own = loaded.stat.resource.access.closed || loaded.stat.path.names().is_empty();
    let rights = store.rights(&call.caller, &At::Id(loaded.stat.id));
    if call.dialect.has_acls && is_own && rights.is_ok_and(|it| it.contains(Rights::CONTROL)) {
        let list = format!("{}/fcr:acl", call.address().trim_end_matches('/'));
        body.raw("<p>").link(&list, "Access list").raw("\n");
    }
}
