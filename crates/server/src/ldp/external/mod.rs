//! External content: bytes that are elsewhere (the Fedora API, section 3.9). A request names them by a `Link` with a
//! `handling`: `copy` takes them in; with `proxy` and `redirect` the resource has no bytes of its own, and its
//! description contains their address.
//!
//! Invariant: the server reads nothing that its settings do not allow (`[ldp] external`, empty unless it is set), which
//! is checked at each request, and follows no redirection from there. So its internal network cannot be reached through
//! it.
//!
//! * `allowed` decides which addresses may be read, `source` reads, `show` answers with external content.

mod allowed;
mod show;
mod source;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use cenote_store::{Graph, Statement, Term};

pub use allowed::Allowed;
pub(crate) use show::show;

use self::source::Source;
use crate::ldp::representation::model::{linked, parameter};
use crate::ldp::representation::vocabulary::{EXTERNAL, LDP, PROXY_FOR, REDIRECTS_TO};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;

const HANDLINGS: HeaderName = HeaderName::from_static("accept-external-content-handling");

/// How external content is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Handling {
    /// Through this server.
    Proxy,
    /// The client is sent there.
    Redirect,
}

/// Where the bytes of a resource are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    pub(crate) handling: Handling,
    pub(crate) url: String,
}

impl Elsewhere {
    /// What a description says of that.
    pub(crate) fn of(description: &Graph) -> Option<Self> {
        description.iter().find_map(|statement| {
            let handling = handling(&statement.predicate)?;
            let Term::Iri(url) = &statement.object else { return None };
            statement.subject.is_none().then(|| Self { handling, url: url.clone() })
        })
    }

    fn statement(&self) -> Statement {
        let predicate = match self.handling {
            Handling::Proxy => PROXY_FOR,
            Handling::Redirect => REDIRECTS_TO,
        };
        Statement {
            subject: None,
            predicate: predicate.to_owned(),
            object: Term::Iri(self.url.clone()),
            unit: None,
        }
    }
}

fn handling(predicate: &str) -> Option<Handling> {
    match predicate {
        PROXY_FOR => Some(Handling::Proxy),
        REDIRECTS_TO => Some(Handling::Redirect),
        _ => None,
    }
}

/// The statement that says where the bytes are, which a replacement of the others keeps.
pub(crate) fn kept(description: &Graph) -> Option<Statement> {
    Elsewhere::of(description).map(|elsewhere| elsewhere.statement())
}

/// Says which handlings there are, where there are any.
pub(crate) fn advertise(call: &Call, headers: &mut Headers) {
    if call.dialect.has_external && !call.app.ldp().external.is_empty() {
        headers.add(HANDLINGS, "copy,redirect,proxy");
    }
}

/// A request, as if it had sent the bytes that it names elsewhere, or none if they stay there.
pub(crate) async fn taken_in(mut call: Call, body: Body) -> Result<(Call, Body), Fault> {
    let named = linked(&call.headers, EXTERNAL).next();
    let Some((url, parameters)) = named else { return Ok((call, body)) };
    if !call.dialect.has_external {
        // Without the bytes, an empty file would stand for them.
        return Err(refused(&call, "this address has no external content"));
    }
    let handling = match parameter(parameters, "handling") {
        Some("copy") => None,
        Some("proxy") => Some(Handling::Proxy),
        Some("redirect") => Some(Handling::Redirect),
        _ => return Err(refused(&call, "the handling is copy, proxy or redirect")),
    };
    let (url, media_type) = (url.to_owned(), parameter(parameters, "type").map(str::to_owned));
    let source = Source::open(&call, &url, handling.is_none()).await?;
    let media_type = media_type.or(source.media_type.clone());
    call.headers.remove(header::CONTENT_TYPE);
    if let Some(value) = media_type.and_then(|it| HeaderValue::try_from(it).ok()) {
        call.headers.insert(header::CONTENT_TYPE, value);
    }
    let is_bytes = format!("<{LDP}NonRDFSource>;rel=\"type\"");
    if let Ok(value) = HeaderValue::try_from(is_bytes) {
        call.headers.insert(header::LINK, value);
    }
    call.elsewhere = handling.map(|handling| Elsewhere { handling, url });
    Ok(match call.elsewhere {
        Some(_) => (call, Body::empty()),
        None => (call, source.into_body()),
    })
}

/// A description that says where the bytes are, or that they are here.
pub(crate) fn settled(description: Graph, elsewhere: Option<&Elsewhere>) -> Graph {
    let others = description.into_iter().filter(|it| handling(&it.predicate).is_none());
    others.chain(elsewhere.map(Elsewhere::statement)).collect()
}

fn refused(call: &Call, detail: &str) -> Fault {
    Fault::new(StatusCode::BAD_REQUEST, detail).constrained(&call.web.constraints())
}
