//! One version: its graph or bytes as they were, its removal, and reverting to it.
//!
//! A version of a container shows its own description: the children that it had are not part of a version.

use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::Choice;
use cenote_store::{At, NewVersion, Prune, ReadOptions, Store, Version};

use super::name::named;
use super::{links, page, versions};
use crate::ldp::dialect::Dialect;
use crate::ldp::methods::read::{self, Found};
use crate::ldp::representation::graph::own;
use crate::ldp::representation::html;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{ACCEPT_PATCH, ACCEPT_POST, Headers};

/// The methods of a version.
pub(super) fn methods(dialect: &Dialect) -> &'static str {
    match dialect.restores {
        true => "GET,HEAD,OPTIONS,PATCH,DELETE",
        false => "GET,HEAD,OPTIONS,DELETE",
    }
}

/// GET, HEAD and OPTIONS.
pub(super) async fn show(mut call: Call, name: String) -> Result<Response, Fault> {
    call.is_memento = true;
    (call.preferences.containment, call.preferences.membership) = (false, false);
    match call.blocking(move |store, call| find(store, call, &name)).await? {
        Shown::Headers(headers) => Ok((StatusCode::NO_CONTENT, headers.0).into_response()),
        Shown::Found(found) => read::answer(call, found).await,
    }
}

enum Shown {
    Headers(Headers),
    Found(Found),
}

fn find(store: &Store, call: &Call, name: &str) -> Result<Shown, Fault> {
    let (loaded, versions) = versions(store, call)?;
    let version = named(&versions, name)?;
    let loaded = as_it_was(store, call, loaded, version)?;
    if call.method == Method::OPTIONS {
        let mut headers = Headers::about(call, &loaded);
        be_memento(call, version, &mut headers);
        return Ok(Shown::Headers(headers));
    }
    let mut found = match read::representation(call, &loaded.stat)? {
        _ if html::is_wanted(call, &loaded) => {
            let mut headers = Headers::about(call, &loaded);
            headers.add(header::VARY, "Accept, Prefer");
            let statements = own(call, &store.reading(&call.caller)?, loaded.clone())?;
            Found::Page(headers, Box::new(page::one(call, &loaded, version, &statements)))
        }
        Choice::Graph(syntax) => {
            read::graph(&store.reading(&call.caller)?, store, call, loaded, syntax)?
        }
        Choice::Other => {
            let options = ReadOptions { version: Some(version.version), replica: None };
            let opened = store.open(&call.caller, &At::Id(loaded.stat.id), &options)?;
            read::content(call, &loaded, opened)?
        }
    };
    be_memento(call, version, found.headers());
    Ok(Shown::Found(found))
}

/// The resource, with the description and the content of a version.
fn as_it_was(
    store: &Store,
    call: &Call,
    loaded: LoadedResource,
    version: &Version,
) -> Result<LoadedResource, Fault> {
    let at = At::Id(loaded.stat.id);
    let description = store.graph_of_version(&call.caller, &at, version.version)?;
    let modified_by = store.person_name(version.modified_by)?;
    Ok(loaded.in_version(version, description, modified_by))
}

fn be_memento(call: &Call, version: &Version, headers: &mut Headers) {
    for name in [header::ALLOW, ACCEPT_PATCH, ACCEPT_POST] {
        headers.0.remove(name);
    }
    headers.add(header::ALLOW, methods(call.dialect));
    links::memento(call, version, headers);
}

/// DELETE.
pub(super) async fn remove(call: Call, name: String) -> Result<Response, Fault> {
    call.blocking(move |store, call| {
        let (_, versions) = versions(store, call)?;
        let prune = Prune::One(named(&versions, &name)?.version);
        store.prune_versions(&call.caller, &call.at(), &prune)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

/// PATCH: makes a version the current state again; what was current is kept as a version.
pub(super) async fn revert(call: Call, name: String) -> Result<Response, Fault> {
    call.blocking(move |store, call| {
        let (_, versions) = versions(store, call)?;
        let version = named(&versions, &name)?.version;
        let current = NewVersion { undecided: true, ..NewVersion::default() };
        store.keep_version(&call.caller, &call.at(), &current)?;
        store.restore_version(&call.caller, &call.at(), version)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}
