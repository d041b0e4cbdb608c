//! `cenote completions`: scripts for shells.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::Result;
use crate::session::Session;

/// Print a completion script for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "For example: cenote completions bash > ~/.local/share/bash-completion/completions/cenote")]
pub(crate) struct Args {
    /// Which shell
    shell: Shell,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "cenote", &mut script);
        session.output.bytes(&script)
    }
}
