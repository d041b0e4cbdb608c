//! `cenote kdb merge`.

use std::path::PathBuf;

use cenote_keyset::{Format, Merged, Side};
use serde_json::json;

use super::file::{HowArgs, by_extension, format, write_to};
use super::show::keys as shown;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Merge two files of keys that come from one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Our file
    ours: PathBuf,
    /// Their file
    theirs: PathBuf,
    /// The file that both come from
    base: PathBuf,
    /// The file to write; `-` for standard output
    result: PathBuf,
    /// Whose value to take where both changed one
    #[arg(long, short = 's', value_enum, default_value_t = Strategy::Abort)]
    strategy: Strategy,
    /// The same change on both sides is no conflict
    #[arg(long)]
    same_change_agrees: bool,
    /// The format to write; else the result's extension tells
    #[arg(long, value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Strategy {
    /// Neither: write nothing and exit with 12
    Abort,
    /// Ours
    Ours,
    /// Theirs
    Theirs,
}

impl From<Strategy> for cenote_keyset::Strategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Abort => Self::Abort,
            Strategy::Ours => Self::Ours,
            Strategy::Theirs => Self::Theirs,
        }
    }
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let merged = self.merge()?;
        let Some(keys) = merged.keys else {
            let names: Vec<_> =
                merged.conflicts.iter().map(|conflict| conflict.name.to_string()).collect();
            let message = format!("both sides changed {}", names.join(", "));
            return Err(CliError::new(Kind::Found, message)
                .hint("choose a side: --strategy ours or theirs"));
        };
        let format = self.to.or_else(|| by_extension(&self.result)).unwrap_or(Format::Quickdump);
        write_to(&self.result, &keys, &self.how.parent, format)?;
        if self.result.as_os_str() == "-" {
            return Ok(());
        }
        let (count, conflicts) = (keys.len(), merged.conflicts.len());
        let line = json!({ "merged": count, "conflicts": conflicts });
        session.output.done(&line, |_| {
            format!("Merged {}, {conflicts} with conflicts settled", shown(count))
        })
    }

    fn merge(&self) -> Result<Merged> {
        let (ours, theirs) = (self.how.read(&self.ours)?, self.how.read(&self.theirs)?);
        let base = self.how.read(&self.base)?;
        let root = &self.how.parent;
        let [ours, theirs, base] = [&ours, &theirs, &base].map(|keys| Side { keys, root });
        let strategy = self.strategy.into();
        Ok(cenote_keyset::merge(ours, theirs, base, root, strategy, self.same_change_agrees))
    }
}
