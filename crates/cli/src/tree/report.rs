//! What a transfer of trees tells, and its flags.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use cenote_client::Client;
use cenote_client::transfer::{Observer, Options, Transfer};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::config::Settings;
use crate::error::{CliError, Result};
use crate::session::Session;
use crate::text;

/// The flags of transfers.
#[derive(Debug, clap::Args)]
pub(crate) struct TransferArgs {
    /// Requests under way at a time
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
    /// Print what would be done, and do nothing
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

impl TransferArgs {
    /// The transfer of these flags, which moves `bar`.
    pub(crate) fn transfer(
        &self,
        session: &Session,
        reads: Option<&ReadArgs>,
        bar: &ProgressBar,
    ) -> Result<Transfer> {
        let options = Options {
            jobs: self.jobs,
            verify: reads.is_none_or(|reads| !reads.no_verify),
            ranges_from: reads.filter(|reads| reads.ranges).map(|_| RANGES_FROM),
            journal: journal(&session.settings),
            ..Options::default()
        };
        let client: &Client = session.client()?;
        Ok(Transfer::new(client.clone(), options, Arc::new(Bar(bar.clone()))))
    }
}

/// Smaller files are not worth several requests, in bytes.
const RANGES_FROM: u64 = 64 << 20;

/// The flags of transfers out of the store.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// Do not compare what comes with the store's checksum
    #[arg(long)]
    no_verify: bool,
    /// Get large objects in ranges side by side: faster from afar, but begun anew if interrupted
    #[arg(long)]
    ranges: bool,
}

/// Interrupted uploads are remembered beside the configuration.
fn journal(settings: &Settings) -> Option<PathBuf> {
    Some(settings.file()?.parent()?.join("uploads"))
}

#[derive(Debug)]
struct Bar(ProgressBar);

impl Observer for Bar {
    fn moved(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}

/// Counts what is done, and says it.
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
        // Directories come along; what counts is what is in them.
        self.summary.transferred += u64::from(size.is_some());
        self.summary.bytes += size.unwrap_or(0);
        self.line(self.verb, path, size)
    }

    pub(super) fn updated(&mut self, path: &str) -> Result<()> {
        self.summary.updated += 1;
        self.line("update", path, None)
    }

    pub(super) fn removed(&mut self, path: &str) -> Result<()> {
        self.summary.removed += 1;
        self.line("remove", path, None)
    }

    pub(super) fn unchanged(&mut self, number: u64) {
        self.summary.unchanged += number;
    }

    pub(super) fn failed(&mut self, path: &str, error: impl Into<CliError>) {
        self.summary.failed += 1;
        self.session.failed(path, &error.into());
    }

    /// People see each line of a dry run only: of a real one they see the sum.
    fn line(&self, action: &'static str, path: &str, size: Option<u64>) -> Result<()> {
        if !self.session.output.is_json() && !self.dry_run {
            return Ok(());
        }
        let line = Line { action, path, size, dry_run: self.dry_run };
        self.session.output.done(&line, |line| format!("would {} {}", line.action, line.path))
    }

    /// Says the sum; an error if anything failed.
    pub(super) fn finish(self) -> Result<()> {
        let verb = self.verb;
        self.session.output.done(&self.summary, |summary| told(verb, summary))?;
        match self.summary.failed {
            0 => Ok(()),
            failed => Err(CliError::partial(failed)),
        }
    }
}

fn told(verb: &str, summary: &Summary) -> String {
    let would = if summary.dry_run { "would " } else { "" };
    let mut parts = vec![format!(
        "{would}{verb} {}, {}",
        text::count(summary.transferred, "file"),
        text::size(summary.bytes)
    )];
    let others = [
        (summary.updated, "updated"),
        (summary.removed, "removed"),
        (summary.unchanged, "unchanged"),
    ];
    parts.extend(
        others.iter().filter(|(number, _)| *number > 0).map(|(n, word)| format!("{n} {word}")),
    );
    parts.join("; ")
}
