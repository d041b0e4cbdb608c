//! Who may do what.

use axum::extract::State;
use cenote_store::{AccessChange, At, Caller, GrantView, Rights, Store};

use crate::app::App;
use crate::layer::{Asker, Changer};
use crate::native::json::{AccessList, ChangeAccess, GrantLine, Target};
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
    let changes = changes(question)?;
    app.blocking(move |store| {
        let stat = store.change_access(&caller, &at, &changes)?;
        list(store, &caller, &At::Id(stat.id))
    })
    .await
}

fn changes(question: ChangeAccess) -> Result<Vec<AccessChange>, Problem> {
    let mut changes = Vec::with_capacity(question.operations.len() + 2);
    for grant in question.operations {
        let rights: Rights = grant.level.parse()?;
        changes.push(AccessChange::Grant(grant.name, rights.into(), grant.scope.into()));
    }
    changes.extend(question.closed.map(AccessChange::Closed));
    changes.extend(question.inherit.map(AccessChange::Inherit));
    Ok(changes)
}

fn list(store: &Store, caller: &Caller, at: &At) -> cenote_store::Result<Json<AccessList>> {
    let (stat, lines) = store.access(caller, at)?;
    let access = &stat.resource.access;
    let grants = lines.into_iter().map(GrantLine::from).collect();
    Ok(Json(AccessList { grants, closed: access.closed, inherit: access.inherit }))
}

impl From<GrantView> for GrantLine {
    fn from(view: GrantView) -> Self {
        let GrantView { name, rights, scope, from, .. } = view;
        Self { name, level: rights.to_string(), scope: scope.into(), from: from.to_string() }
    }
}
