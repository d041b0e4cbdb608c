//! A crate that is a zip. It is written beside its name, in a directory `NAME.partial`, and moved there when it is whole.
//!
//! Invariant: the zip in that directory has an end whenever no run is writing it, unless the program was killed. A run continues with a zip
//! whose files are those that the store has now, and begins again with any other. Files are fetched to the directory, verified, and then
//! packed one after the other: none is held in memory.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cenote_client::Resource;
use cenote_client::transfer::Transfer;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::MetadataFiles;
use crate::archive::names::Place;
use crate::archive::ro_crate::source::Source;
use crate::archive::ro_crate::{METADATA, PREVIEW};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};
use crate::migrate::Outcome;

/// From here on an entry has 64-bit sizes; compressed bytes may be a little more than they were.
const LARGE: u64 = 0xffff_0000;

/// A zip that is written.
pub(in crate::archive::ro_crate) struct Packing {
    target: PathBuf,
    partial: PathBuf,
    writer: Arc<Mutex<ZipWriter<File>>>,
    /// What an earlier run has packed.
    packed: HashSet<Place>,
}

impl Packing {
    pub(super) fn begin(target: &Path, resources: &BTreeMap<Place, Resource>) -> Result<Self> {
        let mut partial = target.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        if partial.is_symlink() {
            return Err(CliError::new(Kind::Exists, format!("{} is a link", partial.display())));
        }
        std::fs::create_dir_all(&partial)?;
        let archive = archive_in(&partial);
        let (packed, writer) = match packed(&archive, resources) {
            Some(packed) => {
                let file = File::options().read(true).write(true).open(&archive)?;
                (packed, ZipWriter::new_append(file).map_err(io::Error::from)?)
            }
            None => (HashSet::new(), ZipWriter::new(File::create(&archive)?)),
        };
        let writer = Arc::new(Mutex::new(writer));
        Ok(Self { target: target.to_owned(), partial, writer, packed })
    }

    pub(super) fn make(&self, place: &Place) -> Result<()> {
        if place.text().is_empty() || self.packed.contains(place) {
            return Ok(());
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let made = writer.add_directory(place.text(), SimpleFileOptions::default());
        Ok(made.map_err(io::Error::from)?)
    }

    pub(super) async fn file(
        &self,
        transfer: &Transfer,
        place: &Place,
        resource: &Resource,
    ) -> Result<Outcome> {
        if self.packed.contains(place) {
            return Ok(Outcome::Unchanged);
        }
        let fetched = self.partial.join(resource.id.to_string());
        transfer.get_file(resource, &fetched).await?;
        let (writer, name) = (Arc::clone(&self.writer), place.text());
        let (size, options) = (resource.size.unwrap_or(0), options(resource));
        let pack = move || {
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            pack(&mut writer, &name, options, &mut File::open(&fetched)?, size)?;
            std::fs::remove_file(&fetched)
        };
        tokio::task::spawn_blocking(pack).await.map_err(wrong)??;
        Ok(Outcome::Brought)
    }

    /// Writes the metadata files, and moves the zip to its name. A part of a crate is kept for the next run.
    pub(super) fn finish(self, files: &MetadataFiles, is_whole: bool) -> Result<()> {
        let Self { target, partial, writer, .. } = self;
        let whole =
            Arc::into_inner(writer).ok_or_else(|| wrong("the zip is still being written"))?;
        let mut writer = whole.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !is_whole {
            writer.finish().map_err(io::Error::from)?.sync_all()?;
            return Ok(());
        }
        for (name, mut text) in [(PREVIEW, &*files.preview), (METADATA, &*files.metadata)] {
            let (options, size) = (deflated(), text.len() as u64);
            pack(&mut writer, name, options, &mut text, size)?;
        }
        writer.finish().map_err(io::Error::from)?.sync_all()?;
        std::fs::rename(archive_in(&partial), &target)?;
        Ok(std::fs::remove_dir_all(&partial)?)
    }
}

fn archive_in(partial: &Path) -> PathBuf {
    partial.join("crate.zip")
}

/// What is packed already, if all of it is what the store has.
fn packed(archive: &Path, resources: &BTreeMap<Place, Resource>) -> Option<HashSet<Place>> {
    let found = Source::open(archive).ok().filter(|_| archive.is_file())?;
    // Where the run broke off after the metadata was written, that is not what it would be now.
    found.metadata().is_err().then_some(())?;
    let found = found.read().ok()?;
    let is_same = found.iter().all(|(place, bytes)| {
        let sha256 = resources.get(place).map(|resource| resource.sha256.as_ref());
        match bytes {
            None => sha256.is_some(),
            Some(bytes) => sha256.flatten() == Some(&bytes.sha256),
        }
    });
    is_same.then(|| found.into_keys().collect())
}

/// Writes an entry, or takes back what it has written of it.
fn pack(
    writer: &mut ZipWriter<File>,
    name: &str,
    options: SimpleFileOptions,
    bytes: &mut impl io::Read,
    size: u64,
) -> io::Result<()> {
    writer.start_file(name, options.large_file(size >= LARGE))?;
    let written = io::copy(bytes, writer).and_then(|length| match length == size {
        true => writer.flush(),
        false => Err(io::Error::other("the file has another size than the store says")),
    });
    written.or_else(|error| {
        writer.abort_file()?;
        Err(error)
    })
}

fn deflated() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
}

fn options(resource: &Resource) -> SimpleFileOptions {
    let options = match resource.media_type.as_deref().is_some_and(is_compressed) {
        true => SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
        false => deflated(),
    };
    let time = resource.mtime.or(resource.content_modified).and_then(time);
    options.last_modified_time(time.unwrap_or_default()).unix_permissions(0o644)
}

/// Whether bytes of a media type do not become fewer.
fn is_compressed(media_type: &str) -> bool {
    let subtype = media_type.split_once('/').map_or("", |(_, subtype)| subtype);
    let packed =
        ["zip", "gzip", "x-bzip2", "x-xz", "zstd", "x-7z-compressed", "jpeg", "png", "webp"];
    packed.contains(&subtype) || media_type.starts_with("video/")
}

/// A time as zips have it, to two seconds, in UTC.
fn time(time: Timestamp) -> Option<DateTime> {
    let at = time.to_zoned(TimeZone::UTC);
    let year = u16::try_from(at.year()).ok()?;
    let [month, day, hour, minute, second] =
        [at.month(), at.day(), at.hour(), at.minute(), at.second()].map(|it| it.unsigned_abs());
    DateTime::from_date_and_time(year, month, day, hour, minute, second).ok()
}
