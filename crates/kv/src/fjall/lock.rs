//! One engine at a time has the directory open.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use super::io;
use crate::{Error, Result};

/// Held as long as the engine or one of its snapshots lives; the kernel lets go of it
/// when the process ends in whatever way.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    pub(super) fn acquire(dir: &Path) -> Result<Self> {
        let path = dir.join("engine.lock");
        let file = File::options().create(true).append(true).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked),
            Err(TryLockError::Error(error)) => Err(io(error)),
        }
    }
}

/// Removes what a creation left that was killed before its end: fjall writes its version
/// marker last and refuses to create over what came before. Without the marker nothing
/// was ever acknowledged. The caller holds the lock.
pub(super) fn clear_unfinished_creation(dir: &Path) -> Result<()> {
    let marker = dir.join("version");
    if std::fs::metadata(&marker).is_ok_and(|marker| marker.len() > 0) {
        return Ok(());
    }
    for left in [marker, dir.join("0.jnl")] {
        match std::fs::remove_file(left) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
    }
    Ok(())
}
