//! Uploads a large file in parts, several at a time, continuing from what has arrived.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::journal::Entry;
use super::{LocalFile, Transfer, blocking};
use crate::digest::CrcDigest;
use crate::{Error, Kind, NewUpload, Part, PutOptions, Resource, Result};

/// An upload in progress.
struct Upload {
    id: String,
    arrived: Vec<Part>,
}

impl Transfer {
    pub(super) async fn put_parts(
        &self,
        file: &LocalFile,
        path: &str,
        options: &PutOptions,
    ) -> Result<Resource> {
        let entry = Entry::new(self.options.journal.as_deref(), file, (path, options));
        let upload = self.resume_or_begin(&entry, file, path, options).await?;
        self.send_parts(file, &upload).await?;
        unchanged(file)?;
        let published = self.client.complete_upload(&upload.id).await;
        if is_settled(&published) {
            entry.forget();
        }
        published
    }

    async fn resume_or_begin(
        &self,
        entry: &Entry,
        file: &LocalFile,
        path: &str,
        options: &PutOptions,
    ) -> Result<Upload> {
        if let Some(id) = entry.recall() {
            match self.client.upload_parts(&id).await {
                Ok(arrived) => return Ok(Upload { id, arrived }),
                Err(error) if error.kind() == Kind::Unreachable => return Err(error),
                Err(_) => entry.forget(),
            }
        }
        let id = self.client.begin_upload(&new_upload(file, path, options)).await?;
        entry.remember(&id, path);
        Ok(Upload { id, arrived: Vec::new() })
    }

    async fn send_parts(&self, file: &LocalFile, upload: &Upload) -> Result<()> {
        let size = self.options.part_size.get() as u64;
        let offsets = (0..file.size.div_ceil(size)).map(|index| index * size);
        stream::iter(offsets)
            .map(|offset| self.send_part(file, upload, offset, size.min(file.size - offset)))
            .buffer_unordered(self.options.jobs.get())
            .try_for_each(|()| std::future::ready(Ok(())))
            .await
    }

    async fn send_part(
        &self,
        file: &LocalFile,
        upload: &Upload,
        offset: u64,
        length: u64,
    ) -> Result<()> {
        let source = file.clone();
        let (bytes, digest) = blocking(move || {
            let bytes = source.read_part(offset, length as usize)?;
            let digest = CrcDigest::of(&bytes);
            Ok::<_, Error>((bytes, digest))
        })
        .await?;
        if !upload.arrived.iter().any(|part| is_same(part, offset, length, digest)) {
            self.client.put_part(&upload.id, offset, bytes.into(), digest).await?;
        }
        self.observer.moved(length);
        Ok(())
    }
}

fn new_upload(file: &LocalFile, path: &str, options: &PutOptions) -> NewUpload {
    NewUpload {
        at: path.into(),
        size: file.size,
        media_type: options.media_type.clone(),
        mode: options.mode,
        mtime: options.mtime,
        if_match: options.if_match.clone(),
        if_none_match: options.create_only.then(|| "*".to_owned()),
        parents: options.parents,
        place: options.place.clone(),
    }
}

fn is_same(part: &Part, offset: u64, length: u64, digest: CrcDigest) -> bool {
    (part.offset, part.length) == (offset, length)
        && part.crc64nvme.as_ref().is_some_and(|crc| digest.is(crc))
}

/// Parts from different states of a file must not be combined.
fn unchanged(file: &LocalFile) -> Result<()> {
    let now = LocalFile::new(&file.path)?;
    if (now.size, now.mtime) == (file.size, file.mtime) {
        return Ok(());
    }
    let message = format!("it changed while being read: {}", file.path.display());
    Err(Error::new(Kind::Local, message).with_hint("put it again when no program is writing to it"))
}

/// Whether there is no point in continuing this upload.
fn is_settled(published: &Result<Resource>) -> bool {
    use Kind::{Conflict, NoSpace, Quota, Unavailable, Unreachable};
    match published {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), Conflict | NoSpace | Quota | Unavailable | Unreachable)
        }
    }
}
