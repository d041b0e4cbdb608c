//! `fcr:acl`: the access list of a resource, in the words of Web Access Control.
//!
//! Source: the Fedora API, section 5, and <https://solidproject.org/TR/wac>. An access list of the store is shown and set as
//! authorizations; the rights are those that every opening checks, and what another opening grants is shown here.
//!
//! Invariant: a list that was set here is closed (defaults of collections above do not apply), and has exactly the lines that its
//! authorizations come to. What the store cannot represent is refused, except agents that are not users of it, which are left out:
//! leaving something out never gives more access.
//!
//! * `authorizations` reads a list that is put, `targets` what each is about; `show` writes the current one, `agents` maps users and groups
//!   in both.
//! * `access_check` refuses what a caller may not do.

mod access_check;
mod agents;
mod authorizations;
mod show;
mod targets;
mod terms;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Cancel, Choice, Syntax, Triple, Update, negotiate, write};
use cenote_store::{AccessChange, At, GrantView, Rights, Stat, Store};

pub(crate) use access_check::{AccessCheck, require_removing};

use super::methods::intake::triples;
use super::methods::patch;
use crate::layer::conditional::{http_date, quoted};
use crate::ldp::representation::html;
use crate::ldp::representation::model::linked;
use crate::ldp::representation::vocabulary::LDP;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{ACCEPT_PATCH, Headers, SPARQL_UPDATE};
use crate::page::Markup;

const METHODS: &str = "GET,HEAD,OPTIONS,PUT,PATCH,DELETE";
/// Lines of an access list, and triples that an update may make of it.
const MOST: usize = 10_000;
/// Triples of a list that is put: a line takes four, or some more.
const MOST_TRIPLES: usize = 10 * MOST;

/// The link from a resource to its access list, in dialects that have it.
pub(crate) fn link(call: &Call, headers: &mut Headers) {
    if call.dialect.has_acls {
        headers.add(header::LINK, &format!("<{}>;rel=\"acl\"", address(call)));
    }
}

/// Refuses a resource that is to have its access list elsewhere (the Fedora API, section 5.4).
pub(crate) fn refuse_link(call: &Call) -> Result<(), Fault> {
    match call.dialect.has_acls && linked(&call.headers, "acl").next().is_some() {
        true => {
            Err(authorizations::constraint(call, "an access list is set at fcr:acl".to_owned()))
        }
        false => Ok(()),
    }
}

/// The address of the access list.
fn address(call: &Call) -> String {
    format!("{}/fcr:acl", call.address().trim_end_matches('/'))
}

/// Answers a request that names an access list.
pub(crate) async fn answer(call: Call, body: Body) -> Result<Response, Fault> {
    match call.method.as_str() {
        "GET" | "HEAD" | "OPTIONS" => call.blocking(read).await,
        "PUT" => put(call, body).await,
        "PATCH" => update(call, body).await,
        "DELETE" => call.blocking(remove).await,
        _ => Err(Fault::method(METHODS)),
    }
}

/// The resource and its own lines.
struct List {
    stat: Stat,
    lines: Vec<GrantView>,
}

impl List {
    /// The list, for those who may change it.
    fn read(store: &Store, call: &Call) -> Result<Self, Fault> {
        let of = |error| call.missing(store, error);
        if !store.rights(&call.caller, &call.at()).map_err(of)?.contains(Rights::CONTROL) {
            return Err(Fault::new(
                StatusCode::FORBIDDEN,
                "only those who control the resource may use its access list",
            ));
        }
        let (stat, mut lines) = store.access(&call.caller, &call.at()).map_err(of)?;
        lines.retain(|line| line.from == stat.path);
        Ok(Self { stat, lines })
    }

    /// Whether the resource has a list of its own. The root always has one.
    fn is_own(&self) -> bool {
        self.stat.resource.access.closed || self.stat.path.names().is_empty()
    }

    fn headers(&self) -> Headers {
        let mut headers = Headers::default();
        for name in ["Resource", "RDFSource"] {
            headers.add(header::LINK, &format!("<{LDP}{name}>;rel=\"type\""));
        }
        headers.add(header::ALLOW, METHODS);
        headers.add(ACCEPT_PATCH, SPARQL_UPDATE);
        headers.add(header::ETAG, &quoted(&self.stat.state_tag()));
        if let Some(date) = http_date(self.stat.resource.modified) {
            headers.add(header::LAST_MODIFIED, &date);
        }
        headers
    }
}

