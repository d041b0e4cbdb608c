//! `cenote kdb convert`.

use std::path::PathBuf;

use cenote_keyset::Format;

use super::file::{HowArgs, by_extension, format, write_to};
use crate::error::{CliError, Kind, Result};

/// Write the keys of one file to another, in another format.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to read; `-` for standard input
    input: PathBuf,
    /// The file to write; `-` for standard output
    #[arg(default_value = "-")]
    output: PathBuf,
    /// The format to write; else the output's extension tells
    #[arg(long, value_parser = format)]
    to: Option<Format>,
    #[command(flatten)]
    how: HowArgs,
}

impl Args {
    pub(crate) fn run(self) -> Result<()> {
        let format = self.to.or_else(|| by_extension(&self.output)).ok_or_else(|| {
            CliError::new(Kind::Usage, "the format to write is not known")
                .hint("name it: --to quickdump, dump, json, toml or ini")
        })?;
        let keys = self.how.read(&self.input)?;
        write_to(&self.output, &keys, &self.how.parent, format)
    }
}
