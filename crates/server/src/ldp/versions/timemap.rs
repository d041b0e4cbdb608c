//! `fcr:versions`: the list of the versions of a resource, as links (RFC 7089, section 5) or as a graph, and making versions.

use axum::body::Body;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Choice, Literal, NamedNode, Syntax, Term, Triple, negotiate, write};
use cenote_store::{ErrorKind, NewVersion, Store, Time, Version};
use percent_encoding::percent_decode_str;

use super::links::MEMENTO_DATETIME;
use super::{gate, links, list_address, own_address, page, versions};
use crate::layer::conditional::http_date;
use crate::ldp::methods::intake::{described, triples};
use crate::ldp::representation::html;
use crate::ldp::representation::managed::Sieve;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::date_time;
use crate::ldp::representation::vocabulary::{CONTAINS, LDP, RDF_TYPE};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{ACCEPT_POST, Headers};
use crate::ldp::request::target::Part;

pub(super) const METHODS: &str = "GET,HEAD,OPTIONS,POST";
const LINK_FORMAT: &str = "application/link-format";
const VARY_POST: HeaderName = HeaderName::from_static("vary-post");

/// GET, HEAD and OPTIONS.
pub(super) async fn show(call: Call) -> Result<Response, Fault> {
    call.blocking(|store, call| {
        let (loaded, versions) = versions(store, call)?;
        let mut headers = headers(call);
        if call.method == Method::OPTIONS {
            return Ok((StatusCode::NO_CONTENT, headers.0).into_response());
        }
        headers.add(header::VARY, "Accept");
        if html::is_preferred(call) {
            return Ok(page::list(call, headers, &versions));
        }
        let accept = call.header(header::ACCEPT).unwrap_or_default();
        let body = match negotiate(accept, Some(LINK_FORMAT)) {
            Some(Choice::Other) => {
                headers.add(header::CONTENT_TYPE, LINK_FORMAT);
                as_links(call, &versions).into_bytes()
            }
            chosen => {
                let syntax = match chosen {
                    Some(Choice::Graph(syntax)) => syntax,
                    _ => Syntax::Turtle,
                };
                headers.syntax(syntax);
                as_graph(call, loaded.stat.resource.created, &versions, syntax)?
            }
        };
        Ok((headers.0, body).into_response())
    })
    .await
}

fn headers(call: &Call) -> Headers {
    let mut headers = Headers::default();
    for name in ["Resource", "RDFSource", "Container"] {
        headers.add(header::LINK, &format!("<{LDP}{name}>;rel=\"type\""));
    }
    links::timemap(call, &mut headers);
    headers.add(header::ALLOW, METHODS);
    headers.add(ACCEPT_POST, &Syntax::ALL.map(Syntax::media_type).join(","));
    headers.add(VARY_POST, "Memento-Datetime");
    headers
}

fn as_links(call: &Call, versions: &[Version]) -> String {
    let own = own_address(call);
    let date = |version: &Version| http_date(version.time).unwrap_or_default();
    let mut lines = vec![format!("<{own}>; rel=\"original\"")];
    lines.extend(call.dialect.has_mementos.then(|| format!("<{own}>; rel=\"timegate\"")));
    let span = match (versions.first(), versions.last()) {
        (Some(first), Some(last)) => {
            format!("; from=\"{}\"; until=\"{}\"", date(first), date(last))
        }
        _ => String::new(),
    };
    let list = list_address(call);
    lines.push(format!("<{list}>; rel=\"self\"{span}; type=\"{LINK_FORMAT}\""));
    lines.extend(versions.iter().map(|version| {
        let address = links::address(call, version);
        format!("<{address}>; rel=\"memento\"; datetime=\"{}\"", date(version))
    }));
    lines.join(",\n") + "\n"
}

