//! One engine at a time has the directory open.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::io;
use crate::{Error, Result};

/// Held as long as the engine or one of its snapshots lives; the kernel releases it when the
/// process ends for any reason.
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
