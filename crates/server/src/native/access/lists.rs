//! Who may do what.

use axum::extract::State;
use cenote_store::{AccessChange, At, Caller, GrantView, Rights, Store};

use crate::app::App;
use crate::layer::{Asker, Changer};
use crate::native::json::{AccessList, ChangeAccess, GrantLine, OnlyLine, Target};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The entries that apply to a resource, each with its origin.
#[utoipa::path(get, path = "/v1/access", tag = "access", params(Target),
    responses((status = 200, body = AccessList)))]
pub(crate) async fn read(
    State(app): State<App>,
    Asker(caller): Asker,
    at: At,
) -> Result<Json<AccessList>, Problem> {
    app.blocking(move |store| list(store, &caller, &at)).await
}

/// Changes the access list of a resource: all of it or nothing.
#[utoipa::path(post, path = "/v1/access", tag = "access", request_body = ChangeAccess,
    responses((status = 200, body = AccessList)))]
pub(crate) async fn change(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<ChangeAccess>,
) -> Result<Json<AccessList>, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let store = app.store().clone();
    app.compute(move || {
        let changes = changes(&store, &caller, question)?;
        let stat = store.change_access(&caller, &at, &changes)?;
        Ok(list(&store, &caller, &At::Id(stat.id))?)
    })
    .await
}

fn changes(
    store: &Store,
    caller: &Caller,
    question: ChangeAccess,
) -> Result<Vec<AccessChange>, Problem> {
    let mut changes = Vec::with_capacity(question.operations.len() + 2);
    for grant in question.operations {
        let rights: Rights = grant.level.parse()?;
        let (name, scope) = (grant.name, grant.scope.into());
        changes.push(match grant.only {
            None => AccessChange::Grant(name, rights.into(), scope),
            Some(only) => {
                AccessChange::GrantOnly(name, rights.into(), scope, only.meant(store, caller)?)
            }
        });
    }
    changes.extend(question.closed.map(AccessChange::Closed));
    changes.extend(question.inherit.map(AccessChange::Inherit));
    Ok(changes)
}

fn list(store: &Store, caller: &Caller, at: &At) -> cenote_store::Result<Json<AccessList>> {
    let (stat, lines) = store.access(caller, at)?;
    let access = &stat.resource.access;
    let grants = lines.into_iter().map(|line| GrantLine::shown(store, caller, line)).collect();
    Ok(Json(AccessList { grants, closed: access.closed, inherit: access.inherit }))
}

impl GrantLine {
    fn shown(store: &Store, caller: &Caller, view: GrantView) -> Self {
        let GrantView { name, rights, scope, only, from, .. } = view;
        let only = only.map(|only| OnlyLine::shown(store, caller, &only));
        Self { name, level: rights.to_string(), scope: scope.into(), only, from: from.to_string() }
    }
}
