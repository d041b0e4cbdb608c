//! PUT: creates a missing resource, with its parent containers, or replaces an existing one with the same kind.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Syntax, Triple};
use cenote_store::{At, Conditions, Describing, ErrorKind, Graph, Stat, Store, StorePath};

use super::intake::{New, Sent, create_graph, described, is_graph, put_options, triples, unfolded};
use super::post::lost;
use super::read::content_tag;
use crate::ldp::external::{self, Elsewhere};
use crate::ldp::representation::filename;
use crate::ldp::representation::managed::Sieve;
use crate::ldp::representation::membership::Inferred;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::request::call::Call;
use crate::ldp::request::conditions::{self, State};
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{Headers, allow};
use crate::ldp::request::target::Part;
use crate::statements::with_units;

/// How often a PUT is tried that found nothing, and then something, or the other way round.
const ATTEMPTS: usize = 4;

pub(crate) async fn put(call: Call, body: Body) -> Result<Response, Fault> {
    let (call, body) = unfolded(call, body).await?;
    let requested = Model::requested(&call.headers)?;
    match Sent::of(&call, &body, requested)? {
        Sent::Graph(syntax) => put_graph(call, body, syntax, requested).await,
        Sent::Bytes if call.target.part == Part::Description => {
            Err(other_kind(&call, "a description is a graph: bytes cannot replace it"))
        }
        Sent::Bytes => put_bytes(call, body).await,
    }
}

/// What is at the path of a PUT.
enum Found {
    Existing(Box<LoadedResource>),
    /// Nothing. Containers above it are made only if they were missing then, and not instead of one that is removed in the meantime.
    Nothing {
        parents: bool,
        /// What would follow of it from others.
        inferred: Option<Inferred>,
    },
}

impl Found {
    fn existing(&self) -> Option<&LoadedResource> {
        match self {
            Self::Existing(loaded) => Some(loaded),
            Self::Nothing { .. } => None,
        }
    }
}

/// The existing resource, or nothing if one may be created.
///
/// # Errors
/// 405 for what no PUT replaces.
fn look(store: &Store, call: &Call) -> Result<Found, Fault> {
    let reading = call.reading(store)?;
    let loaded = match call.load_in(&reading, store) {
        Err(fault)
            if fault.status() == StatusCode::NOT_FOUND && call.target.part == Part::Whole =>
        {
            let above = call.path().split_last().map(|(above, _)| At::from(above));
            let is_there = |above| Ok::<_, Fault>(reading.stat(&above)?.is_some());
            return Ok(Found::Nothing {
                parents: !above.map_or(Ok(true), is_there)?,
                inferred: Inferred::of_new(&reading, call.path())?,
            });
        }
        loaded => loaded?,
    };
    match call.path().names().is_empty() || call.target.part == Part::Content {
        true => Err(Fault::method(allow(call, &loaded))),
        false => Ok(Found::Existing(Box::new(loaded))),
    }
}

/// What conditions are about: the content of a binary, or the graph.
pub(crate) fn state(call: &Call, loaded: &LoadedResource) -> State {
    match loaded.stat.resource.content.as_ref().filter(|_| call.target.part != Part::Description) {
        Some(head) => State {
            tag: Some(content_tag(call, head)),
            kept: head.tag(),
            changed: loaded.stat.resource.written(),
        },
        None => State {
            tag: call.dialect.tags_graphs.then(|| loaded.tag()),
            kept: loaded.stat.description_tag(),
            changed: loaded.validated(),
        },
    }
}

/// The conditions of a PUT, which some dialects require of one that replaces.
fn checked(call: &Call, loaded: Option<&LoadedResource>) -> Result<Conditions, Fault> {
    let conditions =
        conditions::of_change(call, loaded.map(|loaded| state(call, loaded)).as_ref())?;
    let needs = call.dialect.needs_if_match && loaded.is_some();
    if needs && !call.headers.contains_key(header::IF_MATCH) {
        let detail =
            "replacing a resource needs If-Match, with the ETag of the state that was read";
        return Err(Fault::new(StatusCode::PRECONDITION_REQUIRED, detail));
    }
    Ok(conditions)
}

async fn put_graph(
    call: Call,
    body: Body,
    syntax: Syntax,
    requested: Option<Model>,
) -> Result<Response, Fault> {
    let bytes = call.gather(body).await?;
    call.blocking(move |store, call| {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let found = look(store, call)?;
            match put_triples(store, call, &found, (&bytes, syntax), requested) {
                // It has been created or removed concurrently, unless its name is taken by something hidden.
                Err(fault) if attempts < ATTEMPTS && is_race(&fault, &found) => {}
                done => return done,
            }
        }
    })
    .await
}

fn put_triples(
    store: &Store,
    call: &Call,
    found: &Found,
    (bytes, syntax): (&[u8], Syntax),
    requested: Option<Model>,
) -> Result<Response, Fault> {
    checked(call, found.existing())?;
    found.existing().map_or(Ok(()), |loaded| require_same(call, loaded))?;
    let triples = triples(bytes, syntax, &call.address())?;
    match found {
        Found::Existing(loaded) => {
            replace(store, call, loaded, triples)?;
            Ok(replaced(call, &call.headings(store).map_err(Fault::after_change)?))
        }
        Found::Nothing { parents, inferred } => {
            let new = New { requested, parents: *parents, inferred: inferred.clone() };
            let loaded = create_graph(call, store, triples, new)?;
            Ok(created(call, &loaded))
        }
    }
}

fn is_race(fault: &Fault, found: &Found) -> bool {
    match fault.of_store() {
        Some(ErrorKind::NotFound) => true,
        Some(ErrorKind::Exists | ErrorKind::Conflict) => found.existing().is_none(),
        _ => false,
    }
}

