//! Removed resources in the trash.

use cenote_client::{At, Attributes, RestoreRemoved};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;
use super::rows::{Rows, send};

#[pymethods]
impl Connection {
    #[pyo3(signature = (below=None))]
    fn trash(&self, below: Option<String>) -> Result<Rows, Failure> {
        let client = self.client()?;
        Ok(Rows::new(|to| async move { send(client.trash(below.as_deref()), to).await }))
    }

    #[pyo3(signature = (id, to, parents))]
    fn restore_removed(
        &self,
        id: u64,
        to: Option<String>,
        parents: bool,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let restore = RestoreRemoved { id, to, parents };
        Ok(Pending::new(async move {
            client.restore_removed(&restore).await.map(|restored| Answer::of(&restored))
        }))
    }

    /// Permanently removes one item, or all that the caller could restore.
    #[pyo3(signature = (id=None))]
    fn empty_trash(&self, id: Option<u64>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(
            async move { client.empty_trash(id).await.map(|items| Answer::of(&items)) },
        ))
    }

    /// How long, in seconds, and up to how many bytes what is removed below a collection is kept; without bytes, any number.
    #[pyo3(signature = (path, seconds, bytes=None))]
    fn keep_removed(
        &self,
        path: String,
        seconds: u64,
        bytes: Option<u64>,
    ) -> Result<Pending, Failure> {
        let attributes = Attributes {
            keep_removed: Some(seconds),
            keep_removed_bytes: Some(bytes),
            ..Attributes::default()
        };
        let client = self.client()?;
        Ok(Pending::of(async move { client.set_attributes(&At::Path(path), &attributes).await }))
    }
}
