//! Quotas: how much there may be below a collection, or of what somebody owns.

use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{QuotaQuery, QuotaView, Quotas, SetQuota, named, quota_target};
use crate::native::request::extract::Json;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// The quotas that bear on something, or all that the caller may see: of collections in which they may create something, their own,
/// and those of their groups. Of a collection, those of the collections above it, too.
#[utoipa::path(get, path = "/v1/quotas", tag = "quotas", params(QuotaQuery),
    responses((status = 200, body = Quotas)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<QuotaQuery>,
) -> Result<Json<Quotas>, Problem> {
    let target = quota_target(query.path.as_deref(), query.id, query.user, query.group)?;
    app.blocking(move |store| {
        let quotas = store.quotas(&caller, target.as_ref())?;
        Ok(Json(Quotas { items: quotas.into_iter().map(Into::into).collect() }))
    })
    .await
}

/// Sets a quota, or other limits of one. What is there already is counted first, a second for a million resources.
#[utoipa::path(put, path = "/v1/quotas", tag = "quotas", request_body = SetQuota,
    responses((status = 200, body = QuotaView)))]
pub(crate) async fn set(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<SetQuota>,
) -> Result<Json<QuotaView>, Problem> {
    let setting = question.setting()?;
    let SetQuota { path, id, user, group, .. } = question;
    let target = named(quota_target(path.as_deref(), id, user, group)?)?;
    app.blocking(move |store| Ok(Json(store.set_quota(&caller, &target, setting)?.into()))).await
}

/// Removes a quota.
#[utoipa::path(delete, path = "/v1/quotas", tag = "quotas", params(QuotaQuery),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    Params(query): Params<QuotaQuery>,
) -> Result<StatusCode, Problem> {
    let target = named(quota_target(query.path.as_deref(), query.id, query.user, query.group)?)?;
    app.blocking(move |store| store.remove_quota(&caller, &target)).await?;
    Ok(StatusCode::NO_CONTENT)
}
