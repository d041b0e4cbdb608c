//! The output that the commands of this room share: the progress of a copy, its summary, and its errors.

use std::sync::Arc;

use cenote_server::embedded::OpenError;
use cenote_store::{Copied, CopyProgress, Watch};
use serde::Serialize;

use crate::connect::not_opened;
use crate::error::CliError;
use crate::session::Session;
use crate::text::size;

/// What was copied.
#[derive(Debug, Serialize)]
pub(super) struct Summary {
    /// The directory of the copy.
    directory: String,
    /// Rows of the catalog.
    rows: u64,
    /// SHA-256 over all of them but the one that makes it a store.
    rows_sha256: String,
    /// Contents outside of the catalog.
    contents: u64,
    /// Their bytes.
    bytes: u64,
    /// Contents that an earlier run had copied.
    present: u64,
    /// Contents that are in other places.
    elsewhere: u64,
    /// Contents that could not be copied, and why.
    damaged: Vec<Damaged>,
}

#[derive(Debug, Serialize)]
struct Damaged {
    blob: String,
    message: String,
}

impl Summary {
    pub(super) fn new(directory: &std::path::Path, copied: &Copied) -> Self {
        let Copied { rows, blobs } = copied;
        let damaged = blobs
            .damaged
            .iter()
            .map(|one| Damaged { blob: one.blob.to_string(), message: one.what.clone() });
        Self {
            directory: directory.display().to_string(),
            rows: rows.rows + 1,
            rows_sha256: rows.sha256.iter().map(|byte| format!("{byte:02x}")).collect(),
            contents: blobs.copied,
            bytes: blobs.bytes,
            present: blobs.present,
            elsewhere: blobs.elsewhere,
            damaged: damaged.collect(),
        }
    }

    pub(super) fn shown(&self) -> String {
        let Self { rows, contents, present, elsewhere, .. } = self;
        let mut line = format!("copied {rows} rows, {contents} contents ({})", size(self.bytes));
        if *present > 0 {
            line += &format!("; {present} had been copied before");
        }
        if *elsewhere > 0 {
            line += &format!("; {elsewhere} stay in other places");
        }
        if !self.damaged.is_empty() {
            line += &format!("; {} are damaged and were left out", self.damaged.len());
        }
        line
    }
}

/// Shows how far a copy is.
pub(super) fn watch(session: &Session) -> Watch {
    let bar = session.progress.spinner();
    Arc::new(move |progress| {
        bar.set_message(match progress {
            CopyProgress::Rows(rows, bytes) => format!("{rows} rows, {}", size(bytes)),
            CopyProgress::Blobs(blobs, bytes) => format!("{blobs} contents, {}", size(bytes)),
        });
        bar.tick();
    })
}

/// Translates the failure of a copy to an error of the program.
pub(super) fn not_copied(error: OpenError) -> CliError {
    match error {
        OpenError::Store(error) => error.into(),
        error => not_opened(error),
    }
}
