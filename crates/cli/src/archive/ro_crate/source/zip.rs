//! A crate that is a zip.
//!
//! Invariants: each entry is the only one with its name and its bytes, has a name that a resource may have, and is a file or a directory,
//! no link; the headers before the bytes say what the directory at the end says. No more is unpacked of an entry than that it has by its
//! header, and no more of a zip than `EXPANSION` times its size.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use super::directory::missing;
use super::{Found, LARGEST, digest, refused};
use crate::archive::names::Place;
use crate::archive::ro_crate::{METADATA, is_about_the_crate};
use crate::error::{CliError, Result};

/// How much larger a zip may become when it is unpacked, above what is unpacked of any.
const EXPANSION: u64 = 200;
/// What is unpacked of any zip, in bytes.
const UNSUSPECTED: u64 = 1 << 30;

/// A zip, and where its entries belong.
pub(in crate::archive::ro_crate) struct Zip {
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
    /// The entries that are files, by their places.
    files: HashMap<Place, usize>,
    found: Found,
}

impl Zip {
    /// Reads what there is, and no bytes yet.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let damaged = |error: ZipError| refused(&path.display().to_string(), &error.to_string());
        let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
        archive.validate_header_consistency().map_err(damaged)?;
        let mut zip = Self {
            path: path.to_owned(),
            archive,
            files: HashMap::new(),
            found: Found::from([(Place::default(), None)]),
        };
        let places = (0..zip.archive.len()).map(|index| zip.place(index));
        let places = places.collect::<Result<Vec<_>>>()?;
        let top = top(&places);
        for (index, (name, is_file)) in places.into_iter().enumerate() {
            let inner = name.strip_prefix(&top).unwrap_or_default();
            zip.take(index, inner, is_file)?;
        }
        zip.check_places()?;
        zip.check_expansion(size)?;
        Ok(zip)
    }

    /// The name of an entry without a slash at its end, and whether it is a file.
    fn place(&mut self, index: usize) -> Result<(String, bool)> {
        let whole = self.path.display().to_string();
        let damaged = |error: ZipError| refused(&whole, &error.to_string());
        let entry = self.archive.by_index_raw(index).map_err(damaged)?;
        let name = entry.name().map_err(damaged)?.into_owned();
        let refuse = |why: &str| Err(refused(&name, why));
        if entry.encrypted() {
            return refuse("it is encrypted");
        }
        if !is_plain(&entry) {
            return refuse("it is neither a file nor a directory");
        }
        let bare = name.strip_suffix('/').unwrap_or(&name);
        // Only then is it the one way to write the name.
        match Place::of(bare).is_some_and(|place| !bare.is_empty() && place.text() == bare) {
            true => Ok((bare.to_owned(), entry.is_file())),
            false => refuse("the name leads out of the crate, or is none in the store"),
        }
    }

    /// Notes an entry, with the directories above it.
    fn take(&mut self, index: usize, inner: &str, is_file: bool) -> Result<()> {
        let Some(place) = Place::of(inner) else { return Ok(()) };
        let mut above = place.parent();
        while let Some(parent) = above {
            above = parent.parent();
            self.found.entry(parent).or_insert(None);
        }
        if !is_file {
            self.found.insert(place, None);
            return Ok(());
        }
        match self.files.insert(place, index) {
            Some(_) => Err(refused(inner, "two files have that name")),
            None => Ok(()),
        }
    }

    fn check_places(&self) -> Result<()> {
        match self.files.keys().find(|place| self.found.contains_key(place)) {
            Some(place) => Err(refused(&place.text(), "it is both a file and a directory")),
            None => Ok(()),
        }
    }

    fn check_expansion(&self, size: u64) -> Result<()> {
        let unpacked = self.archive.decompressed_size().unwrap_or(u128::MAX);
        let most = u128::from(UNSUSPECTED.max(size.saturating_mul(EXPANSION)));
        match unpacked <= most {
            true => Ok(()),
            false => Err(refused(
                &self.path.display().to_string(),
                &format!("it would become more than {EXPANSION} times as large"),
            )
            .hint("if you trust it, unpack it with another program and import the directory")),
        }
    }

    /// Reads all files, which compares them with their checksums.
    pub(super) fn read_all(&mut self) -> Result<Found> {
        let mut found = self.found.clone();
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_unstable_by_key(|(_, index)| **index);
        for (place, index) in files {
            if is_about_the_crate(place) {
                continue;
            }
            let bytes = read(&mut self.archive, *index, |entry, size| digest(entry, size));
            found.insert(place.clone(), Some(bytes.map_err(|why| why.of(&place.text()))?));
        }
        Ok(found)
    }

    pub(super) fn metadata(&mut self) -> Result<Vec<u8>> {
        let place = Place::of(METADATA).unwrap_or_default();
        let index = *self.files.get(&place).ok_or_else(|| missing(&self.path))?;
        let text = read(&mut self.archive, index, |entry, _| {
            let mut text = Vec::new();
            entry.take(LARGEST + 1).read_to_end(&mut text)?;
            Ok(text)
        });
        let text = text.map_err(|why| why.of(METADATA))?;
        match text.len() as u64 <= LARGEST {
            true => Ok(text),
            false => Err(refused(METADATA, "it is too large")),
        }
    }

    /// Unpacks a file.
    pub(super) fn unpack(&mut self, place: &Place, path: &Path) -> Result<()> {
        let missing = || refused(&place.text(), "the file is missing");
        let index = *self.files.get(place).ok_or_else(missing)?;
        let unpacked = read(&mut self.archive, index, |entry, size| {
            io::copy(&mut entry.take(size.saturating_add(1)), &mut File::create_new(path)?)
        });
        unpacked.map(drop).map_err(|why| why.of(&place.text()))
    }
}

