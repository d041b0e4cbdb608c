//! Tokens: secrets that represent an account, within limits, until they are revoked.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::Rights;

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{MadeToken, NewToken, Tokens, WhichToken};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// Creates a token for the caller's account.
#[utoipa::path(post, path = "/v1/tokens", tag = "people", request_body = NewToken,
    responses((status = 201, body = MadeToken)))]
pub(crate) async fn add(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<NewToken>,
) -> Result<(StatusCode, Json<MadeToken>), Problem> {
    let within = match (question.within.as_deref(), question.within_id) {
        (None, None) => None,
        (path, id) => Some(at(path, id)?),
    };
    let new = cenote_store::NewToken {
        label: question.label,
        rights: question.level.map_or(Ok(Rights::OWN), |level| level.parse())?,
        within,
        lifetime: question.expires_in.map(Duration::from_secs),
        scopes: question.scopes.iter().map(|scope| scope.parse()).collect::<Result<_, _>>()?,
    };
    app.blocking(move |store| {
        let (token, about) = store.add_token(&caller, &new)?;
        Ok((StatusCode::CREATED, Json(MadeToken { token, about: about.into() })))
    })
    .await
}

/// The tokens of the caller's account, without their secrets.
#[utoipa::path(get, path = "/v1/tokens", tag = "people", responses((status = 200, body = Tokens)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Tokens>, Problem> {
    app.blocking(move |store| {
        let items = store.tokens(&caller)?.into_iter().map(Into::into).collect();
        Ok(Json(Tokens { items }))
    })
    .await
}

/// Revokes a token, and those that were created with it.
#[utoipa::path(delete, path = "/v1/tokens", tag = "people", params(WhichToken),
    responses((status = 204, description = "Revoked")))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Changer(caller): Changer,
    Params(which): Params<WhichToken>,
) -> Result<StatusCode, Problem> {
    app.blocking(move |store| store.revoke_token(&caller, which.user.as_deref(), which.id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
