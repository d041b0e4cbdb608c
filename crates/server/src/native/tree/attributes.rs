//! Attributes that a client may set.

use axum::extract::State;
use cenote_store::{AttributeChange, Retention, Versioning};

use super::create::mode;
use crate::app::App;
use crate::layer::Changer;
use crate::native::json::{Resource, SetAttributes, VersioningWord};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Sets attributes; missing ones are not changed.
#[utoipa::path(patch, path = "/v1/attributes", tag = "tree", request_body = SetAttributes,
    responses((status = 200, body = Resource)))]
pub(crate) async fn set(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<SetAttributes>,
) -> Result<Json<Resource>, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let mode = mode(question.mode)?;
    let versioning = versioning(&question)?;
    app.blocking(move |store| {
        let change = AttributeChange {
            mode,
            mtime: question.mtime.map(|mtime| mtime.0),
            versioning: versioning.map(Some),
            keep_removed: question.keep_removed.map(Some),
            keep_removed_bytes: question.keep_removed_bytes,
            link_integrity: question.link_integrity.map(|word| Some(word.into())),
            owner: question.owner,
            media_type: question.media_type.map(|text| Some(text).filter(|text| !text.is_empty())),
        };
        let stat = store.set_attributes(&caller, &at, &change)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

fn versioning(question: &SetAttributes) -> Result<Option<Versioning>, Problem> {
    let retention = Retention {
        last: question.keep,
        daily: question.keep_daily,
        weekly: question.keep_weekly,
        monthly: question.keep_monthly,
    };
    match question.versioning {
        None if !retention.is_unlimited() => Err(Problem::invalid("`keep` needs `versioning`")),
        Some(VersioningWord::Off) if !retention.is_unlimited() => {
            Err(Problem::invalid("`keep` needs versions: on-request or each-change"))
        }
        word => Ok(word.map(|word| word.keeping(retention))),
    }
}
