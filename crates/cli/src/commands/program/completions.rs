//! `cenote completions`: scripts for shells.

use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::complete::VARIABLE;
use crate::error::Result;
use crate::session::Session;

/// In bash a colon is the end of a word, unless it is configured otherwise.
const COLON: &str = "COMP_WORDBREAKS=${COMP_WORDBREAKS//:}\n";

/// Print a completion script for a shell.
///
/// The script calls the program for completions. These include paths in the store, if the settings name
/// a store and no password has to be entered.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "For example: cenote completions bash > ~/.local/share/bash-completion/completions/cenote"
)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let mut script = match self.shell {
            Shell::Bash => COLON.as_bytes().to_vec(),
            _ => Vec::new(),
        };
        let shell = Shells::builtins();
        let shell = shell.completer(&self.shell.to_string()).expect("each shell has a script");
        shell.write_registration(VARIABLE, "cenote", "cenote", "cenote", &mut script)?;
        session.output.bytes(&script)
    }
}
