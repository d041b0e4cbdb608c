//! `cenote man`: the help as manual pages.

use std::path::PathBuf;

use clap::CommandFactory;

use crate::args::Cli;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Write the manual pages into a directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example: cenote man ~/.local/share/man/man1, then: man cenote-put")]
pub(crate) struct Args {
    /// The directory; it is created if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let write = || {
            std::fs::create_dir_all(&self.dir)?;
            clap_mangen::generate_to(Cli::command(), &self.dir)
        };
        write().map_err(|error| {
            CliError::new(Kind::Failed, format!("{error}: {}", self.dir.display()))
        })?;
        let line = serde_json::json!({ "action": "write", "dir": self.dir });
        session.output.done(&line, |_| format!("pages are in {}", self.dir.display()))
    }
}
