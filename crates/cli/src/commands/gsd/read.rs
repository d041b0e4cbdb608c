//! `cenote gsd read`: a Python interpreter with a file open in it, as `gsd read` has it.

use std::path::PathBuf;
use std::process::Command;

use crate::error::{CliError, Kind, Result};

/// Open a file in a Python interpreter, as `traj` and `handle`
///
/// Needs the Python package `cenote`. CENOTE_PYTHON names another interpreter than `python3`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: PathBuf,
    /// The schema of the file
    #[arg(long, short, default_value = "hoomd", value_parser = ["hoomd", "none"])]
    schema: String,
    /// The mode in which to open it
    #[arg(long, short, default_value = "r", value_parser = ["r", "r+", "w", "x", "a"])]
    mode: String,
}

impl Args {
    pub(super) fn run(self) -> Result<()> {
        let python = std::env::var_os("CENOTE_PYTHON").unwrap_or_else(|| "python3".into());
        let status = Command::new(&python)
            .args(["-m", "cenote.gsd", "read", "--schema", &self.schema, "--mode", &self.mode])
            .arg("--")
            .arg(&self.file)
            .status()
            .map_err(|e| {
                let told = format!("cannot start {}: {e}", python.display());
                CliError::new(Kind::Failed, told).hint("CENOTE_PYTHON names the interpreter")
            })?;
        if status.success() {
            return Ok(());
        }
        let told = CliError::new(Kind::Failed, "the interpreter ended with an error");
        Err(told.hint("`pip install cenote` installs the Python package"))
    }
}
