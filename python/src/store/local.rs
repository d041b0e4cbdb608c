//! Directories, links and files of this machine that what is below a collection is received into.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use cenote_client::transfer::LocalFile;
use cenote_client::{Error, Kind, Resource};

/// Makes a directory below `root`, whose parents exist. If `real`, nothing may be written through a link that is there: it could
/// lead anywhere.
pub(super) fn make_directory(root: &Path, relative: &Path, real: bool) -> io::Result<()> {
    let path = root.join(relative);
    let is_root = relative.as_os_str().is_empty();
    if real && !is_root && fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink()) {
        let message = format!("{} is a link, and nothing is written through it", path.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, message));
    }
    fs::create_dir_all(path)
}

/// Makes a link, in place of another one.
pub(super) fn link(path: &Path, target: &str) -> Result<(), Error> {
    let made = match fs::read_link(path) {
        Ok(found) if found == Path::new(target) => Ok(()),
        Ok(_) => fs::remove_file(path).and_then(|()| symlink(target, path)),
        Err(_) => symlink(target, path),
    };
    made.map_err(|error| {
        let kind = match error.kind() {
            io::ErrorKind::AlreadyExists => Kind::Exists,
            _ => Kind::Local,
        };
        Error::new(kind, format!("cannot link {} to {target}: {error}", path.display()))
    })
}

/// Whether a file has the size, the time and the mode of an object.
pub(super) fn is_unchanged(resource: &Resource, path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let file = LocalFile::from_metadata(path.to_owned(), &metadata);
    metadata.is_file()
        && resource.size == Some(metadata.size())
        && resource.mtime.is_some()
        && resource.mtime == file.mtime
        && resource.mode.is_none_or(|mode| (mode ^ file.mode) & 0o777 == 0)
}
