//! GET and HEAD: a graph in the syntax that the client prefers, or the bytes of a non-RDF source.

use std::collections::BTreeSet;
use std::ops::Range;

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Choice, Syntax, negotiate};
use cenote_store::{At, Kind, Opened, ReadOptions, Reading, Stat, Store};

use crate::layer::conditional::Verdict;
use crate::layer::range::{Selection, select};
use crate::ldp::dialect::Ranges;
use crate::ldp::external::{self, Elsewhere};
use crate::ldp::representation::filename;
use crate::ldp::representation::graph::{Representation, Written};
use crate::ldp::representation::html;
use crate::ldp::representation::resource::{LoadedResource, OCTETS};
use crate::ldp::request::call::Call;
use crate::ldp::request::conditions;
use crate::ldp::request::digest::{DigestAlgorithm, wanted};
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{DIGEST, Headers, PREFERENCE_APPLIED};
use crate::ldp::request::target::Part;
use crate::problem::Problem;

/// The answer.
pub(crate) enum Found {
    NotModified(Headers),
    /// A graph of which only the headers were wanted, so that it is not written.
    Unwritten(Headers),
    Graph(Headers, Syntax, Written),
    Bytes(Headers, Box<Opened>, Verdict),
    Elsewhere(Headers, Elsewhere),
    /// A page for people.
    Page(Headers, Box<Response>),
}

impl Found {
    pub(crate) fn headers(&mut self) -> &mut Headers {
        match self {
            Self::NotModified(headers)
            | Self::Unwritten(headers)
            | Self::Graph(headers, ..)
            | Self::Page(headers, _)
            | Self::Bytes(headers, ..)
            | Self::Elsewhere(headers, _) => headers,
        }
    }
}

pub(crate) async fn read(call: Call) -> Result<Response, Fault> {
    let found = call.blocking(find).await?;
    answer(call, found).await
}

pub(crate) async fn answer(call: Call, found: Found) -> Result<Response, Fault> {
    match found {
        Found::NotModified(headers) => Ok((StatusCode::NOT_MODIFIED, headers.0).into_response()),
        Found::Unwritten(headers) => Ok(headers.0.into_response()),
        Found::Graph(headers, syntax, written) => Ok(written.answer(call, headers, syntax)),
        Found::Bytes(headers, opened, verdict) => bytes(&call, headers, *opened, verdict).await,
        Found::Page(headers, page) => Ok((headers.0, *page).into_response()),
        Found::Elsewhere(headers, elsewhere) => external::show(call, headers, elsewhere).await,
    }
}

fn find(store: &Store, call: &Call) -> Result<Found, Fault> {
    let reading = call.reading(store)?;
    let loaded = match shows_headers_only(call) {
        true => call.headings_in(&reading, store)?,
        false => call.load_in(&reading, store)?,
    };
    if html::is_wanted(call, &loaded) {
        return html::show(&reading, store, call, &loaded);
    }
    match representation(call, &loaded.stat)? {
        Choice::Graph(syntax) => graph(&reading, store, call, loaded, syntax),
        Choice::Other => {
            let id = At::Id(loaded.stat.id);
            let opened = store.open(&call.caller, &id, &ReadOptions::default())?;
            content(call, &loaded, opened)
        }
    }
}

/// Whether nothing of the graph is written: a page is, to be measured, and RDF/XML, which cannot express each graph.
fn shows_headers_only(call: &Call) -> bool {
    let accept = call.header(header::ACCEPT).unwrap_or_default();
    let is_xml = negotiate(accept, None) == Some(Choice::Graph(Syntax::RdfXml));
    call.method == Method::HEAD && !is_xml && !html::is_preferred(call)
}

/// Which representation is wanted. There is always one: without any that the client named, Turtle or the bytes.
pub(crate) fn representation(call: &Call, stat: &Stat) -> Result<Choice, Fault> {
    let accept = call.header(header::ACCEPT).unwrap_or_default();
    let is_binary = stat.resource.kind == Kind::Object;
    let content = stat.resource.content.as_ref().and_then(|content| content.media_type.as_deref());
    let chosen = |other| negotiate(accept, other);
    match call.target.part {
        Part::Content if !is_binary => Err(Fault::missing("it has no binary content")),
        Part::Content => Ok(Choice::Other),
        Part::Whole if is_binary => {
            // A client that accepts anything gets the bytes.
            let any = accept.contains("*/*");
            let chosen = chosen(Some(content.unwrap_or(OCTETS))).filter(|_| !any);
            Ok(chosen.unwrap_or(Choice::Other))
        }
        _ => Ok(chosen(None).unwrap_or(Choice::Graph(Syntax::Turtle))),
    }
}

