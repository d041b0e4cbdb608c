//! `fcr:sparql`: SPARQL Update of a resource and all that is below it, as one change set.
//!
//! Invariant: an update sees the resources that its caller may read, and takes effect in all of those that it changes or in none. Of each
//! it may change what a PATCH may.

use std::collections::HashMap;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Cancel, DatasetUpdate, UpdateError};
use cenote_store::{At, Conditions, Store};

use super::described::Described;
use super::patch::{fault, require_media_type};
use crate::ldp::acl;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::transactions;
use crate::statements::with_units;

const METHODS: &str = "OPTIONS,POST";

pub(crate) async fn answer(call: Call, body: Body) -> Result<Response, Fault> {
    match call.method.as_str() {
        "POST" => {}
        "OPTIONS" => {
            let allow = [(header::ALLOW, METHODS)];
            return Ok((StatusCode::NO_CONTENT, allow).into_response());
        }
        _ => return Err(Fault::method(METHODS)),
    }
    require_media_type(&call)?;
    let text = call.gather(body).await?;
    let text = std::str::from_utf8(&text).map_err(|_| Fault::bad("the update is not UTF-8"))?;
    let update = DatasetUpdate::parse(text, &call.address()).map_err(fault)?;
    match transactions::named(&call)?.is_some() {
        true => update_within(&call, update).await?,
        false => update_at_once(&call, update).await?,
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Runs the update in a change set of its own.
async fn update_at_once(call: &Call, update: DatasetUpdate) -> Result<(), Fault> {
    let store = call.app.store().clone();
    let begin = |store: &Store, call: &Call| Ok(store.begin_change_set(&call.caller, None)?);
    let set = call.blocking(begin).await?.id;
    let within = call.aside(store.within(&call.caller, set)).await??;
    let mut inner = call.clone();
    inner.app = call.app.on((*within).clone());
    let done = update_within(&inner, update).await;
    drop((inner, within));
    match done {
        Ok(()) => Ok(store.commit_change_set(&call.caller, set).await.map(drop)?),
        Err(fault) => {
            store.drop_change_set(&call.caller, set)?;
            Err(fault)
        }
    }
}

/// Runs the update on a store that is a change set.
async fn update_within(call: &Call, update: DatasetUpdate) -> Result<(), Fault> {
    let _turn = call.app.query_turn().await;
    let cancel = Cancel::new();
    let token = cancel.clone();
    let work = call.blocking(move |store, call| change(store, call, &update, &token));
    tokio::time::timeout(call.app.limits().request(), work).await.unwrap_or_else(|_| {
        cancel.cancel();
        Err(fault(UpdateError::Cancelled))
    })
}

fn change(
    store: &Store,
    call: &Call,
    update: &DatasetUpdate,
    cancel: &Cancel,
) -> Result<(), Fault> {
    let described = Described::read(store, call)?;
    let mut dataset = described.dataset();
    let owner = |subject: &_| described.owner(&call.web, subject);
    update.apply(&mut dataset, &owner, Described::MOST, cancel).map_err(fault)?;
    let mut changed = HashMap::new();
    for quad in &dataset {
        described.sort(quad, &mut changed);
    }
    for resource in described.resources() {
        let after = changed.remove(&resource.id).unwrap_or_default();
        if !resource.differs(&after) {
            continue;
        }
        // By its path, which a refusal names; in a change set, it is still there.
        let at = At::from(resource.path());
        if resource.loses(&after) {
            acl::require_removing(store, call, &at)?;
        }
        let wanted = resource.settled(store, call, &after)?;
        let conditions = Conditions::default();
        call.change_graph(store, &at, &conditions, |old| Ok(with_units(&wanted, old)))?;
    }
    Ok(())
}
