//! `cenote kdb merge`.

use cenote_keyset::{Format, Merged, Side};
use serde_json::json;

use super::file::{HowArgs, format, write_to};
use super::storage::KeyFile;
use crate::commands::kdb::keys::show::keys as shown;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Merge two key set files with a common ancestor.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Our file; `:/…` in the store, `-` for standard input
    #[arg(value_parser = KeyFile::parser())]
    ours: KeyFile,
    /// Their file
    #[arg(value_parser = KeyFile::parser())]
    theirs: KeyFile,
    /// The common ancestor
    #[arg(value_parser = KeyFile::parser())]
    base: KeyFile,
    /// The file to write; `-` for standard output
    #[arg(value_parser = KeyFile::parser())]
    result: KeyFile,
    /// Which value to use if both sides changed the same key
    #[arg(long, short = 's', value_enum, default_value_t = Strategy::Abort)]
    strategy: Strategy,
    /// Do not treat equal changes on both sides as a conflict
    #[arg(long)]
    same_change_agrees: bool,
    /// The format to write; the default follows from the result's extension
    #[arg(long, value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Strategy {
    /// None: write nothing and exit with code 12
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
        let merged = self.merge(session)?;
        let Some(keys) = merged.keys else {
            let names: Vec<_> =
                merged.conflicts.iter().map(|conflict| conflict.name.to_string()).collect();
            let message = format!("both sides changed {}", names.join(", "));
            return Err(CliError::new(Kind::Found, message)
                .hint("choose a side: --strategy ours or theirs"));
        };
        let format = self.to.or_else(|| self.result.by_extension()).unwrap_or(Format::Quickdump);
        write_to(session, &self.result, &keys, &self.how.parent, format)?;
        if self.result.is_pipe() {
            return Ok(());
        }
        let (count, conflicts) = (keys.len(), merged.conflicts.len());
        let line = json!({ "merged": count, "conflicts": conflicts });
        session
            .output
            .done(&line, |_| format!("Merged {}, {conflicts} with conflicts settled", shown(count)))
    }

    fn merge(&self, session: &Session) -> Result<Merged> {
        let read = |file| self.how.read(session, file);
        let (ours, theirs, base) = (read(&self.ours)?, read(&self.theirs)?, read(&self.base)?);
        let root = &self.how.parent;
        let [ours, theirs, base] = [&ours, &theirs, &base].map(|keys| Side { keys, root });
        let strategy = self.strategy.into();
        Ok(cenote_keyset::merge(ours, theirs, base, root, strategy, self.same_change_agrees))
    }
}
