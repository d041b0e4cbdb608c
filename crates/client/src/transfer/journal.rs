//! A record of unfinished uploads, so that a later run can continue them.
//!
//! One small file per upload, named by a digest of its source and target. Losing one, or finding a stale one, costs
//! retransmission, never correctness.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LocalFile;
use crate::{PutOptions, Sha256Digest};

/// The record of one upload.
#[derive(Debug)]
pub(super) struct Entry(Option<PathBuf>);

#[derive(Serialize, Deserialize)]
struct Remembered {
    upload: String,
    path: String,
}

impl Entry {
    /// The record of an upload of `file`, in its current state, to `path`, with these options.
    pub(super) fn new(
        directory: Option<&Path>,
        file: &LocalFile,
        (path, options): (&str, &PutOptions),
    ) -> Self {
        let source = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
        let state = (file.size, file.mtime, options);
        let what = format!("{}\0{state:?}\0{path}", source.display());
        let name = Sha256Digest::of(what.as_bytes()).to_string();
        Self(directory.map(|directory| directory.join(&name[..32]).with_extension("json")))
    }

    /// The unfinished upload, if any is recorded.
    pub(super) fn recall(&self) -> Option<String> {
        let bytes = std::fs::read(self.0.as_ref()?).ok()?;
        serde_json::from_slice::<Remembered>(&bytes).ok().map(|remembered| remembered.upload)
    }

    /// Records an upload. If the journal cannot be written, the upload just cannot be resumed.
    pub(super) fn remember(&self, upload: &str, path: &str) {
        let Some(file) = &self.0 else { return };
        let remembered = Remembered { upload: upload.to_owned(), path: path.to_owned() };
        let text = serde_json::to_vec(&remembered).expect("two texts are always JSON");
        let directory = file.parent().unwrap_or(Path::new("."));
        let _ = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(file, text));
    }

    /// Removes the record.
    pub(super) fn forget(&self) {
        if let Some(file) = &self.0 {
            let _ = std::fs::remove_file(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(size: u64) -> LocalFile {
        LocalFile { path: "/data/a".into(), size, mode: 0o644, mtime: None }
    }

    #[test]
    fn a_recorded_upload_is_found_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("not/yet");
        let any = PutOptions::default();
        let new = PutOptions { create_only: true, ..PutOptions::default() };
        let entry = |size, path, options| Entry::new(Some(&dir), &file(size), (path, options));
        entry(1, "/a", &any).remember("u1", "/a");
        assert_eq!(entry(1, "/a", &any).recall().as_deref(), Some("u1"));
        for other in [entry(2, "/a", &any), entry(1, "/b", &any), entry(1, "/a", &new)] {
            assert_eq!(other.recall(), None);
        }
        entry(1, "/a", &any).forget();
        assert_eq!(entry(1, "/a", &any).recall(), None);
    }

    #[test]
    fn without_a_directory_nothing_is_recorded() {
        let entry = Entry::new(None, &file(1), ("/a", &PutOptions::default()));
        entry.remember("u1", "/a");
        assert_eq!(entry.recall(), None);
    }
}
