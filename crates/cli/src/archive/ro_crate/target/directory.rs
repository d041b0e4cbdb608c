//! A crate that is a directory: new, empty, or one that is continued.

use std::io::Write;
use std::path::Path;

use cenote_client::Resource;
use cenote_client::transfer::{LocalFile, Transfer};

use super::MetadataFiles;
use crate::archive::names::Place;
use crate::archive::ro_crate::{METADATA, PREVIEW};
use crate::error::{CliError, Kind, Result};
use crate::migrate::Outcome;

pub(super) fn make(root: &Path, place: &Place) -> Result<()> {
    let target = root.join(place.text());
    not_through_links(root, &target)?;
    Ok(std::fs::create_dir_all(target)?)
}

pub(super) async fn file(
    root: &Path,
    transfer: &Transfer,
    place: &Place,
    resource: &Resource,
) -> Result<Outcome> {
    let target = root.join(place.text());
    let above = target.parent().unwrap_or(root);
    not_through_links(root, above)?;
    std::fs::create_dir_all(above)?;
    if is_there(resource, &target) {
        return Ok(Outcome::Unchanged);
    }
    transfer.get_file(resource, &target).await?;
    Ok(Outcome::Brought)
}

pub(super) fn finish(root: &Path, files: &MetadataFiles) -> Result<()> {
    replace(&root.join(PREVIEW), &files.preview)?;
    replace(&root.join(METADATA), &files.metadata)
}

/// Refuses to write where a link would lead out of the directory.
fn not_through_links(root: &Path, path: &Path) -> Result<()> {
    let below = path.ancestors().take_while(|above| *above != root);
    let link = below.into_iter().find(|above| above.is_symlink());
    match link {
        None => Ok(()),
        Some(link) => Err(CliError::new(Kind::Exists, format!("{} is a link", link.display()))
            .hint("export to an empty directory")),
    }
}

/// Whether a local file has the bytes already.
fn is_there(resource: &Resource, target: &Path) -> bool {
    let is_file = target.symlink_metadata().is_ok_and(|status| status.is_file());
    let Some(sha256) = resource.sha256.as_ref().filter(|_| is_file) else { return false };
    let file = LocalFile::new(target).ok().filter(|file| Some(file.size) == resource.size);
    file.is_some_and(|file| file.sha256().is_ok_and(|digest| digest.is(sha256)))
}

/// Replaces a file at once.
fn replace(path: &Path, text: &[u8]) -> Result<()> {
    let mut new = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    new.write_all(text)?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}
