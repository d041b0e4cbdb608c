//! Too many requests at a time are turned away at once, so that those under way end.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// Works on the request, unless as many as allowed are being worked on.
pub(crate) async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    let Ok(_permit) = app.permits().try_acquire() else {
        return Problem::new(ProblemKind::Overloaded, "too many requests at a time")
            .with_hint("try again in a second")
            .into_response();
    };
    next.run(request).await
}
