//! The iRODS opening: the HTTP API that iRODS clients use, over the same tree, users and descriptions as
//! every other opening (`docs/irods.md`).
//!
//! The zone is a prefix of the store's paths: `/tempZone/home/ada` is `/home/ada`. Any version in the URL is
//! accepted, since clients hard-code different ones.
//!
//! * `call` turns a request into a call of an operation, and its outcome into a response; `call::code` has
//!   the error codes, and every translation into them;
//! * `rest` is the older interface, irods-rest, over the same operations;
//! * `tree`, `data_objects`, `queries`, `rules` and `zone` implement the operations, one file per family.

mod call;
mod data_objects;
mod queries;
mod rest;
mod rules;
mod tree;
mod zone;

use std::time::Duration;

use axum::Router;
use axum::routing::any;
use cenote_store::Store;

use crate::app::App;

/// All routes of this opening.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/irods-http-api/{version}/{endpoint}", any(call::endpoint::answer))
        .route("/irods-rest/{version}/{*operation}", any(rest::answer))
}

/// How often [`maintain`] checks for work that is due.
const PACE: Duration = Duration::from_secs(10);

/// Runs delayed rules and removes abandoned parallel writes while the background work is that of this server, until it is dropped.
pub(crate) async fn maintain(app: App) {
    loop {
        tokio::time::sleep(PACE).await;
        if !app.store().leads() {
            continue;
        }
        if let Err(problem) = app.blocking(maintain_once).await {
            tracing::warn!(target: "cenote::irods", %problem, "upkeep failed");
        }
    }
}

fn maintain_once(store: &Store) -> cenote_store::Result<()> {
    let now = store.now();
    rules::run_due(store, now)?;
    data_objects::lock::sweep(store, now)
}
