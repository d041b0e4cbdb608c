//! `cenote gsd read`: a Python interpreter with a file open in it, as `gsd read` has it.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use tokio::runtime::Handle;
use tokio::signal::unix::{SignalKind, signal};

use super::file::GsdFile;
use crate::error::{CliError, Kind, Result};
use crate::place::{Place, StorePath};
use crate::session::Session;

/// Variables with credentials: those of this program's environment may belong to another store.
const WHO: [&str; 4] = ["CENOTE_TOKEN", "CENOTE_USER", "CENOTE_PASSWORD", "CENOTE_TICKET"];

/// Open a file in a Python interpreter, as `traj` and `handle`
///
/// This needs the Python package `cenote`. Set CENOTE_PYTHON to use an interpreter other than `python3`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A GSD file
    file: GsdFile,
    /// The schema of the file
    #[arg(long, short, default_value = "hoomd", value_parser = ["hoomd", "none"])]
    schema: String,
    /// The mode in which to open it
    #[arg(long, short, default_value = "r", value_parser = ["r", "r+", "w", "x", "a"])]
    mode: String,
}

impl Args {
    pub(super) fn run(self, session: &Session) -> Result<()> {
        if matches!(self.mode.as_str(), "r" | "r+") {
            // Its errors are reported in this program's words, and with its exit codes.
            self.file.open(session)?;
        }
        match self.file.place() {
            Place::Store(path) => self.interpret_remote(session, path),
            Place::Local(path) => self.interpret(path.as_os_str(), Command::new(python())),
            Place::Standard => {
                Err(CliError::new(Kind::Usage, "a GSD file cannot be read from a pipe"))
            }
        }
    }

    fn interpret_remote(&self, session: &Session, path: &StorePath) -> Result<()> {
        if self.mode != "r" {
            return Err(CliError::new(Kind::Usage, "a file in the store can only be read here")
                .hint("get it, change it, and put it back"));
        }
        let runtime = Handle::current();
        let reach = runtime.block_on(session.reach(path))?;
        let mut command = Command::new(python());
        for name in WHO {
            command.env_remove(name);
        }
        command.envs(reach.variables().iter().map(|(name, value)| (name, value)));
        let ended = self.interpret(reach.address(path).as_ref(), command);
        runtime.block_on(reach.close())?;
        ended
    }

    fn interpret(&self, file: &OsStr, mut command: Command) -> Result<()> {
        command.args(["-m", "cenote.gsd", "read", "--schema", &self.schema, "--mode", &self.mode]);
        // Control-C is handled by the interpreter.
        let _interrupts = signal(SignalKind::interrupt())?;
        let status = command.arg("--").arg(file).status().map_err(|e| not_started(&e))?;
        if status.success() {
            return Ok(());
        }
        let error = CliError::new(Kind::Failed, "the interpreter exited with an error");
        Err(if has_package() {
            error
        } else {
            error.hint("`pip install ./python` in a checkout of cenote installs the Python package")
        })
    }
}

fn python() -> std::ffi::OsString {
    std::env::var_os("CENOTE_PYTHON").unwrap_or_else(|| "python3".into())
}

fn not_started(error: &std::io::Error) -> CliError {
    let message = format!("cannot start {}: {error}", python().display());
    CliError::new(Kind::Failed, message).hint("set CENOTE_PYTHON to choose the interpreter")
}

fn has_package() -> bool {
    let mut command = Command::new(python());
    command.args(["-c", "import cenote.gsd"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
