//! Requests that are not streams have a time to be answered in.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cenote_store::ErrorKind;

use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// Answers in time, or with a problem. Work on the catalog that has begun still ends.
pub(crate) async fn time_limit(State(app): State<App>, request: Request, next: Next) -> Response {
    let limit = app.limits().request();
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let detail = format!("no answer within {} s", limit.as_secs());
            Problem::new(ProblemKind::Store(ErrorKind::Unavailable), detail)
                .with_hint("a change may still happen: look before trying again")
                .into_response()
        }
    }
}
