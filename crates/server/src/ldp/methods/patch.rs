//! PATCH: SPARQL Update of one description. It runs on the representation, so that a pattern may look at what the server manages; only
//! what it really changes counts, and of what the server manages nothing may.

use std::collections::HashSet;
use std::sync::Mutex;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Cancel, Triple, Update, UpdateError};
use cenote_store::{ErrorKind, Graph, Store, StorePath};

use super::intake::described;
use super::put::{state, validated};
use crate::ldp::acl;
use crate::ldp::representation::managed::{OtherType, is_managed, valid};
use crate::ldp::representation::members::Members;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::web::OwnIris;
use crate::ldp::request::call::Call;
use crate::ldp::request::conditions;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{ACCEPT_PATCH, SPARQL_UPDATE, allow};
use crate::ldp::request::target::Part;
use crate::ldp::versions;
use crate::statements::{statement, triple, with_units};

/// Triples of a graph that an update may make.
const MOST: usize = 120_000;

pub(crate) async fn patch(call: Call, body: Body) -> Result<Response, Fault> {
    let loaded = call.blocking(|store, call| call.load(store)).await?;
    require_update(&call, &loaded)?;
    let text = call.gather(body).await?;
    let text = std::str::from_utf8(&text).map_err(|_| Fault::bad("the update is not UTF-8"))?;
    let update = Update::parse(text, &call.address()).map_err(fault)?;
    if !update.only_adds() {
        call.blocking(|store, call| acl::require_removing(store, call, &call.at())).await?;
    }
    let cancel = Cancel::new();
    let token = cancel.clone();
    let work = call.blocking(move |store, call| {
        change(store, call, &loaded, (&update, &token))?;
        let loaded = call.headings(store).map_err(Fault::after_change)?;
        Ok((StatusCode::NO_CONTENT, validated(call, &loaded).0).into_response())
    });
    tokio::time::timeout(call.app.limits().request(), work).await.unwrap_or_else(|_| {
        cancel.cancel();
        Err(fault(UpdateError::Cancelled))
    })
}

fn require_update(call: &Call, loaded: &LoadedResource) -> Result<(), Fault> {
    if loaded.model == Model::Binary && call.target.part != Part::Description {
        let detail = "a binary cannot be changed by an update: update fcr:metadata";
        return Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
            .with(header::ALLOW, allow(call, loaded)));
    }
    require_media_type(call)
}

/// Refuses a body with another media type than an update.
pub(super) fn require_media_type(call: &Call) -> Result<(), Fault> {
    let media_type = call.header(header::CONTENT_TYPE).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    match essence.eq_ignore_ascii_case(SPARQL_UPDATE) {
        true => Ok(()),
        false => {
            let detail = format!("an update must be sent as {SPARQL_UPDATE}");
            Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
                .with(ACCEPT_PATCH, SPARQL_UPDATE))
        }
    }
}

/// Applies the update to the current description, and retries if it is changed concurrently.
fn change(
    store: &Store,
    call: &Call,
    loaded: &LoadedResource,
    (update, cancel): (&Update, &Cancel),
) -> Result<(), Fault> {
    let conditions = conditions::of_change(call, Some(&state(call, loaded)))?;
    let managed = managed(store, call, loaded, update)?;
    // The store cannot return errors of this opening: one that aborts the change is kept here.
    let refused = Mutex::new(None);
    let outcome = call.change_graph(store, &call.at(), &conditions, |old| {
        updated(store, call, old, &managed, (update, cancel)).map_err(|fault| {
            *refused.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(fault);
            cenote_store::Error::new(ErrorKind::Invalid, "the update was refused")
        })
    });
    match refused.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(fault) if outcome.is_err() => Err(fault),
        _ => Ok(outcome.map(drop)?),
    }
}

/// What the server says of the resource. What it contains and its members are read only if a pattern may look at them.
fn managed(
    store: &Store,
    call: &Call,
    loaded: &LoadedResource,
    update: &Update,
) -> Result<HashSet<Triple>, Fault> {
    let mut managed: HashSet<Triple> =
        loaded.managed(call.dialect, &call.web).into_iter().collect();
    let reading = call.reading(store)?;
    managed.extend(versions::mention(&reading, call, loaded)?);
    if !update.looks() {
        return Ok(managed);
    }
    for members in Members::all(&reading, loaded, &call.web)? {
        for page in members.pages(store, &call.caller, &call.web) {
            managed.extend(page?);
            if managed.len() > MOST {
                return Err(fault(UpdateError::TooMany(MOST)));
            }
        }
    }
    Ok(managed)
}

/// The description after the update.
fn updated(
    store: &Store,
    call: &Call,
    old: &Graph,
    managed: &HashSet<Triple>,
    (update, cancel): (&Update, &Cancel),
) -> Result<Graph, Fault> {
    let iris = OwnIris::new(&call.web, call.path());
    let before: HashSet<Triple> = old.iter().map(|it| triple(it.clone(), &iris)).collect();
    let all = before.iter().chain(managed).cloned();
    let after = update.apply(all, MOST, cancel).map_err(fault)?;
    let wanted = settled(store, call, call.path(), (&before, managed), &after)?;
    Ok(with_units(&wanted, old))
}

/// The description of a resource that has these triples after an update, of which the server manages some.
pub(super) fn settled(
    store: &Store,
    call: &Call,
    path: &StorePath,
    (before, managed): (&HashSet<Triple>, &HashSet<Triple>),
    after: &HashSet<Triple>,
) -> Result<Graph, Fault> {
    let iris = OwnIris::new(&call.web, path);
    let other_type = OtherType::among(managed);
    let removed = before.union(managed).filter(|triple| !after.contains(*triple));
    let added = after.iter().filter(|it| !before.contains(*it) && !managed.contains(*it));
    let mut added: Vec<Triple> = added.cloned().collect();
    for triple in removed.chain(&added) {
        let is_stated = before.contains(triple) && !managed.contains(triple);
        if (is_managed(triple) || managed.contains(triple) || other_type.is(triple))
            && !is_stated
            && !call.preferences.lenient
        {
            return Err(call.violation(format!("this triple is managed by the server: {triple}")));
        }
    }
    added.retain(|triple| !is_managed(triple) && !other_type.is(triple));
    let added = added.into_iter().map(|triple| valid(call, triple)).collect::<Result<_, _>>()?;
    let added = described(call, store, path, added)?;
    let kept = before.iter().filter(|it| after.contains(*it) || is_managed(it));
    let kept: Graph = kept.map(|it| statement(it.clone(), &iris)).collect();
    Ok(kept.union(&added).cloned().collect())
}

pub(crate) fn fault(error: UpdateError) -> Fault {
    let status = match error {
        UpdateError::Syntax(_)
        | UpdateError::Foreign(_)
        | UpdateError::Whole(_)
        | UpdateError::Homeless(_)
        | UpdateError::Evaluation(_) => StatusCode::BAD_REQUEST,
        UpdateError::TooMany(_) => StatusCode::PAYLOAD_TOO_LARGE,
        UpdateError::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
    };
    Fault::new(status, format!("invalid update: {error}"))
}
