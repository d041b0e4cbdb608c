//! PUT: creates a missing resource, with its parent containers, or replaces an existing one with the same kind.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Syntax, Triple};
use cenote_store::{Conditions, Graph, Stat, Store, StorePath};

use super::intake::{Sent, create_graph, described, is_graph, put_options, triples, unfolded};
use super::read::content_tag;
use crate::ldp::external;
use crate::ldp::representation::managed::Sieve;
use crate::ldp::representation::membership::Inferred;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::seen::{LoadedResource, keep_filename};
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
        Sent::Bytes => put_bytes(call, body).await,
    }
}

/// The existing resource; none if one may be created, with what follows of it from others.
///
/// # Errors
/// 405 for what no PUT replaces.
fn look(store: &Store, call: &Call) -> Result<(Option<LoadedResource>, Option<Inferred>), Fault> {
    let reading = call.reading(store)?;
    let seen = match call.seen_in(&reading, store) {
        Err(fault)
            if fault.status() == StatusCode::NOT_FOUND && call.target.part == Part::Whole =>
        {
            return Ok((None, Inferred::of_new(&reading, call.path())?));
        }
        seen => seen?,
    };
    match call.path().names().is_empty() || call.target.part == Part::Content {
        true => Err(Fault::method(allow(call, &seen))),
        false => Ok((Some(seen), None)),
    }
}

/// What conditions are about: the content of a binary, or the graph.
pub(crate) fn state(call: &Call, seen: &LoadedResource) -> State {
    match seen.stat.resource.content.as_ref().filter(|_| call.target.part != Part::Description) {
        Some(head) => State {
            tag: Some(content_tag(call, head)),
            kept: head.tag(),
            changed: seen.stat.resource.written(),
        },
        None => State {
            tag: call.dialect.tags_graphs.then(|| seen.tag()),
            kept: seen.stat.description_tag(),
            changed: seen.validated(),
        },
    }
}

/// The conditions of a PUT, which some dialects require of one that replaces.
fn checked(call: &Call, seen: Option<&LoadedResource>) -> Result<Conditions, Fault> {
    let needs = call.dialect.needs_if_match && seen.is_some();
    if needs && !call.headers.contains_key(header::IF_MATCH) {
        let detail =
            "replacing a resource needs If-Match, with the ETag of the state that was read";
        return Err(Fault::new(StatusCode::PRECONDITION_REQUIRED, detail));
    }
    conditions::of_change(call, seen.map(|seen| state(call, seen)).as_ref())
}

async fn put_graph(
    call: Call,
    body: Body,
    syntax: Syntax,
    requested: Option<Model>,
) -> Result<Response, Fault> {
    let bytes = call.gather(body).await?;
    call.blocking(move |store, call| {
        for _ in 0..ATTEMPTS {
            let (seen, inferred) = look(store, call)?;
            let model = (requested, inferred);
            match put_triples(store, call, seen.as_ref(), (&bytes, syntax), model) {
                // It has been created or removed concurrently.
                Err(fault) if is_race(&fault, seen.is_some()) => {}
                done => return done,
            }
        }
        Err(Fault::new(StatusCode::CONFLICT, "it is being changed at the same time: try again"))
    })
    .await
}

fn put_triples(
    store: &Store,
    call: &Call,
    seen: Option<&LoadedResource>,
    (bytes, syntax): (&[u8], Syntax),
    (requested, inferred): (Option<Model>, Option<Inferred>),
) -> Result<Response, Fault> {
    checked(call, seen)?;
    if let Some(seen) = seen {
        require_same(call, seen, requested)?;
    }
    let triples = triples(bytes, syntax, &call.address())?;
    match seen {
        Some(seen) => {
            replace(store, call, seen, triples, requested)?;
            Ok(replaced(call, &call.seen(store).map_err(Fault::after_change)?))
        }
        None => {
            let seen = create_graph(call, store, call.path(), triples, (requested, inferred))?;
            Ok(created(call, &seen))
        }
    }
}

fn is_race(fault: &Fault, was_there: bool) -> bool {
    let status = if was_there { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT };
    fault.is_of_store() && fault.status() == status
}

