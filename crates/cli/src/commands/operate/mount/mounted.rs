//! The mounts of this program, in the list of the kernel (`/proc/self/mountinfo`, see `proc_pid_mountinfo(5)`).

use std::io;
use std::path::{Path, PathBuf};

use cenote_mount::STATUS;
use rustix::io::Errno;

use crate::error::{CliError, Kind, Result};

/// More than any status has, but for one of very many files.
const MOST: usize = 1 << 20;

/// The path of a directory as the kernel has it: also of one that no longer responds.
pub(in crate::commands::operate) fn resolved(dir: &Path) -> io::Result<PathBuf> {
    let whole = std::path::absolute(dir)?;
    if let Ok(resolved) = whole.canonicalize() {
        return Ok(resolved);
    }
    let above = whole.parent().and_then(|above| above.canonicalize().ok());
    Ok(above.zip(whole.file_name()).map_or_else(|| whole.clone(), |(above, name)| above.join(name)))
}

/// Whether what is mounted at a resolved path is a mount of this program.
pub(in crate::commands::operate) fn is_ours(at: &Path) -> io::Result<bool> {
    let mounts = mounts()?;
    Ok(top(&mounts, at).is_some_and(|(kind, source)| is_named(kind, source)))
}

/// Whether a directory has something that a mount hides. The place of an automount is not read: that would wait for the mount.
pub(super) fn hides_something(dir: &Path) -> io::Result<bool> {
    let (mounts, at) = (mounts()?, resolved(dir)?);
    match top(&mounts, &at) {
        Some(("autofs", _)) => Ok(false),
        _ => Ok(std::fs::read_dir(at)?.next().is_some()),
    }
}

fn mounts() -> io::Result<String> {
    Ok(String::from_utf8_lossy(&std::fs::read("/proc/self/mountinfo")?).into_owned())
}

/// The type and the source of the mount that is on top at a path.
fn top<'m>(mounts: &'m str, at: &Path) -> Option<(&'m str, &'m str)> {
    let here =
        |line: &&str| Some(at) == line.split(' ').nth(4).map(unescape).as_deref().map(Path::new);
    let (_, of) = mounts.lines().rfind(here)?.split_once(" - ")?;
    let mut of = of.split(' ');
    Some((of.next()?, of.next()?))
}

/// A mount of `--dxfuse` has the source that dxfuse gives its own. Of the two, dxfuse itself is not told apart: ending its mount does the same.
fn is_named(kind: &str, source: &str) -> bool {
    let is_named = source.starts_with("cenote:") || source == "dxfuse";
    kind == "fuse.cenote" || (kind == "fuse" && is_named)
}

/// A path as the kernel writes it: some characters as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(byte) => {
                path.push(char::from(byte));
                path.push_str(&part[3..]);
            }
            None => path.push_str(part),
        }
    }
    path
}

/// The status of the mount at a directory, as the mount says it.
pub(super) fn status(dir: &Path) -> Result<Vec<u8>, Errno> {
    let mut value = vec![0; MOST];
    let length = rustix::fs::getxattr(dir, STATUS, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}

/// Why a mount does not say its status, or that there is none.
pub(super) fn without_status(dir: &Path, error: Errno) -> CliError {
    let shown = dir.display();
    if !resolved(dir).and_then(|at| is_ours(&at)).unwrap_or(false) {
        return match error {
            Errno::NOENT => CliError::new(Kind::NotFound, format!("no such directory: {shown}")),
            _ => CliError::new(Kind::NotFound, format!("no store is mounted at {shown}"))
                .hint("name the directory that was given to `cenote mount`"),
        };
    }
    let end = format!("end the mount: cenote umount {shown}");
    match error {
        Errno::NOTCONN | Errno::CONNABORTED => ended(dir),
        Errno::NOENT | Errno::STALE => CliError::new(
            Kind::NotFound,
            format!("a store is mounted at {shown}, but the mounted collection was removed"),
        )
        .hint(end),
        Errno::ACCESS | Errno::PERM => CliError::new(
            Kind::Denied,
            format!("a store is mounted at {shown}, but you may not see it: the login of the mount has ended, or it is the mount of another user"),
        )
        .hint("log in again with `cenote login`, end the mount with `cenote umount`, and mount again"),
        _ => CliError::new(
            Kind::Unavailable,
            format!("a store is mounted at {shown}, but it does not respond: {}", io::Error::from(error)),
        )
        .hint("look at the log of the mount, and whether the server is running"),
    }
}

/// The process of a mount is gone, but the kernel still has the mount.
fn ended(dir: &Path) -> CliError {
    let shown = dir.display();
    let message = format!("a store is mounted at {shown}, but the process of the mount has ended");
    CliError::new(Kind::Failed, message)
        .hint(format!("run `cenote umount {shown}`, and mount again"))
}

/// Refuses a directory where a store is mounted already: the new mount would hide it.
pub(super) fn require_none(dir: &Path) -> Result<()> {
    if !is_ours(&resolved(dir)?)? {
        return Ok(());
    }
    if status(dir) == Err(Errno::NOTCONN) {
        return Err(ended(dir).of_kind(Kind::Exists));
    }
    let shown = dir.display();
    Err(CliError::new(Kind::Exists, format!("a store is already mounted at {shown}")).hint(
        format!("`cenote mount --status {shown}` shows it, and `cenote umount {shown}` ends it"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_mounts_are_read_as_the_kernel_writes_them() {
        assert_eq!(unescape(r"/mnt/a\040b\134c"), r"/mnt/a b\c");
        assert_eq!(unescape(r"/mnt/a"), "/mnt/a");
    }

    #[test]
    fn mounts_of_this_program_are_found_under_both_names() {
        let line = |of: &str| format!("36 35 0:42 / /mnt/a\\040b rw,nosuid shared:1 - {of} rw\n");
        let is_ours = |of: &[&str]| {
            let mounts: String = of.iter().copied().map(line).collect();
            top(&mounts, Path::new("/mnt/a b")).is_some_and(|(kind, source)| is_named(kind, source))
        };
        for ours in [
            "fuse.cenote cenote:http://h/lab",
            "fuse.cenote dxfuse",
            "fuse cenote:x",
            "fuse dxfuse",
        ] {
            assert!(is_ours(&["ext4 /dev/sda", ours]), "{ours}");
            assert!(!is_ours(&[ours, "ext4 /dev/sda"]), "it is below another mount: {ours}");
        }
        for other in ["fuse.sshfs cenote:x", "ext4 /dev/sda", "fuse rclone", "nfs cenote:/x"] {
            assert!(!is_ours(&[other]), "{other}");
        }
    }
}
