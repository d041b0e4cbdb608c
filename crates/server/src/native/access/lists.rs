//! Who may do what.

use axum::extract::State;
use cenote_store::{
    AccessChange, At, Caller, EVERYONE, ErrorKind, GrantView, PersonId, Rights, Store,
};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{AccessList, ChangeAccess, GrantLine, OnlyLine, Target};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The entries that apply to a resource, each with its origin.
#[utoipa::path(get, path = "/v1/access", tag = "access", params(Target),
    responses((status = 200, body = AccessList)))]
pub(crate) async fn read(
    State(app): State<App>,
    Viewer(caller): Viewer,
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
    let lines = joined(store, lines)?.into_iter();
    let grants = lines.map(|line| GrantLine::shown(store, caller, line)).collect();
    Ok(Json(AccessList { grants, closed: access.closed, inherit: access.inherit }))
}

/// Makes one line for everyone of two that give `public` and `anonymous` the same, unless an account has that name.
fn joined(store: &Store, mut lines: Vec<GrantView>) -> cenote_store::Result<Vec<GrantView>> {
    let anonymous = |line: &&GrantView| line.person == PersonId::ANONYMOUS;
    for one in lines.iter().filter(anonymous).cloned().collect::<Vec<_>>() {
        let is_same =
            |line: &&mut GrantView| line.person == PersonId::PUBLIC && gives_as(line, &one);
        if let Some(public) = lines.iter_mut().find(is_same)
            && !is_taken(store, EVERYONE)?
        {
            EVERYONE.clone_into(&mut public.name);
            lines.retain(|line| *line != one);
        }
    }
    Ok(lines)
}

fn gives_as(one: &GrantView, other: &GrantView) -> bool {
    let given = |line: &GrantView| (line.rights, line.scope);
    given(one) == given(other) && one.only == other.only && one.from == other.from
}

fn is_taken(store: &Store, name: &str) -> cenote_store::Result<bool> {
    match store.person_named(name) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl GrantLine {
    fn shown(store: &Store, caller: &Caller, view: GrantView) -> Self {
        let GrantView { name, rights, scope, only, from, .. } = view;
        let only = only.map(|only| OnlyLine::shown(store, caller, &only));
        Self { name, level: rights.to_string(), scope: scope.into(), only, from: from.to_string() }
    }
}