fn read(store: &Store, call: &Call) -> Result<Response, Fault> {
    let list = List::read(store, call)?;
    if !list.is_own() {
        return Err(Fault::missing("it has no access list of its own"));
    }
    let mut headers = list.headers();
    if call.method == Method::OPTIONS {
        return Ok((StatusCode::NO_CONTENT, headers.0).into_response());
    }
    let syntax = match negotiate(call.header(header::ACCEPT).unwrap_or_default(), None) {
        Some(Choice::Graph(syntax)) => syntax,
        _ => Syntax::Turtle,
    };
    headers.add(header::VARY, "Accept");
    let triples = show::triples(store, call, &list.lines);
    if html::is_preferred(call) {
        return Ok(page(call, headers, &triples));
    }
    headers.syntax(syntax);
    Ok((headers.0, write(&triples, syntax)?).into_response())
}

/// The list for people.
fn page(call: &Call, mut headers: Headers, authorizations: &[Triple]) -> Response {
    headers.add(header::CACHE_CONTROL, "no-cache");
    let mut body = Markup::default();
    html::way(&mut body, call);
    body.raw("<p>").link(&call.address(), "The resource").raw("\n");
    body.raw("<h2>Authorizations</h2>\n").statements(authorizations);
    let title = format!("Access list of {}", call.path());
    (headers.0, crate::page::page(&title, &body)).into_response()
}

async fn put(call: Call, body: Body) -> Result<Response, Fault> {
    let list = call.blocking(List::read).await?;
    let media_type = call.header(header::CONTENT_TYPE).unwrap_or("text/turtle");
    let syntax = Syntax::from_media_type(media_type).ok_or_else(|| {
        Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "an access list must be a graph")
            .constrained(&call.web.constraints())
    })?;
    let body = call.gather(body).await?;
    let triples = triples(&body, syntax, &address(&call))?;
    if triples.len() > MOST_TRIPLES {
        return Err(authorizations::too_long());
    }
    call.blocking(move |store, call| set(store, call, &list, &triples)).await
}

async fn update(call: Call, body: Body) -> Result<Response, Fault> {
    let list = call.blocking(List::read).await?;
    let body = call.gather(body).await?;
    let text = std::str::from_utf8(&body).map_err(|_| Fault::bad("the update is not UTF-8"))?;
    let update = Update::parse(text, &address(&call)).map_err(patch::fault)?;
    let cancel = Cancel::new();
    let token = cancel.clone();
    let work = call.blocking(move |store, call| {
        let before = show::triples(store, call, &list.lines);
        let after = update.apply(before, MOST, &token).map_err(patch::fault)?;
        set(store, call, &list, &after.into_iter().collect::<Vec<_>>())
    });
    tokio::time::timeout(call.app.limits().request(), work).await.unwrap_or_else(|_| {
        cancel.cancel();
        Err(patch::fault(cenote_rdf::UpdateError::Cancelled))
    })
}

/// Replaces the entries with those of the authorizations.
fn set(store: &Store, call: &Call, list: &List, triples: &[Triple]) -> Result<Response, Fault> {
    let lines = authorizations::lines(store, call, triples)?;
    let mut changes = vec![AccessChange::Clear, AccessChange::Closed(true)];
    changes.push(AccessChange::NoCreator(true));
    let grants = lines.into_iter();
    changes.extend(grants.map(|((name, target), rights)| match target {
        (scope, None) => AccessChange::Grant(name, rights.into(), scope),
        (scope, Some(only)) => AccessChange::GrantOnly(name, rights.into(), scope, only),
    }));
    store.change_access(&call.caller, &At::Id(list.stat.id), &changes)?;
    if list.is_own() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let address = address(call);
    let mut headers = Headers::default();
    headers.add(header::LOCATION, &address);
    headers.add(header::CONTENT_TYPE, "text/plain;charset=utf-8");
    Ok((StatusCode::CREATED, headers.0, address).into_response())
}

/// Without a list of its own, a resource has the defaults of the collections above.
fn remove(store: &Store, call: &Call) -> Result<Response, Fault> {
    let list = List::read(store, call)?;
    if call.path().names().is_empty() {
        return Err(Fault::method("GET,HEAD,OPTIONS,PUT,PATCH"));
    }
    if !list.is_own() {
        return Err(Fault::missing("it has no access list of its own"));
    }
    let changes =
        [AccessChange::Clear, AccessChange::Closed(false), AccessChange::NoCreator(false)];
    store.change_access(&call.caller, &At::Id(list.stat.id), &changes)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
