//! Uploads one file to the store, in the way that suits its size.

use std::sync::Arc;

use super::{LocalFile, Transfer, blocking};
use crate::api::compare;
use crate::call::Payload;
use crate::digest::Sha256Digest;
use crate::{Error, PutOptions, Resource, Result};

/// Files up to this size are read into memory.
const SMALL: u64 = 1 << 20;

impl Transfer {
    /// Puts a local file at `path`. The server checks every byte before it publishes the content.
    ///
    /// # Errors
    /// Those of the call, and [`Kind::Local`](crate::Kind::Local) if the file cannot be read.
    pub async fn put_file(
        &self,
        file: &LocalFile,
        path: &str,
        options: &PutOptions,
    ) -> Result<Resource> {
        // An upload is created outside of the change set, where the collection may not exist and the condition may not hold.
        if file.size >= self.options.parts_from && !self.client.is_within_changeset() {
            return self.put_parts(file, path, options).await;
        }
        let (payload, digest) = if file.size <= SMALL {
            self.in_memory(file).await?
        } else {
            self.streamed(file).await?
        };
        let resource = self.client.put(path, payload, Some(digest), options).await?;
        compare(&resource, digest)?;
        Ok(resource)
    }

    async fn in_memory(&self, file: &LocalFile) -> Result<(Payload, Sha256Digest)> {
        let source = file.clone();
        let (bytes, digest) = blocking(move || {
            let bytes = source.read()?;
            let digest = Sha256Digest::of(&bytes);
            Ok::<_, Error>((bytes, digest))
        })
        .await?;
        self.observer.moved(bytes.len() as u64);
        Ok((Payload::Bytes(bytes.into()), digest))
    }

    /// Reads the file twice: the digest is sent before the bytes, so that corruption in transit is detected before
    /// anything is published.
    async fn streamed(&self, file: &LocalFile) -> Result<(Payload, Sha256Digest)> {
        let hashed = file.clone();
        let digest = blocking(move || hashed.sha256()).await?;
        let (file, observer) = (file.clone(), Arc::clone(&self.observer));
        let body = move || file.body(Arc::clone(&observer));
        Ok((Payload::Made(Arc::new(body)), digest))
    }
}
