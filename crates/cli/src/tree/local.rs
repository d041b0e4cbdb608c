//! What is in a directory of this machine.

use std::collections::HashSet;
use std::path::Path;

use cenote_client::transfer::LocalFile;
use walkdir::{DirEntry, WalkDir};

use super::entry::{Entry, EntryKind, Tree};
use super::filter::Filter;
use crate::error::{CliError, Kind, Result};
use crate::place::above;

/// The entries found, and those that cannot be stored.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tree: Tree,
    /// What each is, and why.
    pub(super) failures: Vec<(String, CliError)>,
}

/// Scans `root`; the result is empty if it does not exist. Blocks.
pub(super) fn scan(root: &Path, filter: &Filter) -> Result<Found> {
    let mut found = Found::default();
    if !root.exists() {
        return Ok(found);
    }
    if !root.is_dir() {
        return Err(CliError::new(Kind::Exists, format!("not a directory: {}", root.display())));
    }
    let mut walk = WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter();
    while let Some(entry) = walk.next() {
        match entry.map_err(CliError::from_walk).and_then(|entry| scan_entry(root, entry, filter)) {
            Ok(Scanned::Entry(path, entry)) => drop(found.tree.insert(path, entry)),
            Ok(Scanned::Skipped) => {}
            Ok(Scanned::ExcludedTree) => walk.skip_current_dir(),
            Err(error) => found.failures.push((root.display().to_string(), error)),
        }
    }
    if filter.is_selective() {
        remove_empty(&mut found.tree);
    }
    Ok(found)
}

/// What a scan makes of an entry of a directory.
enum Scanned {
    Entry(String, Entry),
    /// Neither a file nor a directory nor a link, or not requested.
    Skipped,
    ExcludedTree,
}

fn scan_entry(root: &Path, found: DirEntry, filter: &Filter) -> Result<Scanned> {
    let relative = found.path().strip_prefix(root).unwrap_or(found.path());
    let Some(path) = relative.to_str() else {
        let message = format!("the name is not UTF-8: {}", relative.display());
        return Err(CliError::new(Kind::Usage, message)
            .hint("rename it, or use --exclude for the directory that contains it"));
    };
    let kind = found.file_type();
    if kind.is_dir() && filter.excludes_tree(path) {
        return Ok(Scanned::ExcludedTree);
    }
    if !kind.is_dir() && !filter.takes(path) {
        return Ok(Scanned::Skipped);
    }
    let metadata = found.metadata().map_err(CliError::from_walk)?;
    let file = LocalFile::from_metadata(found.path().to_owned(), &metadata);
    let (mode, mtime) = (Some(file.mode), file.mtime);
    let (kind, mode) = match kind {
        kind if kind.is_dir() => (EntryKind::Directory, mode),
        kind if kind.is_file() => (EntryKind::File(file), mode),
        // The mode of a link has no meaning.
        kind if kind.is_symlink() => (EntryKind::Link(target(found.path())?), None),
        _ => return Ok(Scanned::Skipped),
    };
    Ok(Scanned::Entry(path.to_owned(), Entry::local(kind, mode, mtime)))
}

fn target(link: &Path) -> Result<String> {
    let target = std::fs::read_link(link)?;
    target.into_os_string().into_string().map_err(|target| {
        let message = format!("the link's target is not UTF-8: {}", target.display());
        CliError::new(Kind::Usage, message).hint("use --exclude to skip it")
    })
}

/// Directories are kept only if something in them is included.
pub(super) fn remove_empty(tree: &mut Tree) {
    let mut needed = HashSet::new();
    for (path, _) in tree.iter().filter(|(_, entry)| !entry.is_directory()) {
        // The ancestors of a known directory have been added with it.
        above(path).take_while(|above| needed.insert((*above).to_owned())).for_each(drop);
    }
    tree.retain(|path, entry| !entry.is_directory() || needed.contains(path));
}

impl CliError {
    fn from_walk(error: walkdir::Error) -> Self {
        let message = error.to_string();
        match error.into_io_error() {
            Some(error) => Self::new(Self::from(error).kind(), message),
            None => Self::new(Kind::Failed, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::tree::FilterArgs;

    fn paths(root: &Path, include: &[&str], exclude: &[&str]) -> Vec<String> {
        use clap::Parser;
        #[derive(Parser)]
        struct Flags {
            #[command(flatten)]
            filter: FilterArgs,
        }
        let flags = include.iter().map(|p| format!("--include={p}"));
        let flags = flags.chain(exclude.iter().map(|p| format!("--exclude={p}")));
        let flags = Flags::parse_from(std::iter::once("x".to_owned()).chain(flags));
        scan(root, &flags.filter.filter().unwrap()).unwrap().tree.into_keys().collect()
    }

    #[test]
    fn files_directories_and_links_are_found_and_filtered() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/empty")).unwrap();
        std::fs::write(dir.path().join("a/x.gsd"), "1").unwrap();
        std::fs::write(dir.path().join("a/y.txt"), "1").unwrap();
        symlink("a/x.gsd", dir.path().join("link")).unwrap();
        symlink("gone", dir.path().join("dangling")).unwrap();
        let all = ["a", "a/empty", "a/x.gsd", "a/y.txt", "dangling", "link"];
        assert_eq!(paths(dir.path(), &[], &[]), all);
        assert_eq!(paths(dir.path(), &["*.gsd"], &[]), ["a", "a/x.gsd"]);
        assert_eq!(paths(dir.path(), &[], &["a/", "l*"]), ["dangling"]);
        assert_eq!(paths(dir.path(), &[], &["a", "link"]), all[..5]);
        assert_eq!(paths(dir.path(), &[], &["a/*"]), ["a", "a/empty", "dangling", "link"]);
        assert_eq!(paths(dir.path(), &[], &["a/**"]), ["dangling", "link"]);
    }

    #[test]
    fn a_missing_directory_has_no_entries() {
        let dir = tempfile::tempdir().unwrap();
        assert!(paths(&dir.path().join("gone"), &[], &[]).is_empty());
    }
}