pub(crate) fn graph(
    reading: &Reading,
    store: &Store,
    call: &Call,
    loaded: LoadedResource,
    syntax: Syntax,
) -> Result<Found, Fault> {
    let mut headers = Headers::about(call, &loaded);
    headers.graph_validators(call.dialect, &loaded);
    headers.add(header::VARY, "Accept, Prefer");
    let tag = call.dialect.tags_graphs.then(|| loaded.tag());
    if conditions::judge(call, tag.as_deref(), loaded.validated())? == Verdict::NotModified {
        return Ok(Found::NotModified(headers));
    }
    if let Some(applied) = &call.preferences.applied {
        headers.add(PREFERENCE_APPLIED, applied);
    }
    let begin = || Representation::begin(call, reading, store, loaded, syntax);
    if call.method == Method::HEAD {
        // Every graph can be written in the other syntaxes.
        if syntax == Syntax::RdfXml {
            begin()?.check(call, store)?;
        }
        headers.syntax(syntax);
        return Ok(Found::Unwritten(headers));
    }
    let written = begin()?.first(call, store)?;
    Ok(Found::Graph(headers, syntax, written))
}

pub(crate) fn content(
    call: &Call,
    loaded: &LoadedResource,
    opened: Opened,
) -> Result<Found, Fault> {
    let mut headers = Headers::about(call, loaded);
    let tag = content_tag(call, &opened.head);
    let written = opened.stat.resource.written();
    headers.content_validators(call.dialect, &tag, written);
    headers.add(header::ACCEPT_RANGES, "bytes");
    headers.add(header::VARY, "Accept");
    headers.add(header::CONTENT_TYPE, opened.head.media_type.as_deref().unwrap_or(OCTETS));
    headers.add(header::CONTENT_DISPOSITION, &disposition(loaded));
    let elsewhere = Elsewhere::of(&loaded.description).filter(|_| call.dialect.has_external);
    // Stored contents never run as pages of this server.
    headers.add(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    headers.add(header::CONTENT_SECURITY_POLICY, "sandbox");
    if let Some(elsewhere) = elsewhere {
        return Ok(Found::Elsewhere(headers, elsewhere));
    }
    Ok(match conditions::judge(call, Some(&tag), written)? {
        Verdict::NotModified => Found::NotModified(headers),
        verdict => Found::Bytes(headers, Box::new(opened), verdict),
    })
}

/// The entity tag of bytes: the digest that the dialect prefers, if it is known.
pub(crate) fn content_tag(call: &Call, head: &cenote_store::ContentHead) -> String {
    let preferred = call.dialect.digest.and_then(|digest| digest.of(&head.digests));
    preferred.map_or_else(|| head.tag(), hex::encode)
}

/// Bytes are saved under the name with which they were sent, or that of the resource.
fn disposition(loaded: &LoadedResource) -> String {
    let own = || loaded.stat.name().map(|name| name.as_str());
    let name = filename::stated(&loaded.description).or_else(own);
    filename::disposition(name.unwrap_or_default())
}

async fn bytes(
    call: &Call,
    mut headers: Headers,
    opened: Opened,
    verdict: Verdict,
) -> Result<Response, Fault> {
    let size = opened.size();
    let ranged = matches!(verdict, Verdict::Proceed { ranged: true });
    let requested = call.header(header::RANGE).filter(|_| ranged && call.method == Method::GET);
    let is_list = requested.is_some_and(|range| range.contains(','));
    if is_list && call.dialect.ranges == Ranges::Spaced {
        return Err(Fault::new(StatusCode::NOT_IMPLEMENTED, "multiple ranges are not supported"));
    }
    match wanted(&call.headers)? {
        None => headers.digest(call.dialect, &opened.head),
        Some(wanted) => headers.add(DIGEST, &digests(call, &opened, &wanted).await?),
    }
    let (status, range) = match select(requested, size) {
        Selection::Outside => return Err(Fault::Shared(Problem::range(size))),
        Selection::Whole => (StatusCode::OK, 0..size),
        Selection::Part(range) => {
            let slash = if call.dialect.ranges == Ranges::Spaced { " / " } else { "/" };
            let text = format!("bytes {}-{}{slash}{size}", range.start, range.end - 1);
            headers.add(header::CONTENT_RANGE, &text);
            (StatusCode::PARTIAL_CONTENT, range)
        }
    };
    headers.add(header::CONTENT_LENGTH, &(range.end - range.start).to_string());
    Ok((status, headers.0, body(opened, range)?).into_response())
}

/// A stream that fails midway breaks off before the length it announced.
fn body(opened: Opened, range: Range<u64>) -> Result<Body, Fault> {
    Ok(Body::from_stream(opened.bytes(range)?))
}

/// The digests that are wanted; those that the store does not know are computed.
async fn digests(
    call: &Call,
    opened: &Opened,
    wanted: &BTreeSet<DigestAlgorithm>,
) -> Result<String, Fault> {
    let known = &opened.head.digests;
    let missing: Vec<DigestAlgorithm> =
        wanted.iter().copied().filter(|digest| digest.of(known).is_none()).collect();
    let computed = match missing.is_empty() {
        true => None,
        false => {
            let also = missing.iter().filter_map(|digest| digest.algorithm()).collect();
            Some(opened.clone().digests(also).await?)
        }
    };
    let shown = wanted.iter().filter_map(|wanted| {
        let digest = wanted.of(known).or_else(|| wanted.of(computed.as_ref()?))?;
        Some(wanted.shown(&digest, call.dialect.digests))
    });
    Ok(shown.collect::<Vec<_>>().join(","))
}
