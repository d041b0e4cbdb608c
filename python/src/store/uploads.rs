//! Contents that are published at the end: uploads in parts, and stages that are written anywhere.

use bytes::Bytes;
use cenote_client::{Address, At, CrcDigest, NewStage, NewUpload, Patch, StageFrom};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::files::collect;
use super::pending::Pending;

#[pymethods]
impl Connection {
    #[pyo3(signature = (path, size, media_type, parents, create_only, if_match=None))]
    fn begin_upload(
        &self,
        path: String,
        size: u64,
        media_type: Option<String>,
        parents: bool,
        create_only: bool,
        if_match: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let if_none_match = create_only.then(|| "*".to_owned());
        let (at, mode, mtime, place) = (At::Path(path), None, None, None);
        let new = NewUpload {
            at,
            size,
            media_type,
            mode,
            mtime,
            if_match,
            if_none_match,
            parents,
            place,
        };
        Ok(Pending::new(async move { client.begin_upload(&new).await.map(|id| Answer::of(&id)) }))
    }

    /// The offset and the length of each part that has arrived.
    fn upload_parts(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let parts = client.upload_parts(&id).await?;
            let parts: Vec<_> = parts.iter().map(|part| (part.offset, part.length)).collect();
            Ok::<_, Failure>(Answer::of(&parts))
        }))
    }

    fn put_part(&self, id: String, offset: u64, bytes: PyBackedBytes) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let digest = CrcDigest::of(&bytes);
            let part = client.put_part(&id, offset, Bytes::from_owner(bytes), digest).await;
            part.map(|_| Answer::none())
        }))
    }

    fn complete_upload(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            client.complete_upload(&id).await.map(|resource| Answer::of(&resource))
        }))
    }

    /// Abandons an upload or a stage.
    fn abandon_upload(&self, id: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move { client.abandon_upload(&id).await.map(|()| Answer::none()) }))
    }

    /// Creates a stage, with the current content of the object or an empty one. With `if_match`, it is created and
    /// published only while the content has this tag.
    #[pyo3(signature = (path, from_object, create_only, media_type=None, if_match=None))]
    fn begin_stage(
        &self,
        path: String,
        from_object: bool,
        create_only: bool,
        media_type: Option<String>,
        if_match: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let new = NewStage {
            at: Address::At(At::Path(path)),
            from: if from_object { StageFrom::Object } else { StageFrom::Nothing },
            media_type,
            mode: None,
            if_match,
            if_none_match: create_only.then(|| "*".to_owned()),
        };
        Ok(Pending::new(async move {
            let stage = client.begin_stage(&new).await?;
            Ok::<_, Failure>(Answer::of(&(stage.id, stage.size)))
        }))
    }

    fn write_stage(
        &self,
        id: String,
        offset: u64,
        bytes: PyBackedBytes,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let patch = Patch::Write(offset, Bytes::from_owner(bytes));
            client.patch_stage(&id, &patch).await.map(|size| Answer::of(&size))
        }))
    }

    /// Truncates a stage, or extends it with zeros.
    fn resize_stage(&self, id: String, size: u64) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            client.patch_stage(&id, &Patch::Truncate(size)).await.map(|size| Answer::of(&size))
        }))
    }

    /// Reads a stage from `start` up to, and without, `stop`, which is larger.
    fn read_stage(&self, id: String, start: u64, stop: u64) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let content = client.read_stage(&id, Some(start..stop)).await?;
            collect(content, "what was written").await.map(Answer::Bytes)
        }))
    }

    fn publish_stage(&self, id: String, force: bool) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let published = client.publish_stage(&id, None, force).await;
            published.map(|resource| Answer::of(&resource))
        }))
    }
}
