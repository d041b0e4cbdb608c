//! A mount as a process: in the foreground, or as a process of its own that is left when the files are there.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use cenote_mount::fuse::{self, KernelOptions};
use cenote_mount::{Fault, FileSystem, Ownership, Stale};
use cenote_server::stop_signal;
use jiff::Timestamp;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use crate::error::{CliError, Kind, Result};

/// Set in the process that a mount runs in.
const CHILD: &str = "CENOTE_MOUNT_PROCESS";

/// Whether this is the process that a mount runs in.
pub(super) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Mounts, announces that, and stays until it is unmounted or a signal ends it.
pub(super) async fn until_unmounted(
    (system, stale): (FileSystem, UnboundedReceiver<Stale>),
    dir: &Path,
    kernel: &KernelOptions,
    announce: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let stop = stop_signal()?;
    let mounted = fuse::mount(system.clone(), stale, dir, kernel).map_err(not_mounted)?;
    announce()?;
    let unmount = mounted.unmounter();
    let over = tokio::task::spawn_blocking(move || mounted.wait());
    tokio::pin!(over);
    tokio::select! {
        _ = &mut over => {}
        () = stop => {
            publish_open_files(&system).await;
            tokio::task::spawn_blocking(unmount).await.map_err(lost)??;
            let _ended = over.await;
        }
    }
    system.publish_all().await.map_err(explain)
}

/// Publishes what open files hold before the mount is detached, so that nothing is lost if this process is killed while programs still have files
/// open. A server that does not answer is waited for no longer than by other operations.
async fn publish_open_files(system: &FileSystem) {
    let published = system.clone();
    // What takes longer goes on.
    let publishing = tokio::spawn(async move { published.publish_all().await });
    if let Ok(Ok(Err(fault))) = timeout(system.options().deadline, publishing).await {
        (system.options().log.0)(&fault);
    }
}

/// The user and the group of this process.
pub(super) fn caller() -> Result<Ownership> {
    let me = std::fs::metadata("/proc/self")?;
    Ok(Ownership { uid: me.uid(), gid: me.gid() })
}

pub(super) fn now() -> SystemTime {
    Timestamp::now().into()
}

/// Runs the same command in the foreground of a process of its own, until the files are there; returns what it says then.
pub(super) async fn in_background() -> Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(crate::helper::arguments().into_iter().skip(1)).env(CHILD, "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let started = tokio::task::spawn_blocking(move || {
        use std::io::{BufRead, BufReader, Read};
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it is a pipe");
        BufReader::new(stdout).read_line(&mut line)?;
        if !line.is_empty() {
            return Ok(Ok(line));
        }
        let mut why = String::new();
        child.stderr.take().expect("it is a pipe").read_to_string(&mut why)?;
        std::io::Result::Ok(Err((child.wait()?.code(), why)))
    });
    match started.await.map_err(lost)?? {
        Ok(line) => Ok(line),
        Err((code, why)) => {
            let _closed = std::io::stderr().write_all(why.as_bytes());
            std::process::exit(code.unwrap_or(1));
        }
    }
}

fn lost(_: tokio::task::JoinError) -> CliError {
    CliError::new(Kind::Failed, "the mount ended unexpectedly")
}

pub(super) fn explain(fault: Fault) -> CliError {
    let kind = match fault.errno {
        libc::ENOENT => Kind::NotFound,
        libc::EACCES => Kind::Denied,
        libc::ENOTDIR | libc::EBUSY => Kind::Exists,
        _ => Kind::Unavailable,
    };
    CliError::new(kind, fault.to_string())
}

fn not_mounted(error: std::io::Error) -> CliError {
    CliError::new(Kind::Failed, format!("it cannot be mounted: {error}"))
        .hint("mounting needs /dev/fuse and, unless you are root, fusermount3 (package fuse3)")
}
