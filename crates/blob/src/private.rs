//! Files that only their owner may read.
//!
//! Invariant: what is created below a private directory has mode 0600, or 0700 for a directory, whatever the umask
//! and whichever library creates it: a default access list (`acl(5)`) makes the kernel do so. If the file system has
//! none, the directory's own mode keeps others out, and files have the mode given by the umask until the place is
//! next opened.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::XattrFlags;

const DIRECTORY: u32 = 0o700;
const FILE: u32 = 0o600;

const DEFAULT_ACL: &str = "system.posix_acl_default";
/// As defined in `linux/posix_acl_xattr.h`, little-endian: version 2, then tag, permissions and id of the owner
/// (`rwx`), the group and others (nothing).
const OWNER_ONLY: [u8; 28] = [
    2, 0, 0, 0, //
    0x01, 0, 7, 0, 0xff, 0xff, 0xff, 0xff, //
    0x04, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, //
    0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
];

/// Keeps others out of a directory, and out of everything that is created in it from now on.
pub fn make_private(dir: &Path) -> io::Result<()> {
    set_mode(dir, DIRECTORY)?;
    // Fails on a file system without access lists.
    let _ = rustix::fs::setxattr(dir, DEFAULT_ACL, &OWNER_ONLY, XattrFlags::empty());
    Ok(())
}

/// Makes a directory private, and everything in it. Links are not followed.
pub fn make_all_private(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            make_all_private(&entry.path())?;
        } else if kind.is_file() {
            unless_gone(make_file_private(&entry.path()))?;
        }
    }
    make_private(dir)
}

/// Keeps others out of a file.
pub fn make_file_private(path: &Path) -> io::Result<()> {
    set_mode(path, FILE)
}

/// Whether a directory is private, and so is everything that was created in it since.
pub(crate) fn is_private(dir: &Path) -> io::Result<bool> {
    let mut acl = [0; OWNER_ONLY.len()];
    let found = rustix::fs::getxattr(dir, DEFAULT_ACL, &mut acl);
    let has_list = found.is_ok_and(|length| acl[..length] == OWNER_ONLY);
    let knows_none = found.is_err_and(|error| error != rustix::io::Errno::NODATA);
    Ok(mode(dir)? == DIRECTORY && (has_list || knows_none))
}

fn set_mode(path: &Path, wanted: u32) -> io::Result<()> {
    match mode(path)? == wanted {
        true => Ok(()),
        false => fs::set_permissions(path, Permissions::from_mode(wanted)),
    }
}

fn mode(path: &Path) -> io::Result<u32> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o7777)
}

fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_can_access_files_in_a_private_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("store");
        fs::create_dir_all(root.join("old")).unwrap();
        for path in ["old/file", "outside"] {
            let path = if path == "outside" { dir.path().join(path) } else { root.join(path) };
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        }
        std::os::unix::fs::symlink(dir.path().join("outside"), root.join("link")).unwrap();
        assert!(!is_private(&root).unwrap());
        make_all_private(&root).unwrap();
        assert!(is_private(&root).unwrap() && is_private(&root.join("old")).unwrap());
        assert_eq!(mode(&root.join("old/file")).unwrap(), 0o600);
        assert_eq!(mode(&dir.path().join("outside")).unwrap(), 0o644);
        fs::create_dir_all(root.join("new/er")).unwrap();
        fs::write(root.join("new/er/file"), "x").unwrap();
        assert!(is_private(&root.join("new/er")).unwrap());
        assert_eq!(mode(&root.join("new/er/file")).unwrap(), 0o600);
    }
}
