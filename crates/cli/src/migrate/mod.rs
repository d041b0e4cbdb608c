//! Migrating resources of other servers into the store, one by one.
//!
//! * `dnanexus` brings a project of a server that speaks the DNAnexus API, `fedora` a repository of linked data.
//! * Here are the outcomes for each item, and how they are reported.

pub(crate) mod dnanexus;
pub(crate) mod fedora;

use std::path::Path;

use cenote_client::Body;
use serde::Serialize;

use crate::error::{CliError, Kind, Result};
use crate::output::Output;

/// How often an interrupted fetch of bytes is retried.
const ATTEMPTS: usize = 5;

/// What became of a thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Brought,
    Unchanged,
    /// It was left out, and why.
    Skipped(String),
}

/// What is counted of a thing: its outcome without the reason, or that it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutcomeKind {
    Brought,
    Unchanged,
    Skipped,
    Failed,
}

/// One line of `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) action: &'static str,
    pub(crate) id: &'a str,
    pub(crate) path: String,
    pub(crate) bytes: u64,
}

/// Reports the outcome for a resource; `skipped_hint` says where to find why it was skipped.
pub(crate) fn report_outcome(
    output: &Output,
    line: Line<'_>,
    skipped_hint: &str,
    outcome: Result<Outcome>,
) -> Result<OutcomeKind> {
    match outcome {
        Ok(Outcome::Brought) => {
            if output.is_json() {
                output.item(&line, |line| line.path.clone())?;
            }
            Ok(OutcomeKind::Brought)
        }
        Ok(Outcome::Unchanged) => Ok(OutcomeKind::Unchanged),
        Ok(Outcome::Skipped(why)) => {
            output.warn(&format!("left out {}: {why}", line.id), skipped_hint);
            Ok(OutcomeKind::Skipped)
        }
        Err(error) if error.ends_all() => Err(error),
        Err(error) => {
            output.warn(&format!("{}: {error}", line.id), "run the same command again");
            Ok(OutcomeKind::Failed)
        }
    }
}

/// Fails if some resources (`what` names them) were not migrated.
pub(crate) fn all_brought(failed: u64, what: &str) -> Result<()> {
    match failed {
        0 => Ok(()),
        _ => Err(CliError::new(Kind::Partial, format!("{failed} {what} were not copied"))
            .hint("run the same command again: completed transfers are not repeated")),
    }
}

/// Retries an operation that may be interrupted, unless everything else would fail, too.
pub(crate) async fn persist<F: Future<Output = Result<()>>>(attempt: impl Fn() -> F) -> Result<()> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match attempt().await {
            Err(error) if error.ends_all() => return Err(error),
            Err(error) => last = Some(error),
            Ok(()) => return Ok(()),
        }
    }
    Err(last.unwrap_or_else(|| CliError::new(Kind::Failed, "it was not copied")))
}

/// A secret that is alone in a file.
fn secret_in(file: &Path) -> Result<String> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        CliError::new(Kind::Usage, format!("cannot read {}: {error}", file.display()))
    })?;
    Ok(text.trim().to_owned())
}

/// A body without bytes.
fn empty() -> Body {
    cenote_client::body_of(bytes::Bytes::new())
}
