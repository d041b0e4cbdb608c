//! What `mv`, `cp`, `put` and `get` share: determining targets, and reporting what was done.

use cenote_client::{Client, Kept, ResourceKind};
use serde::Serialize;

use crate::error::{CliError, Kind, Result};
use crate::place::{StorePath, join};
use crate::session::Session;

/// A target in the store: a collection to put sources into, or the new path of a single source.
#[derive(Debug)]
pub(crate) struct Target {
    path: String,
    into: bool,
}

impl Target {
    /// Looks up `path`. Several sources require a collection.
    pub(crate) async fn find(client: &Client, path: &StorePath, sources: usize) -> Result<Self> {
        let there = client.find(path.as_str()).await?;
        let is_collection = there.as_ref().is_some_and(|r| r.kind == ResourceKind::Collection);
        if there.is_some() && !is_collection && (sources > 1 || path.is_into()) {
            let message = format!("not a collection: {path}");
            return Err(CliError::new(Kind::Exists, message).hint("take another target"));
        }
        Ok(Self { path: path.to_string(), into: is_collection || path.is_into() || sources > 1 })
    }

    /// The target path of a source with this name.
    pub(crate) fn path_for(&self, name: &str) -> String {
        if self.into { join(&self.path, name) } else { self.path.clone() }
    }
}

#[derive(Serialize)]
struct Done<'a> {
    action: &'static str,
    from: &'a str,
    to: &'a str,
    dry_run: bool,
    /// How the trash keeps what was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    trash: Option<Kept>,
}

/// Reports that a source was put at its target, or would be.
pub(crate) fn done(
    session: &Session,
    action: &'static str,
    from: &str,
    to: &str,
    dry_run: bool,
) -> Result<()> {
    report(session, &Done { action, from, to, dry_run, trash: None })
}

/// Reports a move that may have replaced something which the trash keeps.
pub(super) fn moved(session: &Session, from: &str, to: &str, trash: Option<Kept>) -> Result<()> {
    report(session, &Done { action: "move", from, to, dry_run: false, trash })
}

fn report(session: &Session, done: &Done<'_>) -> Result<()> {
    session.output.done(done, |Done { action, from, to, dry_run, trash }| {
        let would = if *dry_run { "would " } else { "" };
        let kept = |kept: &Kept| format!(" (replaced: cenote trash restore {} --to PATH)", kept.id);
        let kept = trash.as_ref().map(kept).unwrap_or_default();
        format!("{would}{action} {from} -> {to}{kept}")
    })
}
