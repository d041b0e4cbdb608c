//! Key sets that are kept in the store: their keys as JSON, and changes of one key.
//!
//! An object holds a key set if its media type says so. Invariant: a change is made on the very
//! content that it replaces; whoever is faster is not overwritten.

mod apply;
mod change;
mod content;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_keyset::{Key, KeyName, KeySet, NameError, Namespace};
use cenote_store::{ErrorKind, ListOptions};

use self::change::Change;
use self::content::Content;
use super::json::{KeyBody, KeyChange, KeyPage, KeyQuery, KeysQuery, Target, VersionQuery};
use super::request::address::About;
use super::request::conditional::write_conditions;
use super::request::extract::Json;
use super::request::query::And;
use crate::app::App;
use crate::layer::conditional::quoted;
use crate::layer::{Changer, Reader, Writer};
use crate::native::request::query::page_limit;
use crate::problem::{Problem, ProblemKind};

/// The keys of a key set, in order; or one of them and those below it.
#[utoipa::path(get, path = "/v1/keys", tag = "formats", params(Target, KeysQuery),
    responses((status = 200, body = KeyPage<'static>), (status = 304, description = "The client has the current state")))]
pub(super) async fn list(
    State(app): State<App>,
    Reader(caller): Reader,
    About(at, query): About<KeysQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let parent = parent(query.parent.as_deref())?;
    let named = |text: Option<String>| text.map(|text| name(&parent, &text)).transpose();
    let (under, after) = (named(query.under)?, named(query.after)?);
    let limit = page_limit(query.limit, ListOptions::MAX)?;
    let content = Content::open(&app, caller, at, query.version).await?;
    content.answer(&app, &headers, parent, move |keys| page(keys, under, after, limit)).await
}

/// One key.
#[utoipa::path(get, path = "/v1/key", tag = "formats", params(Target, KeyQuery, VersionQuery),
    responses((status = 200, body = KeyBody<'static>), (status = 304, description = "The client has the current state")))]
pub(super) async fn read(
    State(app): State<App>,
    Reader(caller): Reader,
    About(at, And(query, kept)): About<And<KeyQuery, VersionQuery>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (parent, name) = names(query.parent.as_deref(), &query.name)?;
    let content = Content::open(&app, caller, at, kept.version).await?;
    let one = move |mut keys: KeySet| {
        let key = keys.lookup(&name).ok_or_else(|| no_key(&name))?;
        Ok(json(&KeyBody::from(key)))
    };
    content.answer(&app, &headers, parent, one).await
}

/// Creates or changes a key; the other keys stay, whoever changes them at the same time.
#[utoipa::path(put, path = "/v1/key", tag = "formats", params(Target, KeyQuery), request_body = KeyChange,
    responses((status = 201, body = KeyBody<'static>), (status = 200, body = KeyBody<'static>)))]
pub(super) async fn put(
    State(app): State<App>,
    Writer(caller): Writer,
    About(at, query): About<KeyQuery>,
    headers: HeaderMap,
    Json(wanted): Json<KeyChange>,
) -> Result<Response, Problem> {
    let (parent, name) = names(query.parent.as_deref(), &query.name)?;
    let change = Change { at, parent, conditions: write_conditions(&headers)? };
    let new = change.conditions.if_absent;
    let edit = move |keys: &mut KeySet| {
        let (mut key, is_new) = find_or_new(keys, &name)?;
        if new && !is_new {
            return Err(taken(&name));
        }
        apply::apply(&wanted, &mut key)?;
        keys.append(key.clone());
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok((status, json(&KeyBody::from(key.borrow()))))
    };
    let ((status, body), stat) = change.make(&app, caller, edit).await?;
    let tag = stat.content_tag().as_deref().map(quoted).unwrap_or_default();
    Ok((status, [(header::ETAG, tag)], body).into_response())
}

/// Removes a key.
#[utoipa::path(delete, path = "/v1/key", tag = "formats", params(Target, KeyQuery),
    responses((status = 204, description = "Removed")))]
pub(super) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    About(at, query): About<KeyQuery>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let (parent, name) = names(query.parent.as_deref(), &query.name)?;
    let change = Change { at, parent, conditions: write_conditions(&headers)? };
    let edit = move |keys: &mut KeySet| {
        let found = keys.lookup(&name).map(|key| key.name().to_name());
        found.and_then(|name| keys.remove(&name)).ok_or_else(|| no_key(&name))
    };
    change.make(&app, caller, edit).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The parent key of names, and the requested key.
fn names(given: Option<&str>, requested: &str) -> Result<(KeyName, KeyName), Problem> {
    let parent = parent(given)?;
    let name = name(&parent, requested)?;
    Ok((parent, name))
}

fn parent(text: Option<&str>) -> Result<KeyName, Problem> {
    let text = text.unwrap_or("user:/");
    KeyName::new(text).map_err(|error| wrong_name(text, &error))
}

fn name(parent: &KeyName, text: &str) -> Result<KeyName, Problem> {
    parent.resolve(text).map_err(|error| wrong_name(text, &error))
}

fn wrong_name(text: &str, error: &NameError) -> Problem {
    Problem::invalid(format!("not the name of a key: {text:.100}")).with_hint(error.to_string())
}

fn page(
    keys: KeySet,
    under: Option<KeyName>,
    after: Option<KeyName>,
    limit: usize,
) -> Result<Vec<u8>, Problem> {
    let keys = under.map_or(keys.clone(), |under| keys.below(&under));
    let after = after.as_ref().map(KeyName::borrow);
    let mut rest = keys.iter().skip_while(|key| after.is_some_and(|after| key.name() <= after));
    let items: Vec<_> = rest.by_ref().take(limit).map(KeyBody::from).collect();
    let next = rest.next().and(items.last()).map(|last| last.name.clone());
    Ok(json(&KeyPage { items, next }))
}

/// The key that a name stands for, and whether it is new.
fn find_or_new(keys: &mut KeySet, name: &KeyName) -> Result<(Key, bool), Problem> {
    match keys.lookup(name) {
        Some(key) => Ok((key.to_key(), false)),
        None if name.namespace() == Namespace::Cascading => {
            Err(no_key(name).with_hint("give the namespace to create it in, such as `user:/`"))
        }
        None => Ok((Key::new(name.clone()), true)),
    }
}

fn no_key(name: &KeyName) -> Problem {
    Problem::new(ProblemKind::Store(ErrorKind::NotFound), format!("there is no key {name}"))
}

fn taken(name: &KeyName) -> Problem {
    let kind = ProblemKind::Store(ErrorKind::Precondition);
    Problem::new(kind, format!("the key already exists: {name}"))
}

/// Written here, where it may take its time.
fn json(body: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("text, with text as keys of objects, is JSON")
}
