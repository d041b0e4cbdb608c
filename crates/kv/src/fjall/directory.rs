//! Directories whose names are on the disk, too.
//!
//! A sync of a file does not include its name, nor the names of the directories above it: each is made durable by a
//! sync of its parent directory.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Creates `dir` and its missing parents, durably.
pub(super) fn make_durable(dir: &Path) -> io::Result<()> {
    let missing = |above: &&Path| !above.as_os_str().is_empty() && !above.exists();
    let missing: Vec<&Path> = dir.ancestors().take_while(missing).collect();
    fs::create_dir_all(dir)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_dir)
}

/// Has the names in `dir` written to the disk; none is this process's directory.
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_parents_are_created_and_existing_ones_kept() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("a/b/c");
        make_durable(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(deep.join("file"), "kept").unwrap();
        make_durable(&deep).unwrap();
        assert_eq!(fs::read(deep.join("file")).unwrap(), b"kept");
        assert!(make_durable(&deep.join("file")).is_err());
        sync_dir(Path::new("")).unwrap();
    }
}
