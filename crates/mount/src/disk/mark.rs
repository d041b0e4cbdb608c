//! A mark on a complete file of the cache: its blocks were compared with their checksums, and it has not been written to since.
//!
//! Comparing a gigabyte takes about as long as reading it, so a file that the kernel reads itself is compared once while the machine
//! runs, not again by each mount. The mark is an extended attribute with the id of the machine's start and the file's modification
//! time. A write makes it void, and so does a start of the machine, after which bytes may have been lost, or a copy of the cache on
//! another one. Where files cannot have attributes, each mount compares them.
//!
//! Invariant: the time in a mark is that before the bytes were read.

use std::fs::File;
use std::os::unix::fs::MetadataExt;

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};

const NAME: &str = "user.cenote.compared";
/// Another one with each start of the machine.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The mark that a file has if it was compared in its present state.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// `None` if the system does not tell what belongs to it.
    pub(super) fn of(file: &File) -> Option<Self> {
        let boot = std::fs::read_to_string(BOOT_ID).ok()?;
        let held = file.metadata().ok()?;
        let (boot, seconds, nanoseconds) = (boot.trim(), held.mtime(), held.mtime_nsec());
        Some(Self(format!("{boot} {} {seconds}.{nanoseconds:09}", held.len())))
    }

    pub(super) fn is_on(&self, file: &File) -> bool {
        let mut held = [0; 128];
        match fgetxattr(file, NAME, &mut held[..]) {
            Ok(length) => held.get(..length) == Some(self.0.as_bytes()),
            Err(_) => false,
        }
    }

    pub(super) fn set_on(&self, file: &File) {
        // Without attributes the file is compared again.
        let _unmarked = fsetxattr(file, NAME, self.0.as_bytes(), XattrFlags::empty());
    }
}