/// Reads an entry, which has to have as many bytes as it says.
fn read<T>(
    archive: &mut ZipArchive<BufReader<File>>,
    index: usize,
    with: impl FnOnce(&mut dyn Read, u64) -> io::Result<T>,
) -> std::result::Result<T, Unread> {
    let mut entry = archive.by_index(index).map_err(io::Error::from)?;
    let size = entry.size();
    let mut counted = Counted { inner: &mut entry, count: 0 };
    let done = with(&mut counted, size)?;
    match counted.count == size {
        true => Ok(done),
        false => Err(Unread(io::Error::other("it has another size than the zip says"))),
    }
}

/// Why an entry was not read.
struct Unread(io::Error);

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl Unread {
    /// An error of the system is none of the zip.
    fn of(self, what: &str) -> CliError {
        match self.0.raw_os_error() {
            Some(_) => self.0.into(),
            None => refused(what, &self.0.to_string()),
        }
    }
}

struct Counted<'a, R> {
    inner: &'a mut R,
    count: u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.count += length as u64;
        Ok(length)
    }
}

/// Whether an entry is a file or a directory, by its name and by its mode.
fn is_plain<R: Read>(entry: &ZipFile<'_, R>) -> bool {
    const KIND: u32 = 0o170_000;
    match entry.unix_mode().map_or(0, |mode| mode & KIND) {
        0 => !entry.is_symlink(),
        0o100_000 => entry.is_file(),
        0o040_000 => entry.is_dir(),
        _ => false,
    }
}

/// The one directory that everything is in, with a slash, if the metadata is in it and not at the top.
fn top(entries: &[(String, bool)]) -> String {
    let is_file = |wanted: &str| entries.iter().any(|(name, is_file)| *is_file && name == wanted);
    let first = entries.first().map_or("", |(name, _)| name.split('/').next().unwrap_or_default());
    let top = format!("{first}/");
    let is_all = entries.iter().all(|(name, _)| name == first || name.starts_with(&top));
    match !is_file(METADATA) && is_all && is_file(&(top.clone() + METADATA)) {
        true => top,
        false => String::new(),
    }
}

#[cfg(test)]
mod tests;
