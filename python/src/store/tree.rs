//! Looking at the tree and changing it.

use cenote_client::{At, Attributes, NewResource, Relocation, Removal, ResourceKind};
use pyo3::prelude::*;

use super::address::checked;
use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;
use super::rows::{Rows, send, send_error};

#[pymethods]
impl Connection {
    fn stat(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.stat(&At::Path(path)).await };
        Ok(Pending::new(async { call.await.map(|found| Answer::of(&found)) }))
    }

    fn stat_many(&self, paths: Vec<String>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let mut found = Vec::with_capacity(paths.len());
            for page in paths.chunks(PAGE) {
                let page: Vec<At> = page.iter().map(At::from).collect();
                found.extend(client.stat_many(&page).await?.into_iter().map(Answer::of_each));
            }
            Ok::<_, Failure>(Answer::List(found))
        }))
    }

    fn ls(&self, path: String) -> Result<Rows, Failure> {
        let client = self.client()?;
        Ok(Rows::new(|to| async move { send(client.list(&At::Path(path)), to).await }))
    }

    fn walk(&self, path: String) -> Result<Rows, Failure> {
        let client = self.client()?;
        Ok(Rows::new(|to| async move {
            match client.walk(&At::Path(path)).await {
                Ok(rows) => send(rows, to).await,
                Err(error) => send_error(error, to).await,
            }
        }))
    }

    fn usage(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        let call = async move { client.usage(&At::Path(path)).await };
        Ok(Pending::new(async { call.await.map(|usage| Answer::of(&usage)) }))
    }

    fn make_collection(
        &self,
        path: String,
        parents: bool,
        exist_ok: bool,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let new = NewResource {
            to: path.into(),
            kind: ResourceKind::Collection,
            target: None,
            parents,
            exist_ok,
            mode: None,
            mtime: None,
        };
        Ok(Pending::new(async move { client.create(&new).await.map(|made| Answer::of(&made)) }))
    }

    fn remove(
        &self,
        path: String,
        recursive: bool,
        versions: bool,
        permanent: bool,
    ) -> Result<Pending, Failure> {
        let (client, path) = (self.client()?, checked(path)?);
        Ok(Pending::new(async move {
            let removal = Removal { recursive, versions, permanent, if_match: None };
            client.remove(path.as_str(), &removal).await.map(|kept| Answer::of(&kept))
        }))
    }

    fn relocate(
        &self,
        source: String,
        target: String,
        replace: bool,
        parents: bool,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let relocation = relocation(source, target, replace, parents);
        Ok(Pending::new(async move {
            client.relocate(&relocation).await.map(|moved| Answer::of(&moved))
        }))
    }

    fn copy(
        &self,
        source: String,
        target: String,
        replace: bool,
        parents: bool,
        recursive: bool,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let relocation = relocation(source, target, replace, parents);
        Ok(Pending::new(async move {
            client.copy(&relocation, recursive).await.map(|copy| Answer::of(&copy))
        }))
    }

    #[pyo3(signature = (path, mode=None, mtime=None, owner=None, media_type=None))]
    fn set_attributes(
        &self,
        path: String,
        mode: Option<u32>,
        mtime: Option<String>,
        owner: Option<String>,
        media_type: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let mtime = mtime.map(|time| super::files::timestamp(&time)).transpose()?;
        let attributes = Attributes { mode, mtime, owner, media_type, ..Attributes::default() };
        Ok(Pending::new(async move {
            let changed = client.set_attributes(&At::Path(path), &attributes).await;
            changed.map(|changed| Answer::of(&changed))
        }))
    }
}

/// The number of resources per request.
pub(super) const PAGE: usize = 1_000;

fn relocation(from: String, to: String, replace: bool, parents: bool) -> Relocation {
    Relocation { from: At::Path(from), to: to.into(), replace, parents, versions: false }
}
