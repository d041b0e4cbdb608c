//! The status of the server for monitoring.

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cenote_store::{ErrorKind, Health};

use crate::app::App;
use crate::front::front;
use crate::problem::{Problem, ProblemKind};

/// `/`, `/metrics`, `/healthz` and `/readyz`; for all callers.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/", get(front))
        .route("/metrics", get(metrics))
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
}

async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let text = app.metrics().text(app.store());
    let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, format)], text)
}

/// Ready to take requests of every kind: the catalog answers and takes changes.
async fn ready(State(app): State<App>) -> Result<Response, Problem> {
    if let Health::ReadOnly(cause) = app.store().health() {
        let kind = ProblemKind::Store(ErrorKind::ReadOnly);
        return Err(Problem::new(kind, format!("read-only since a write failed: {cause}"))
            .with_hint("restart the server once the disk works again"));
    }
    app.blocking(|store| store.anonymous().map(drop)).await?;
    Ok("ready\n".into_response())
}
