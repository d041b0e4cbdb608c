//! `cenote umount`: ends mounts.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::mount::mounted;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// End mounts of `cenote mount`.
///
/// A mount in use cannot be ended: close what is open in it first. What was written and closed is in
/// the store already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directories where the store is mounted
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Detach the mount at once, and end it when nothing in it is in use any more
    #[arg(long)]
    lazy: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        for dir in &self.dirs {
            let at = mounted::resolved(dir)?;
            require_mount(&at)?;
            unmount(&at, self.lazy)?;
            let line = serde_json::json!({ "unmounted": dir });
            session.output.item(&line, |_| format!("unmounted {}", dir.display()))?;
        }
        Ok(())
    }
}

/// Refuses a directory where no store is mounted.
fn require_mount(at: &Path) -> Result<()> {
    match mounted::is_ours(at)? {
        true => Ok(()),
        false => {
            let message = format!("no store is mounted at {}", at.display());
            Err(CliError::new(Kind::NotFound, message))
        }
    }
}

fn unmount(at: &Path, lazy: bool) -> Result<()> {
    let ways = [("fusermount3", "-u", "-z"), ("fusermount", "-u", "-z"), ("umount", "-i", "-l")];
    for (program, flag, lazily) in ways {
        let mut command = Command::new(program);
        command.arg(flag).args(lazy.then_some(lazily)).arg("--").arg(at);
        let Ok(done) = command.output() else { continue };
        if done.status.success() {
            return Ok(());
        }
        let why = String::from_utf8_lossy(&done.stderr).trim().to_owned();
        return Err(CliError::new(Kind::Failed, format!("it cannot be unmounted: {why}"))
            .hint("close what is open in it, or use --lazy"));
    }
    Err(CliError::new(Kind::Failed, "there is neither fusermount3 nor umount on this machine")
        .hint("install fuse3"))
}
