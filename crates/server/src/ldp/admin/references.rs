//! `/admin/references`: LAKEsuperior's check of referential integrity, as CSV: each statement whose object is the address of a resource
//! of this store, where nothing is.
//!
//! It reads one state of the store, as the caller may see it, and is sent as it is found, so that it takes the memory of some lines.

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{Act, Caller, Fact, Node, Result, Store, StorePath, path_of};
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc;

use crate::app::App;
use crate::layer::Viewer;
use crate::ldp::dialect::LAKESUPERIOR;
use crate::ldp::representation::web::Web;
use crate::ldp::request::fault::Fault;
use crate::problem::Problem;

const HEAD: &str = "s,p,o,missing\r\n";
/// Lines are sent when there are this many bytes of them.
const CHUNK: usize = 16 << 10;
/// Chunks that wait for the client.
const AHEAD: usize = 4;

type Sender = mpsc::Sender<std::result::Result<Bytes, std::io::Error>>;

pub(super) async fn answer(app: &App, parts: &mut Parts) -> std::result::Result<Response, Fault> {
    let caller = Viewer::from_request_parts(parts, app).await?.0;
    caller.require(Act::Inspect)?;
    let web = Web::of(&LAKESUPERIOR, &parts.uri, &parts.headers, &parts.extensions);
    let (sender, lines) = mpsc::channel(AHEAD);
    let lines = stream::unfold(lines, async |mut lines| {
        let next = lines.recv().await?;
        Some((next, lines))
    });
    let headers = [(header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present")];
    let body = stream::select(lines, work(app.clone(), (caller, web), sender));
    Ok((headers, Body::from_stream(body)).into_response())
}

/// Finds the lines. It is a part of the answer, so that it ends when the client has gone; it has an item only if it is lost.
fn work(
    app: App,
    (caller, web): (Caller, Web),
    sender: Sender,
) -> impl Stream<Item = std::io::Result<Bytes>> {
    let found = async move {
        let store = app.store().clone();
        app.compute(move || {
            run(&store, &caller, &web, sender);
            Ok(())
        })
        .await
    };
    let lost = async |done: std::result::Result<(), Problem>| {
        done.err().map(|lost| Err(std::io::Error::other(lost.to_string())))
    };
    stream::once(found).filter_map(lost)
}

/// A failure breaks the answer off.
fn run(store: &Store, caller: &Caller, web: &Web, sender: Sender) {
    let mut lines = Lines { text: HEAD.to_owned(), sender };
    if let Err(error) = dangling(store, caller, web, &mut lines) {
        let _ = lines.sender.blocking_send(Err(std::io::Error::other(error)));
    }
    lines.send();
}

fn dangling(store: &Store, caller: &Caller, web: &Web, lines: &mut Lines) -> Result<()> {
    let reading = store.reading(caller)?;
    let dataset = reading.dataset();
    for resource in dataset.resources() {
        let Some(resource) = resource? else { continue };
        let Some(path) = dataset.path(resource.id)? else { continue };
        for fact in dataset.facts(resource.id, None)? {
            if !lines.add(web, &path, &fact) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The path that an object names, if it does not exist.
fn missing(object: &Node) -> Option<(StorePath, &str)> {
    match object {
        Node::Iri(iri) => path_of(iri),
        _ => None,
    }
}

struct Lines {
    text: String,
    sender: Sender,
}

impl Lines {
    /// Whether the client still waits.
    fn add(&mut self, web: &Web, path: &StorePath, fact: &Fact) -> bool {
        let Some((object, part)) = missing(&fact.object) else { return true };
        let subject = match &fact.subject {
            Node::Resource { part, .. } => format!("{}{part}", web.address(path)),
            Node::Iri(iri) => iri.clone(),
            Node::Blank(name) => format!("_:{name}"),
            Node::Literal { .. } => return true,
        };
        let object = format!("{}{part}", web.address(&object));
        let fields = [&subject, &fact.predicate, &object].map(|field| quoted(field));
        self.text += &format!("{},o\r\n", fields.join(","));
        self.text.len() < CHUNK || self.send()
    }

    fn send(&mut self) -> bool {
        let text = std::mem::take(&mut self.text);
        self.sender.blocking_send(Ok(text.into())).is_ok()
    }
}

/// A field of RFC 4180.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}