/// Refuses to replace one kind by another (the Fedora API, section 3.6).
fn require_same(call: &Call, loaded: &LoadedResource) -> Result<(), Fault> {
    let is_binary = !is_graph(loaded.stat.resource.kind);
    if is_binary && call.target.part == Part::Whole {
        return Err(other_kind(call, "it is a binary: a graph can replace only its description"));
    }
    let model = if is_binary { Model::Source } else { loaded.model };
    match model.has_linked(&call.headers) {
        true => Ok(()),
        false => Err(Fault::new(StatusCode::CONFLICT, "its interaction model cannot change")
            .constrained(&call.web.constraints())),
    }
}

fn other_kind(call: &Call, detail: &str) -> Fault {
    Fault::new(call.dialect.other_kind, detail).constrained(&call.web.constraints())
}

/// Replaces the description of a resource by what was sent.
fn replace(
    store: &Store,
    call: &Call,
    loaded: &LoadedResource,
    triples: Vec<Triple>,
) -> Result<Stat, Fault> {
    let conditions = checked(call, Some(loaded))?;
    let kept = Sieve::existing(call, store, loaded, &triples)?.sift(triples)?;
    let mut wanted = described(call, store, call.path(), kept)?;
    // The class of a container is a statement, which a replacement of the others keeps.
    wanted.extend(Model::class(&loaded.description).map(Model::statement));
    wanted.extend(external::kept(&loaded.description));
    let change = |old: &Graph| Ok(with_units(&wanted, old));
    Ok(call.change_graph(store, &call.at(), &conditions, change)?)
}

async fn put_bytes(call: Call, body: Body) -> Result<Response, Fault> {
    let found = call.blocking(look).await?;
    let conditions = checked(&call, found.existing())?;
    if found.existing().is_some_and(|loaded| is_graph(loaded.stat.resource.kind)) {
        return Err(other_kind(&call, "it is an RDF source: bytes cannot replace it"));
    }
    let mut options = put_options(&call, &body)?;
    options.conditions = conditions;
    options.parents = matches!(found, Found::Nothing { parents: true, .. });
    let before = found.existing().map(|loaded| &loaded.description);
    let naming = Naming::of(&call, before);
    let change = |old: &Graph| Ok(naming.settled(old));
    let (store, bytes) = (call.app.store(), body.into_data_stream());
    let described = naming.describing(&call, &change);
    let put = store.put_described(&call.caller, call.at(), bytes, options, described).await;
    if let Err(error) = put {
        return call.blocking(move |store, call| Err(call.missing(store, error))).await;
    }
    let answer = if found.existing().is_none() { created } else { replaced };
    let answered = call.blocking(move |store, call| Ok(answer(call, &call.headings(store)?)));
    answered.await.map_err(Fault::after_change)
}

/// Creates a binary at the first of these paths whose name is free.
pub(super) async fn publish_new(
    call: &Call,
    paths: &[StorePath],
    body: Body,
) -> Result<StorePath, Fault> {
    let options = put_options(call, &body)?;
    let naming = Naming::of(call, None);
    let change = |old: &Graph| Ok(naming.settled(old));
    let (store, bytes) = (call.app.store(), body.into_data_stream());
    let described = Some(naming.describing(call, &change));
    match store.put_new(&call.caller, paths, bytes, options, described).await {
        Ok(Stat { path, .. }) => Ok(path),
        Err(error) => {
            let lost = move |store: &Store, call: &Call| Err(lost(store, call, error.into()));
            call.blocking(lost).await
        }
    }
}

/// What the description of new bytes says of them: how their sender calls them and where they are, and not what held of those before them.
struct Naming {
    name: Option<String>,
    elsewhere: Option<Elsewhere>,
    /// Who may replace only bytes leaves the name that others gave them.
    optional: bool,
}

impl Naming {
    fn of(call: &Call, before: Option<&Graph>) -> Self {
        let (name, elsewhere) = (filename::sent(&call.headers), call.elsewhere.clone());
        let were_here = before.and_then(external::kept).is_none();
        let optional = name.is_none() && elsewhere.is_none() && were_here;
        Self { name, elsewhere, optional }
    }

    fn settled(&self, old: &Graph) -> Graph {
        external::settled(filename::settled(old, self.name.as_deref()), self.elsewhere.as_ref())
    }

    fn describing<'a>(
        &self,
        call: &Call,
        change: &'a (dyn Fn(&Graph) -> cenote_store::Result<Graph> + Sync),
    ) -> Describing<'a> {
        Describing { change, dangling: call.dialect.dangling, optional: self.optional }
    }
}

/// 201, with the address.
pub(crate) fn created(call: &Call, loaded: &LoadedResource) -> Response {
    let mut headers = validated(call, loaded);
    let address = call.address();
    headers.add(header::LOCATION, &address);
    headers.add(header::CONTENT_TYPE, "text/plain;charset=utf-8");
    (StatusCode::CREATED, headers.0, address).into_response()
}

fn replaced(call: &Call, loaded: &LoadedResource) -> Response {
    (StatusCode::NO_CONTENT, validated(call, loaded).0).into_response()
}

/// The headers of an answer to a change: what it is now, and its validators.
pub(crate) fn validated(call: &Call, loaded: &LoadedResource) -> Headers {
    let mut headers = Headers::about(call, loaded);
    match loaded.stat.resource.content.as_ref().filter(|_| call.target.part == Part::Whole) {
        None => headers.graph_validators(call.dialect, loaded),
        Some(head) => {
            let written = loaded.stat.resource.written();
            headers.content_validators(call.dialect, &content_tag(call, head), written);
            headers.digest(call.dialect, head);
        }
    }
    headers
}
