//! What LAKEsuperior has for administrators: fixity of a resource, statistics, a check of links, and a page with all of that.

mod references;
mod stats;
mod tools;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::response::{IntoResponse, Response};

use super::dialect::LAKESUPERIOR;
use super::fixity;
use crate::app::App;
use crate::ldp::request::call::{Call, judged};
use crate::ldp::request::fault::Fault;

/// Answers `/admin/…`.
pub(super) async fn answer(State(app): State<App>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let path = parts.uri.path().trim_start_matches("/admin/").to_owned();
    match (path.as_str(), path.strip_suffix("/fixity")) {
        ("stats", _) => stats::answer(&app, &mut parts).await,
        ("references", _) => references::answer(&app, &mut parts).await,
        ("tools", _) => tools::answer(&app, &mut parts).await,
        ("fixity", _) => tools::to_fixity(&parts),
        (_, Some(uid)) => return fixity(app, &mut parts, uid).await,
        _ => Err(Fault::missing("there is no such page")),
    }
    .unwrap_or_else(IntoResponse::into_response)
}

/// Whether the bytes of a resource of LAKEsuperior's dialect are as they were.
async fn fixity(app: App, parts: &mut Parts, uid: &str) -> Response {
    let uid = uid.trim_matches('/');
    let call = match within_dialect(parts, uid) {
        Ok(()) => Call::read(app, &LAKESUPERIOR, parts).await,
        Err(fault) => Err(fault),
    };
    match call {
        Ok(call) => {
            judged(call, async |call| {
                let checked = fixity::check(&call).await?;
                let uid = call.path().to_string();
                Ok(Json(serde_json::json!({ "uid": uid, "pass": checked.holds })).into_response())
            })
            .await
        }
        Err(fault) => fault.into_response(),
    }
}

/// Has a request name the resource as its dialect does.
fn within_dialect(parts: &mut Parts, uid: &str) -> Result<(), Fault> {
    let path: PathAndQuery = format!("{}/{uid}/fcr:fixity", LAKESUPERIOR.mount)
        .parse()
        .map_err(|_| Fault::bad("this is not an address"))?;
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    uri.path_and_query = Some(path);
    parts.uri = Uri::from_parts(uri).map_err(|_| Fault::bad("this is not an address"))?;
    Ok(())
}
