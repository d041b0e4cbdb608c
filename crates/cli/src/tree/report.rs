//! The report of a transfer of trees.

use serde::Serialize;

use crate::error::{CliError, Result};
use crate::session::Session;
use crate::text;

/// Counts and reports changes.
#[derive(Debug)]
pub(super) struct Report<'a> {
    session: &'a Session,
    verb: &'static str,
    dry_run: bool,
    summary: Summary,
}

#[derive(Debug, Default, Serialize)]
struct Summary {
    action: &'static str,
    transferred: u64,
    bytes: u64,
    updated: u64,
    described: u64,
    removed: u64,
    unchanged: u64,
    failed: u64,
    dry_run: bool,
}

#[derive(Serialize)]
struct Line<'a> {
    action: &'static str,
    path: &'a str,
    size: Option<u64>,
    dry_run: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(session: &'a Session, verb: &'static str, dry_run: bool) -> Self {
        let summary = Summary { action: "summary", dry_run, ..Summary::default() };
        Self { session, verb, dry_run, summary }
    }

    pub(super) fn transferred(&mut self, path: &str, size: Option<u64>) -> Result<()> {
        // Directories are not counted, only their contents.
        self.summary.transferred += u64::from(size.is_some());
        self.summary.bytes += size.unwrap_or(0);
        self.line(self.verb, path, size)
    }

    pub(super) fn updated(&mut self, path: &str) -> Result<()> {
        self.summary.updated += 1;
        self.line("update", path, None)
    }

    pub(super) fn described(&mut self, path: &str) -> Result<()> {
        self.summary.described += 1;
        self.line("describe", path, None)
    }

    pub(super) fn removed(&mut self, path: &str) -> Result<()> {
        self.summary.removed += 1;
        self.line("remove", path, None)
    }

    pub(super) fn unchanged(&mut self, number: u64) {
        self.summary.unchanged += number;
    }

    /// Reports why one item failed; returns an error if every other item would fail in the same way.
    pub(super) fn failed(&mut self, path: &str, error: impl Into<CliError>) -> Result<()> {
        let error = error.into();
        if error.ends_all() {
            return Err(
                error.hint("run the same command again: completed transfers are not repeated")
            );
        }
        self.summary.failed += 1;
        self.session.failed(path, &error);
        Ok(())
    }

    /// Reports that something was done, or why it was not.
    pub(super) fn outcome(
        &mut self,
        path: &str,
        outcome: std::result::Result<(), impl Into<CliError>>,
        success: impl FnOnce(&mut Self, &str) -> Result<()>,
    ) -> Result<()> {
        match outcome {
            Ok(()) => success(self, path),
            Err(error) => self.failed(path, error),
        }
    }

    /// Without --json only a dry run prints each line; a real one prints just the summary.
    fn line(&self, action: &'static str, path: &str, size: Option<u64>) -> Result<()> {
        if !self.session.output.is_json() && !self.dry_run {
            return Ok(());
        }
        let line = Line { action, path, size, dry_run: self.dry_run };
        self.session.output.done(&line, |line| format!("would {} {}", line.action, line.path))
    }

    /// Reports the summary; returns an error if anything failed.
    pub(super) fn finish(self) -> Result<()> {
        let verb = self.verb;
        self.session.output.done(&self.summary, |summary| summary_line(verb, summary))?;
        match self.summary.failed {
            0 => Ok(()),
            failed => Err(CliError::partial(failed)),
        }
    }
}

fn summary_line(verb: &str, summary: &Summary) -> String {
    let would = if summary.dry_run { "would " } else { "" };
    let mut parts = vec![format!(
        "{would}{verb} {}, {}",
        text::count(summary.transferred, "file"),
        text::size(summary.bytes)
    )];
    let others = [
        (summary.updated, "updated"),
        (summary.described, "described"),
        (summary.removed, "removed"),
        (summary.unchanged, "unchanged"),
    ];
    parts.extend(
        others.iter().filter(|(number, _)| *number > 0).map(|(n, word)| format!("{n} {word}")),
    );
    parts.join("; ")
}
