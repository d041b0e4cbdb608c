//! Everything below a collection, to be received into a directory. The rows of one walk describe the objects, so none
//! of them is looked up again, and none becomes a Python object.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cenote_client::transfer::{Options, Wanted};
use cenote_client::{At, Client, Error, Kind, PastEntry, Resource, ResourceKind};
use futures_util::{Stream, StreamExt, TryStreamExt};
use pyo3::prelude::*;

use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::local::{is_unchanged, link, make_directory};
use super::pending::Pending;
use super::transfer::{Moving, failed};

/// What was below a collection when it was walked, or at a moment.
#[pyclass(module = "cenote._cenote.store", frozen)]
pub(super) struct Below {
    client: Client,
    as_of: Option<String>,
    /// Paths are relative to the collection that was walked, which is the empty path.
    collections: BTreeSet<PathBuf>,
    objects: Arc<[(PathBuf, Resource)]>,
    /// Links, and where they point.
    links: Vec<(PathBuf, String)>,
    /// The paths of what existed, and is no longer kept.
    lost: Vec<String>,
}

#[pymethods]
impl Connection {
    /// Walks a collection, as it is or was. The answer is a `Below`.
    #[pyo3(signature = (path, as_of=None))]
    fn collect(&self, path: String, as_of: Option<String>) -> Result<Pending, Failure> {
        let client = self.client()?;
        Ok(Pending::new(async move {
            let rows = match &as_of {
                Some(moment) => client.walk_as_of(&path, moment).await?.boxed(),
                None => {
                    let rows = client.walk(&At::Path(path.clone())).await?;
                    rows.map_ok(|row| PastEntry::Kept(Box::new(row))).boxed()
                }
            };
            let mut below = Below::empty(client, as_of);
            below.gather(&path, rows).await?;
            Ok::<_, Failure>(Answer::Below(Box::new(below)))
        }))
    }
}

impl Below {
    fn empty(client: Client, as_of: Option<String>) -> Self {
        let collections = BTreeSet::from([PathBuf::new()]);
        Self {
            client,
            as_of,
            collections,
            objects: Arc::default(),
            links: Vec::new(),
            lost: Vec::new(),
        }
    }

    async fn gather(
        &mut self,
        root: &str,
        mut rows: impl Stream<Item = Result<PastEntry, Error>> + Unpin,
    ) -> Result<(), Error> {
        let mut objects = Vec::new();
        while let Some(row) = rows.next().await.transpose()? {
            match row {
                PastEntry::Lost(lost) => self.lost.push(lost.path),
                PastEntry::Kept(row) => {
                    let relative = relative(root, &row.path)?;
                    self.add(relative, *row, &mut objects);
                }
            }
        }
        self.objects = objects.into();
        Ok(())
    }

    fn add(&mut self, relative: PathBuf, row: Resource, objects: &mut Vec<(PathBuf, Resource)>) {
        // The children of a former collection may be known, but not the collection.
        if self.as_of.is_some() {
            self.collections.extend(relative.ancestors().skip(1).map(Path::to_owned));
        }
        match row.kind {
            ResourceKind::Collection => drop(self.collections.insert(relative)),
            ResourceKind::Object => objects.push((relative, row)),
            ResourceKind::Link => self.links.extend(row.target.map(|target| (relative, target))),
            ResourceKind::Description => {}
        }
    }
}

#[pymethods]
impl Below {
    /// The number of objects.
    fn __len__(&self) -> usize {
        self.objects.len()
    }

    /// Creates the directory `local`, and in it one for each collection. If `real`, a link to a directory is none.
    fn make_directories(&self, py: Python<'_>, local: PathBuf, real: bool) -> PyResult<()> {
        py.detach(|| {
            self.collections.iter().try_for_each(|path| make_directory(&local, path, real))
        })?;
        Ok(())
    }

    /// Gets the objects from `start` to before `stop` into files below the directory `local`. Each has an outcome of its own. If
    /// `changed`, files that have the size, time and mode of their object are passed over.
    #[pyo3(signature = (local, start, stop, progress, jobs, changed=false))]
    fn get(
        &self,
        local: PathBuf,
        start: usize,
        stop: usize,
        progress: Option<Py<PyAny>>,
        jobs: NonZeroUsize,
        changed: bool,
    ) -> Pending {
        let options = Options { jobs, as_of: self.as_of.clone(), ..Options::default() };
        let moving = Moving::new(self.client.clone(), progress, options);
        let objects = Arc::clone(&self.objects);
        Pending::new(async move {
            let some = objects.iter().skip(start).take(stop.saturating_sub(start));
            let wanted = some.map(|(path, resource)| wanted(&local, path, resource));
            let wanted = wanted
                .filter(|Wanted { resource, target }| !(changed && is_unchanged(resource, target)));
            moving.receive(wanted.collect(), Vec::new()).await
        })
    }

    /// Makes the links below the directory `local`. The answer is a list of failures.
    fn make_links(&self, local: PathBuf) -> Pending {
        let links = self.links.clone();
        Pending::new(async move {
            let failures = links.into_iter().filter_map(|(path, target)| {
                let made = link(&local.join(&path), &target).err();
                made.map(|error| failed(path.display().to_string(), error))
            });
            Ok::<_, Failure>(Answer::List(failures.collect()))
        })
    }

    /// The paths of what is no longer kept.
    fn lost(&self) -> Vec<String> {
        self.lost.clone()
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
