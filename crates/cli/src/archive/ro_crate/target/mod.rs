//! Where a crate is written: a directory (`directory`), or a zip (`zip`).
//!
//! Invariant: a file appears only with all its bytes, and the metadata file only when all files are complete.

mod directory;
mod zip;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cenote_client::Resource;
use cenote_client::transfer::Transfer;

use self::zip::Packing;
use crate::archive::names::Place;
use crate::archive::wrong;
use crate::error::Result;
use crate::migrate::Outcome;

/// A crate that is written.
pub(super) enum Target {
    Directory(PathBuf),
    Zip(Packing),
}

/// The metadata of a crate and its preview: the two files that describe the others.
pub(super) struct MetadataFiles {
    pub(super) metadata: Vec<u8>,
    pub(super) preview: Vec<u8>,
}

impl Target {
    /// A name that ends with `.zip` is that of a zip, unless there is a directory.
    pub(super) fn begin(path: &Path, resources: &BTreeMap<Place, Resource>) -> Result<Self> {
        let ends = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"));
        if ends && !path.is_dir() {
            return Ok(Self::Zip(Packing::begin(path, resources)?));
        }
        std::fs::create_dir_all(path)?;
        Ok(Self::Directory(path.to_owned()))
    }

    /// Makes a directory.
    pub(super) fn collection(&self, place: &Place) -> Result<()> {
        match self {
            Self::Directory(root) => directory::make(root, place),
            Self::Zip(packing) => packing.make(place),
        }
    }

    /// Writes a file, unless it is there already.
    pub(super) async fn file(
        &self,
        transfer: &Transfer,
        place: &Place,
        resource: &Resource,
    ) -> Result<Outcome> {
        match self {
            Self::Directory(root) => directory::file(root, transfer, place, resource).await,
            Self::Zip(packing) => packing.file(transfer, place, resource).await,
        }
    }

    /// Writes the metadata files; `is_whole` if no other file failed.
    pub(super) async fn finish(self, files: MetadataFiles, is_whole: bool) -> Result<()> {
        let finish = move || match self {
            Self::Directory(root) => directory::finish(&root, &files),
            Self::Zip(packing) => packing.finish(&files, is_whole),
        };
        tokio::task::spawn_blocking(finish).await.map_err(wrong)?
    }
}
