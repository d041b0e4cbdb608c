//! Downloads an object to a local file. Bytes are written to a file next to the target, which is renamed at the end;
//! an interrupted download continues where it stopped.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::TryStreamExt;
use tokio::sync::mpsc;

use super::file::{each_chunk, unwritable};
use super::verification::Verification;
use super::{Transfer, blocking};
use crate::digest::Sha256Digest;
use crate::{Content, Error, Kind, ReadOptions, Resource, Result};

/// Permission bits that are taken from a content.
const PERMISSIONS: u32 = 0o777;

impl Transfer {
    /// Downloads the object described by `resource` to the file `target`, which is replaced. Mode and modification
    /// time are set if the resource has them.
    ///
    /// # Errors
    /// [`Kind::Precondition`] if the object has changed since `resource` was read, [`Kind::Mismatch`] if the bytes do
    /// not match the store's digest.
    pub async fn get_file(&self, resource: &Resource, target: &Path) -> Result<()> {
        let size = resource.size.unwrap_or(0);
        let by_ranges = self.options.ranges_from.is_some_and(|from| size >= from);
        let way = if by_ranges { "cenote-ranges" } else { "cenote-part" };
        let partial = partial_path(target, resource, way);
        let verified = match by_ranges {
            true => self.get_ranges(resource, size, &partial).await,
            false => self.get_stream(resource, &partial).await,
        };
        if verified.as_ref().is_err_and(|error| error.kind() == Kind::Mismatch) {
            let _ = std::fs::remove_file(&partial);
        }
        verified?;
        let (resource, target) = (resource.clone(), target.to_owned());
        blocking(move || finish(&resource, &partial, &target)).await
    }

    /// A single request for everything that is missing: the fastest way unless the network is the limit.
    async fn get_stream(&self, resource: &Resource, partial: &Path) -> Result<()> {
        let (path, expected) = (partial.to_owned(), resource.clone());
        let verification = self.verification(resource);
        let mut sink = blocking(move || Sink::open(path, &expected, verification)).await?;
        let size = resource.size.unwrap_or(0);
        if sink.length == size {
            return sink.verify(resource);
        }
        self.observer.moved(sink.length);
        let options = ReadOptions {
            offset: sink.length,
            if_match: resource.etag.clone(),
            ..ReadOptions::default()
        };
        let content = self.read(resource, &options).await?;
        let (sender, mut receiver) = mpsc::channel::<Bytes>(16);
        let writer = blocking(move || {
            while let Some(bytes) = receiver.blocking_recv() {
                sink.write(&bytes)?;
            }
            Ok::<_, Error>(sink)
        });
        let (sent, sink) = tokio::join!(self.pump(content, sender), writer);
        let sink = sink?;
        sent?;
        complete(resource, sink.length)?;
        sink.verify(resource)
    }

    /// Reads an object, or its state as of the moment of the transfer.
    pub(super) async fn read(&self, from: &Resource, options: &ReadOptions) -> Result<Content> {
        match &self.options.as_of {
            Some(moment) => self.client.read_as_of(&from.path, moment, options).await,
            None => self.client.read(&from.path, options).await,
        }
    }

    /// How the bytes are verified, if requested and possible.
    pub(super) fn verification(&self, resource: &Resource) -> Option<Verification> {
        self.options.verify.then(|| Verification::of(resource)).flatten()
    }

    async fn pump(&self, content: Content, sender: mpsc::Sender<Bytes>) -> Result<()> {
        let mut chunks = content.into_stream();
        while let Some(chunk) = chunks.try_next().await? {
            self.observer.moved(chunk.len() as u64);
            if sender.send(chunk).await.is_err() {
                // The writer has failed, and reports the reason.
                break;
            }
        }
        Ok(())
    }
}

/// Writes bytes in order, and verifies them if requested.
struct Sink {
    path: PathBuf,
    file: File,
    length: u64,
    verification: Option<Verification>,
}

impl Sink {
    /// Opens the partial file, including what an earlier run has left in it.
    fn open(
        path: PathBuf,
        resource: &Resource,
        mut verification: Option<Verification>,
    ) -> Result<Self> {
        let opened = open(&path, resource).and_then(|mut file| {
            let mut length = file.metadata()?.len();
            if length > resource.size.unwrap_or(0) {
                file.set_len(0)?;
                length = 0;
            }
            match &mut verification {
                Some(verification) => {
                    each_chunk(&mut file, length, |bytes| verification.update(bytes))?;
                }
                None => file.seek(SeekFrom::Start(length)).map(drop)?,
            }
            Ok((file, length))
        });
        let (file, length) = opened.map_err(|error| unwritable(&path, error))?;
        Ok(Self { path, file, length, verification })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| unwritable(&self.path, error))?;
        if let Some(verification) = &mut self.verification {
            verification.update(bytes);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn verify(self, resource: &Resource) -> Result<()> {
        self.verification.map_or(Ok(()), |verification| verification.finish(&resource.path))
    }
}

/// Opens the partial file of a resource, creating it if necessary. If the resource has a mode, only the owner may read the
/// partial file until that mode is set; if it has none, the file keeps the mode with which it is created.
pub(super) fn open(path: &Path, resource: &Resource) -> io::Result<File> {
    let mode = if resource.mode.is_some() { 0o600 } else { 0o666 };
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(mode).open(path)
}

pub(super) fn complete(resource: &Resource, length: u64) -> Result<()> {
    match resource.size {
        Some(size) if size != length => {
            let message = format!("received {length} of {size} bytes: {}", resource.path);
            Err(Error::new(Kind::Unreachable, message)
                .with_hint("get it again: the transfer will continue from there"))
        }
        _ => Ok(()),
    }
}

/// Next to the target, and named after the content and the method of transfer: it is never continued with other
/// content or another method.
pub(super) fn partial_path(target: &Path, resource: &Resource, way: &str) -> PathBuf {
    let tag = format!("{}{}", resource.id, resource.etag.as_deref().unwrap_or_default());
    let digest = Sha256Digest::of(tag.as_bytes()).to_string();
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // A target name of maximum length leaves no room for a suffix.
    let name: String = name.chars().take(40).collect();
    target.with_file_name(format!(".{name}.{}.{way}", &digest[..16]))
}

fn finish(resource: &Resource, partial: &Path, target: &Path) -> Result<()> {
    let file = OpenOptions::new().write(true).open(partial);
    file.and_then(|file| set_attributes(resource, &file))
        .and_then(|()| std::fs::rename(partial, target))
        .map_err(|error| unwritable(target, error))
}

/// Mode and time, if the resource has them.
pub(super) fn set_attributes(resource: &Resource, file: &File) -> io::Result<()> {
    if let Some(mode) = resource.mode {
        file.set_permissions(PermissionsExt::from_mode(mode & PERMISSIONS))?;
    }
    match resource.mtime {
        Some(mtime) => file.set_modified(SystemTime::from(mtime)),
        None => Ok(()),
    }
}
