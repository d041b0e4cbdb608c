//! Removed resources in the trash.

use cenote_client::RestoreRemoved;
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
}
