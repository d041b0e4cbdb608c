//! Everything below a collection, to be received into a directory. The rows of one walk describe the objects, so none
//! of them is looked up again, and none becomes a Python object.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cenote_client::transfer::Wanted;
use cenote_client::{At, Client, Error, Kind, Resource, ResourceKind};
use futures_util::{Stream, StreamExt};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::pending::Pending;
use super::transfer::Moving;

/// What was below a collection when it was walked. Links are left out.
#[pyclass(module = "cenote._cenote.store", frozen)]
pub(super) struct Below {
    client: Client,
    /// The paths of the collections relative to the one that was walked, which is the empty path.
    collections: BTreeSet<PathBuf>,
    objects: Arc<[(PathBuf, Resource)]>,
}

#[pymethods]
impl Connection {
    /// Walks a collection. The answer is a `Below`.
    fn collect(&self, path: String) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let rows = client.walk(&At::Path(path.clone())).await?;
            let below = Below::of(client, &path, rows).await?;
            Ok::<_, Failure>(Answer::Below(Box::new(below)))
        }))
    }
}

impl Below {
    async fn of(
        client: Client,
        root: &str,
        rows: impl Stream<Item = Result<Resource, Error>>,
    ) -> Result<Self, Error> {
        let (mut collections, mut objects) = (BTreeSet::from([PathBuf::new()]), Vec::new());
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.next().await.transpose()? {
            let relative = relative(root, &row.path)?;
            match row.kind {
                ResourceKind::Collection => drop(collections.insert(relative)),
                ResourceKind::Object => objects.push((relative, row)),
                ResourceKind::Link | ResourceKind::Description => {}
            }
        }
        Ok(Self { client, collections, objects: objects.into() })
    }
}

#[pymethods]
impl Below {
    /// The number of objects.
    fn __len__(&self) -> usize {
        self.objects.len()
    }

    /// Creates the directory `local`, and in it one for each collection.
    fn make_directories(&self, py: Python<'_>, local: PathBuf) -> PyResult<()> {
        py.detach(|| {
            self.collections.iter().try_for_each(|path| std::fs::create_dir_all(local.join(path)))
        })?;
        Ok(())
    }

    /// Gets the objects from `start` to before `stop` into files below the directory `local`. Each has an outcome of its own.
    #[pyo3(signature = (local, start, stop, progress, jobs))]
    fn get(
        &self,
        local: PathBuf,
        start: usize,
        stop: usize,
        progress: Option<Py<PyAny>>,
        jobs: NonZeroUsize,
    ) -> Pending {
        let moving = Moving::new(self.client.clone(), progress, jobs);
        let objects = Arc::clone(&self.objects);
        Pending::new(async move {
            let some = objects.iter().skip(start).take(stop.saturating_sub(start));
            let wanted = some.map(|(path, resource)| wanted(&local, path, resource)).collect();
            moving.receive(wanted, Vec::new()).await
        })
    }
}

fn wanted(local: &Path, relative: &Path, resource: &Resource) -> Wanted {
    Wanted { resource: resource.clone(), target: local.join(relative) }
}

/// The path of a resource below `root`. One that would lead out of a directory is refused, whatever the server says.
fn relative(root: &str, path: &str) -> Result<PathBuf, Error> {
    let below =
        path.strip_prefix(root.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    let relative = PathBuf::from(below.unwrap_or("/"));
    let names = |part| matches!(part, Component::Normal(_));
    match relative.components().all(names) {
        true => Ok(relative),
        false => Err(Error::new(Kind::Invalid, format!("not a name for a file: {path}"))),
    }
}
