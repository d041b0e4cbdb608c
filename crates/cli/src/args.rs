//! The command line as a whole: what every verb shares.

use std::path::PathBuf;

use cenote_client::settings::Given;
use clap::{Args, Parser};

use crate::commands::Command;

const PATHS: &str = "\
Paths: where a path may be local or in the store (cp, sync), write a colon before a path in the
store, as in `:/lab/run7`. Everywhere else the colon is optional: `/lab/run7` and `:/lab/run7` are
the same.

Exit codes:
  0  success
  1  any other failure
  2  the command line or the configuration is wrong
  3  not found
  4  the name is taken, or the resource is of another kind
  5  permission denied
  6  authentication failed
  7  it was changed in the meantime
  8  checksum mismatch, or damaged data
  9  no space left, or too large
  10 the store cannot be reached, or does not accept changes now
  11 some of several items failed; the others succeeded
  12 a check found differences
  13 no longer kept: a past state, a position of the change feed, or a change set that has ended
  130 interrupted";

/// One store for research data, accessible through the protocols and tools that researchers already use.
#[derive(Debug, Parser)]
#[command(name = "cenote", version, max_term_width = 100, after_long_help = PATHS)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every verb understands.
#[derive(Debug, Default, Args)]
pub(crate) struct GlobalArgs {
    /// The store: a server's address, or a store's directory on this machine [env: CENOTE_URL]
    #[arg(long, global = true, value_name = "URL|DIR", help_heading = "Store")]
    pub(crate) store: Option<String>,
    /// The user to act as; the default on a directory is its administrator [env: CENOTE_USER]
    #[arg(long, global = true, value_name = "NAME", help_heading = "Store")]
    pub(crate) user: Option<String>,
    /// A ticket to use [env: CENOTE_TICKET]
    #[arg(long, global = true, value_name = "TICKET", help_heading = "Store")]
    pub(crate) ticket: Option<String>,
    /// The change set that the command is part of [env: CENOTE_CHANGESET]
    #[arg(long, global = true, value_name = "ID", help_heading = "Store")]
    pub(crate) changeset: Option<String>,
    /// The configuration file [env: CENOTE_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Store")]
    pub(crate) config: Option<PathBuf>,
    /// Print one JSON object per line
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Do not show progress bars (they are shown only on a terminal)
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) no_progress: bool,
    /// Print only results and errors
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}

impl GlobalArgs {
    /// The settings among them.
    pub(crate) fn given(&self) -> Given {
        let flags = [
            ("url", "flag --store", &self.store),
            ("user", "flag --user", &self.user),
            ("ticket", "flag --ticket", &self.ticket),
            ("changeset", "flag --changeset", &self.changeset),
        ];
        let values =
            flags.into_iter().filter_map(|(name, flag, value)| Some((name, flag, value.clone()?)));
        Given { config: self.config.clone(), values: values.collect() }
    }
}