/// Each version is contained in the list and, in the words of LAKEsuperior, one of the resource, with its label.
fn as_graph(
    call: &Call,
    created: Time,
    versions: &[Version],
    syntax: Syntax,
) -> Result<Vec<u8>, Fault> {
    let node = |iri: &str| NamedNode::new_unchecked(iri);
    let fedora = |name: &str| node(&format!("{}{name}", call.dialect.fedora));
    let own = node(&own_address(call));
    let list = node(&list_address(call));
    let mut triples: Vec<Triple> = ["Resource", "RDFSource", "Container"]
        .map(|name| Triple::new(list.clone(), node(RDF_TYPE), node(&format!("{LDP}{name}"))))
        .into();
    triples.push(Triple::new(list.clone(), fedora("created"), date_time(created)));
    let named: Vec<_> =
        versions.iter().map(|version| (node(&links::address(call, version)), version)).collect();
    for (address, _) in &named {
        triples.push(Triple::new(list.clone(), node(CONTAINS), address.clone()));
    }
    for (address, _) in &named {
        triples.push(Triple::new(own.clone(), fedora("hasVersion"), address.clone()));
    }
    for (address, version) in named {
        triples.push(Triple::new(address.clone(), fedora("created"), date_time(version.time)));
        let label = version.label.iter().map(|label| Literal::new_simple_literal(label).into());
        let labelled = |label: Term| Triple::new(address.clone(), fedora("hasVersionLabel"), label);
        triples.extend(label.map(labelled));
    }
    Ok(write(&triples, syntax)?)
}

/// POST: keeps the current state as a version, whatever the body is, or a graph as the state of a time (`Memento-Datetime`).
pub(super) async fn keep(call: Call, body: Body) -> Result<Response, Fault> {
    let given = match call.headers.contains_key(&MEMENTO_DATETIME) {
        false => None,
        true => Some(given(&call, body).await?),
    };
    call.blocking(move |store, call| {
        let loaded = call.load(store)?;
        let mut new = NewVersion {
            label: call.header("slug").and_then(label),
            another: true,
            undecided: true,
            ..NewVersion::default()
        };
        if let Some((time, bytes, syntax)) = given {
            if loaded.model == Model::Binary && call.target.part == Part::Whole {
                return Err(no_graph(call));
            }
            let triples = triples(&bytes, syntax, &call.address())?;
            let kept = Sieve::existing(call, store, &loaded, &triples)?.sift(triples)?;
            new.time = Some(time);
            new.description = Some(described(call, store, call.path(), kept)?);
        }
        let version = kept(store, call, new)?;
        let address = links::address(call, &version);
        let mut headers = Headers::default();
        links::memento(call, &version, &mut headers);
        headers.add(header::LOCATION, &address);
        headers.add(header::CONTENT_TYPE, "text/plain;charset=utf-8");
        Ok((StatusCode::CREATED, headers.0, address).into_response())
    })
    .await
}

/// The time and the graph of a version from a client.
async fn given(call: &Call, body: Body) -> Result<(Time, bytes::Bytes, Syntax), Fault> {
    let time = Time::from_secs(gate::date(call, MEMENTO_DATETIME)?);
    let media_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
    let syntax = Syntax::from_media_type(media_type);
    let syntax = syntax.ok_or_else(|| no_graph(call))?;
    Ok((time, call.gather(body).await?, syntax))
}

fn no_graph(call: &Call) -> Fault {
    Fault::new(StatusCode::BAD_REQUEST, "an earlier state is available only as a graph")
        .constrained(&call.web.constraints())
}

/// Keeps a version; a label that another version has is left out.
fn kept(store: &Store, call: &Call, new: NewVersion) -> Result<Version, Fault> {
    match store.keep_version(&call.caller, &call.at(), &new) {
        Err(error) if error.kind() == ErrorKind::Exists => {
            let new = NewVersion { label: None, ..new };
            Ok(store.keep_version(&call.caller, &call.at(), &new)?)
        }
        Err(error) if error.kind() == ErrorKind::Invalid => {
            let fault = Fault::new(StatusCode::CONFLICT, error.to_string());
            Err(fault.constrained(&call.web.constraints()))
        }
        kept => Ok(kept?),
    }
}

/// A label, as a client suggests it; what cannot be one is ignored.
fn label(slug: &str) -> Option<String> {
    let label = percent_decode_str(slug.trim()).decode_utf8().ok()?.into_owned();
    let is_label = !label.is_empty() && label.len() <= 255 && !label.contains(char::is_control);
    is_label.then_some(label)
}
