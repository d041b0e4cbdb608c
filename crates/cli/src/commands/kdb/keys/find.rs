//! `cenote kdb find`.

use regex::bytes::RegexBuilder;

use super::ls::show_name;
use crate::commands::kdb::documents::file::{FileArgs, wrong};
use crate::error::Result;
use crate::session::Session;

/// List the names of the keys that match a regular expression; with --json the whole keys.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// The regular expression; it may match any part of the full name
    regex: String,
    /// Ignore case
    #[arg(short, long)]
    ignore_case: bool,
    /// End each name with a NUL
    #[arg(short = '0', long)]
    null: bool,
}

impl Args {
    pub(crate) fn run(self, session: &Session) -> Result<()> {
        let regex = RegexBuilder::new(&self.regex).case_insensitive(self.ignore_case).build();
        let regex = regex.map_err(wrong)?;
        let opened = self.file.open(session)?;
        let mut found = opened.keys.iter().filter(|key| regex.is_match(&key.name().to_bytes()));
        found.try_for_each(|key| show_name(session, key, self.null))
    }
}
