//! Users and groups.

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::{Act, PersonKind, UserChange};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{
    ChangeGroup, ChangeUser, Group, Groups, Identity, Instant, Named, NewGroup, NewUser, User,
    Users,
};
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// The identity of the caller.
#[utoipa::path(get, path = "/v1/whoami", tag = "people", responses((status = 200, body = Identity)))]
pub(crate) async fn whoami(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Identity>, Problem> {
    app.blocking(move |store| {
        let groups = caller.groups().iter().map(|group| store.person_name(*group));
        let groups = groups.collect::<Result<_, _>>()?;
        Ok(Json(Identity { name: caller.name().to_owned(), role: caller.role().into(), groups }))
    })
    .await
}

/// All users.
#[utoipa::path(get, path = "/v1/users", tag = "people", responses((status = 200, body = Users)))]
pub(crate) async fn users(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Users>, Problem> {
    caller.require(Act::Names)?;
    app.blocking(move |store| {
        let persons = store.persons()?.into_iter().map(|(_, person)| person);
        let users = persons.filter(|person| person.kind == PersonKind::User);
        let items = users.map(|person| User {
            name: person.name,
            role: person.role.into(),
            created: Instant(person.created),
        });
        Ok(Json(Users { items: items.collect() }))
    })
    .await
}

/// Creates a user, with the home `/home/NAME`.
#[utoipa::path(post, path = "/v1/users", tag = "people", request_body = NewUser,
    responses((status = 201, description = "Created")))]
pub(crate) async fn add_user(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(NewUser { name, password, role }): Json<NewUser>,
) -> Result<StatusCode, Problem> {
    let user = cenote_store::NewUser { name, password, role: role.into() };
    app.blocking(move |store| store.add_user_with_home(&caller, &user)).await?;
    Ok(StatusCode::CREATED)
}

/// Sets a user's password, role, or both.
#[utoipa::path(patch, path = "/v1/users", tag = "people", request_body = ChangeUser,
    responses((status = 204, description = "Changed")))]
pub(crate) async fn change_user(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(ChangeUser { name, password, role }): Json<ChangeUser>,
) -> Result<StatusCode, Problem> {
    let change = UserChange { password, role: role.map(Into::into) };
    app.blocking(move |store| store.change_user(&caller, &name, &change)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a user or a group.
#[utoipa::path(delete, path = "/v1/users", tag = "people", params(Named),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove_user(
    State(app): State<App>,
    Changer(caller): Changer,
    Params(Named { name }): Params<Named>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |store| store.remove_person(&caller, &name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// All groups and who is in them.
#[utoipa::path(get, path = "/v1/groups", tag = "people", responses((status = 200, body = Groups)))]
pub(crate) async fn groups(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Groups>, Problem> {
    caller.require(Act::Names)?;
    app.blocking(move |store| {
        let persons = store.persons()?.into_iter().map(|(_, person)| person);
        let groups = persons.filter(|person| person.kind == PersonKind::Group);
        let items = groups.map(|person| {
            let members = store.members(&person.name)?;
            Ok(Group { name: person.name, members, created: Instant(person.created) })
        });
        Ok(Json(Groups { items: items.collect::<cenote_store::Result<_>>()? }))
    })
    .await
}

/// Creates a group.
#[utoipa::path(post, path = "/v1/groups", tag = "people", request_body = NewGroup,
    responses((status = 201, description = "Created")))]
pub(crate) async fn add_group(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(NewGroup { name }): Json<NewGroup>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |store| store.add_group(&caller, &name)).await?;
    Ok(StatusCode::CREATED)
}

/// Adds users to a group, and removes users from it.
#[utoipa::path(patch, path = "/v1/groups", tag = "people", request_body = ChangeGroup,
    responses((status = 204, description = "Changed")))]
pub(crate) async fn change_group(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(ChangeGroup { name, add, remove }): Json<ChangeGroup>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |store| store.change_group(&caller, &name, &add, &remove)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a group.
#[utoipa::path(delete, path = "/v1/groups", tag = "people", params(Named),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove_group(
    app: State<App>,
    caller: Changer,
    named: Params<Named>,
) -> Result<StatusCode, Problem> {
    remove_user(app, caller, named).await
}
