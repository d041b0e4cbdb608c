//! The folder where dxfuse keeps its log and the manifest that it shows, under their names.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cenote_mount::Log;
use jiff::Timestamp;

use crate::commands::operate::mount::manifest::Manifest;
use crate::commands::operate::mount::running::caller;
use crate::error::{CliError, Kind, Result};

/// The state folder.
#[derive(Debug, Clone)]
pub(super) struct StateFolder(PathBuf);

impl StateFolder {
    /// Makes it, unless it is there.
    pub(super) fn open(given: Option<&Path>) -> Result<Self> {
        let dir = given.map_or_else(|| home().join(".dxfuse"), Path::to_owned);
        if !dir.is_dir() {
            DirBuilder::new().mode(0o700).create(&dir).map_err(|error| {
                CliError::new(Kind::Failed, format!("the state folder {}: {error}", dir.display()))
                    .hint("name a folder in one that exists: -stateFolder DIR")
            })?;
        }
        Ok(Self(dir))
    }

    pub(super) fn log_path(&self) -> PathBuf {
        self.0.join("dxfuse.log")
    }

    /// Begins the log anew.
    pub(super) fn begin_log(&self) -> Result<DaemonLog> {
        let mut options = OpenOptions::new();
        let file =
            options.write(true).create(true).truncate(true).mode(0o600).open(self.log_path())?;
        Ok(DaemonLog(Arc::new(Mutex::new(file))))
    }

    /// Writes down what is shown.
    pub(super) fn keep_manifest(&self, manifest: &Manifest) -> Result<()> {
        let text = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::from)?;
        Ok(std::fs::write(self.0.join("dxfuse_manifest.json"), text)?)
    }
}

/// The home of the user in the list of users: dxfuse looks there, not at `HOME`.
fn home() -> PathBuf {
    let user = caller().map(|caller| caller.uid.to_string()).unwrap_or_default();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let home = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&user.as_str())).then(|| fields.get(5).map(PathBuf::from)).flatten()
    });
    home.or_else(|| std::env::var_os("HOME").map(PathBuf::from)).unwrap_or_default()
}

/// The log of a mount.
#[derive(Debug, Clone)]
pub(super) struct DaemonLog(Arc<Mutex<File>>);

impl DaemonLog {
    pub(super) fn line(&self, module: &str, text: impl std::fmt::Display) {
        let time = Timestamp::now().strftime("%H:%M:%S%.3f");
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The mount continues without a log that cannot be written.
        let _unwritten = writeln!(file, "dxfuse: {time} {module}: {text}");
    }

    /// Takes the faults of a mount.
    pub(super) fn of_faults(&self) -> Log {
        let log = self.clone();
        Log(Arc::new(move |fault| log.line("dxfuse", fault)))
    }
}
