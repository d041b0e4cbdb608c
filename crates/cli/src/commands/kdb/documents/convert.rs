//! `cenote kdb convert`.

use cenote_keyset::Format;

use super::file::{HowArgs, format, write_to};
use super::storage::KeyFile;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Write the keys of one file to another, in another format.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to read; `:/…` in the store, `-` for standard input
    #[arg(value_parser = KeyFile::parser())]
    input: KeyFile,
    /// The file to write; `:/…` in the store, `-` for standard output
    #[arg(default_value = "-", value_parser = KeyFile::parser())]
    output: KeyFile,
    /// The format to write; the default follows from the output's extension
    #[arg(long, value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    how: HowArgs,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let format = self.to.or_else(|| self.output.by_extension()).ok_or_else(|| {
            CliError::new(Kind::Usage, "unknown output format")
                .hint("choose one with --to: quickdump, dump, json, toml or ini")
        })?;
        let keys = self.how.read(session, &self.input)?;
        write_to(session, &self.output, &keys, &self.how.parent, format)
    }
}
