//! The command line as a whole: what every verb shares.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::Command;

const PATHS: &str = "\
Paths: where a path may be here or in the store (cp, sync), one in the store is written with a
colon before it, as in `:/lab/run7`. Everywhere else `/lab/run7` will do, and `:/lab/run7` is
understood.

Exit codes:
  0  done
  1  failed for another reason
  2  the command line or the configuration is wrong
  3  nothing is there
  4  the name is taken, or what is there is of another kind
  5  you may not do that
  6  who you are could not be verified
  7  it has changed meanwhile
  8  bytes differ from their checksum, or are damaged
  9  no room, or too large
  10 the store cannot be reached or takes no changes now
  11 some of many items failed; the others are done
  12 a check found differences
  130 interrupted";

/// One store for what researchers keep, opened through the protocols and tools they already use.
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
    /// Who you are; on a directory you are its administrator otherwise [env: CENOTE_USER]
    #[arg(long, global = true, value_name = "NAME", help_heading = "Store")]
    pub(crate) user: Option<String>,
    /// A ticket to show [env: CENOTE_TICKET]
    #[arg(long, global = true, value_name = "TICKET", help_heading = "Store")]
    pub(crate) ticket: Option<String>,
    /// The configuration file [env: CENOTE_CONFIG]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Store")]
    pub(crate) config: Option<PathBuf>,
    /// Print one JSON object a line
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,
    /// Show no progress bars (they are only ever shown on a terminal)
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) no_progress: bool,
    /// Print results and errors only
    #[arg(long, short, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,
}