/// Refuses to replace one kind by another.
fn require_same(call: &Call, seen: &LoadedResource, requested: Option<Model>) -> Result<(), Fault> {
    if !is_graph(seen.stat.resource.kind) && call.target.part == Part::Whole {
        return Err(other_kind(call, "it is a binary: a graph can replace only its description"));
    }
    let is_allowed = match requested {
        None => true,
        Some(requested) => {
            requested == seen.model
                || (requested == Model::Source && seen.model != Model::Binary)
                || (seen.model == Model::Basic && requested.is_container())
                || (requested == Model::Basic && seen.model.is_container())
        }
    };
    match is_allowed {
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
    seen: &LoadedResource,
    triples: Vec<Triple>,
    requested: Option<Model>,
) -> Result<Stat, Fault> {
    let conditions = checked(call, Some(seen))?;
    let kept = Sieve::existing(call, store, seen, &triples)?.sift(triples)?;
    let mut wanted = described(call, store, call.path(), kept)?;
    let class = requested.filter(|model| matches!(model, Model::Direct | Model::Indirect));
    keep_class(class.or(Model::class(&seen.description)), &mut wanted);
    wanted.extend(external::kept(&seen.description));
    let at = call.at();
    let stat =
        store.change_graph(&call.caller, &at, &conditions, |old| Ok(with_units(&wanted, old)));
    Ok(stat?)
}

/// The class of a container is a statement, which a replacement of the others keeps.
fn keep_class(class: Option<Model>, wanted: &mut Graph) {
    wanted.extend(class.map(Model::statement));
}

async fn put_bytes(call: Call, body: Body) -> Result<Response, Fault> {
    let (seen, _) = call.blocking(look).await?;
    let conditions = checked(&call, seen.as_ref())?;
    if seen.as_ref().is_some_and(|seen| is_graph(seen.stat.resource.kind)) {
        return Err(other_kind(&call, "it is an RDF source: bytes cannot replace it"));
    }
    publish(&call, call.path().clone(), body, conditions).await?;
    let was_elsewhere =
        seen.as_ref().is_some_and(|seen| external::kept(&seen.description).is_some());
    let is_here = was_elsewhere && call.elsewhere.is_none();
    let answer = if seen.is_none() { created } else { replaced };
    call.blocking(move |store, call| {
        if is_here {
            external::settle(store, &call.caller, call.path(), None)?;
        }
        Ok(answer(call, &call.seen(store)?))
    })
    .await
    .map_err(Fault::after_change)
}

/// Puts bytes at a path, and keeps the name with which they were sent.
pub(crate) async fn publish(
    call: &Call,
    path: StorePath,
    body: Body,
    conditions: Conditions,
) -> Result<(), Fault> {
    let mut options = put_options(call, &body)?;
    options.conditions = conditions;
    let at = path.clone();
    call.app.store().put(&call.caller, &at, body.into_data_stream(), options).await?;
    if let Some(elsewhere) = call.elsewhere.clone() {
        let path = path.clone();
        let settle = move |store: &Store, call: &Call| {
            Ok(external::settle(store, &call.caller, &path, Some(&elsewhere))?)
        };
        call.blocking(settle).await.map_err(Fault::after_change)?;
    }
    let disposition = call.header(header::CONTENT_DISPOSITION).map(str::to_owned);
    let Some(disposition) = disposition else { return Ok(()) };
    call.blocking(move |store, call| Ok(keep_filename(store, &call.caller, &path, &disposition)?))
        .await
        .map_err(Fault::after_change)
}

/// 201, with the address.
pub(crate) fn created(call: &Call, seen: &LoadedResource) -> Response {
    let mut headers = validated(call, seen);
    let address = call.address();
    headers.add(header::LOCATION, &address);
    headers.add(header::CONTENT_TYPE, "text/plain;charset=utf-8");
    (StatusCode::CREATED, headers.0, address).into_response()
}

fn replaced(call: &Call, seen: &LoadedResource) -> Response {
    (StatusCode::NO_CONTENT, validated(call, seen).0).into_response()
}

/// The headers of an answer to a change: what it is now, and its validators.
pub(crate) fn validated(call: &Call, seen: &LoadedResource) -> Headers {
    let mut headers = Headers::about(call, seen);
    match seen.stat.resource.content.as_ref().filter(|_| call.target.part == Part::Whole) {
        None => headers.graph_validators(call.dialect, seen),
        Some(head) => {
            let written = seen.stat.resource.written();
            headers.content_validators(call.dialect, &content_tag(call, head), written);
            headers.digest(call.dialect, head);
        }
    }
    headers
}
