//! The iRODS opening: the HTTP API that iRODS clients speak, over the same tree, users and
//! descriptions as every other opening (`docs/irods.md`).
//!
//! The zone is a name in front of the store's root: `/tempZone/home/ada` is `/home/ada`. Any
//! version in the address is accepted, since clients hard-code different ones.
//!
//! * `call` takes a request apart, `endpoint` finds who answers it;
//! * `rest` is the older interface, irods-rest, over the same operations;
//! * one file a family of operations; `code` has the numbers, and every translation into them.

mod answer;
mod body;
mod call;
mod checksums;
mod code;
mod collections;
mod data_objects;
mod endpoint;
mod form;
mod hierarchy;
mod identity;
mod intake;
mod listing;
mod lock;
mod lpath;
mod metadata;
mod notes;
mod parallel;
mod permissions;
mod query;
mod read;
mod replicas;
mod resources;
mod rest;
mod rules;
mod specific;
mod stat;
mod target;
mod tickets;
mod trash;
mod users;
mod watch;
mod write;
mod zones;

use std::time::Duration;

use axum::Router;
use axum::routing::any;
use cenote_store::{Clock, Store, SystemClock};

use crate::app::App;

/// All routes of the opening.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/irods-http-api/{version}/{endpoint}", any(endpoint::answer))
        .route("/irods-rest/{version}/{*operation}", any(rest::answer))
}

/// How often what waits for its time is looked at.
const PACE: Duration = Duration::from_secs(10);

/// Runs delayed rules, and forgets abandoned parallel writes, until it is dropped.
pub(crate) async fn maintain(app: App) {
    loop {
        tokio::time::sleep(PACE).await;
        if let Err(problem) = app.ask(maintain_once).await {
            tracing::warn!(target: "cenote::irods", %problem, "upkeep failed");
        }
    }
}

fn maintain_once(store: &Store) -> cenote_store::Result<()> {
    let now = SystemClock.now();
    rules::run_due(store, now)?;
    lock::sweep(store, now)
}
