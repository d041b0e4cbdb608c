//! Transfers of local files and directories to and from the store.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use cenote_client::transfer::{
    Arrival, Item, LocalFile, Options, Outcome, Source, Transfer, Wanted,
};
use cenote_client::{At, Client, Error, Kind, Resource, ResourceKind};
use futures_util::{Stream, StreamExt};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::address::checked;
use super::answer::Answer;
use super::connection::Connection;
use super::error::Failure;
use super::files::Putting;
use super::pending::Pending;
use super::progress::{Progress, observer};
use super::tree::PAGE;

/// A transfer, and its observer.
pub(super) struct Moving {
    transfer: Transfer,
    progress: Option<Arc<Progress>>,
}

impl Moving {
    pub(super) fn new(client: Client, progress: Option<Py<PyAny>>, options: Options) -> Self {
        let progress = progress.map(Progress::new);
        let transfer = Transfer::new(client, options, observer(progress.as_ref()));
        Self { transfer, progress }
    }

    /// Gets objects into files. The result is a list of failures, those in `failures` first.
    pub(super) async fn receive(
        self,
        wanted: Vec<Wanted>,
        mut failures: Vec<Answer>,
    ) -> Result<Answer, Failure> {
        let mut arrivals = std::pin::pin!(self.transfer.get_files(wanted));
        while let Some(Arrival { wanted, result }) = arrivals.next().await {
            failures.extend(result.err().map(|error| failed(wanted.resource.path, error)));
        }
        self.finish(Answer::List(failures))
    }

    /// The result, unless the callable raised an exception.
    fn finish(&self, answer: Answer) -> Result<Answer, Failure> {
        if let Some(progress) = &self.progress {
            progress.finish()?;
        }
        Ok(answer)
    }
}

#[pymethods]
impl Connection {
    #[pyo3(signature = (local, path, options, progress, jobs))]
    fn put_file(
        &self,
        local: PathBuf,
        path: String,
        options: Putting,
        progress: Option<Py<PyAny>>,
        jobs: NonZeroUsize,
    ) -> Result<Pending, Failure> {
        let moving = Moving::new(self.client()?, progress, self.sending(jobs));
        let (path, mut options) = (checked(path)?, options.options()?);
        Ok(Pending::new(async move {
            let file = LocalFile::new(&local)?;
            options.mode = options.mode.or(Some(file.mode));
            options.mtime = options.mtime.or(file.mtime);
            let put = moving.transfer.put_file(&file, &path, &options).await?;
            moving.finish(Answer::of(&put))
        }))
    }

    /// Puts files at their paths below the collection `base`: `None` is a directory. Each has an outcome of its own. Links are put as
    /// links, unless they are followed.
    #[pyo3(signature = (base, files, progress, jobs, follow=true))]
    fn put_files(
        &self,
        base: String,
        files: Vec<(String, Option<PathBuf>)>,
        progress: Option<Py<PyAny>>,
        jobs: NonZeroUsize,
        follow: bool,
    ) -> Result<Pending, Failure> {
        let moving = Moving::new(self.client()?, progress, self.sending(jobs));
        Ok(Pending::new(async move {
            let mut failures = Vec::new();
            let mut items = Vec::with_capacity(files.len());
            for (relative, local) in files {
                match item(relative.clone(), local, follow) {
                    Ok(item) => items.push(item),
                    Err(error) => failures.push(failed(relative, error)),
                }
            }
            failures.extend(failures_of(moving.transfer.put_items(&base, items)).await);
            moving.finish(Answer::List(failures))
        }))
    }

    /// Puts contents in memory at their paths below the collection `base`, many in one request.
    fn put_batch(
        &self,
        base: String,
        contents: Vec<(String, PyBackedBytes)>,
    ) -> Result<Pending, Failure> {
        let jobs = NonZeroUsize::new(4).expect("four is not zero");
        let moving = Moving::new(self.client()?, None, self.sending(jobs));
        let item = |(relative, bytes): (String, PyBackedBytes)| Item {
            relative,
            source: Source::Bytes(Bytes::from_owner(bytes)),
            mode: None,
            mtime: None,
        };
        let items: Vec<Item> = contents.into_iter().map(item).collect();
        Ok(Pending::new(async move {
            let failures = failures_of(moving.transfer.put_items(&base, items)).await;
            moving.finish(Answer::List(failures))
        }))
    }

    /// Gets objects into files, whose directories exist, as they are or were. Each has an outcome of its own; that of a collection is
    /// `wrong-kind`.
    #[pyo3(signature = (files, progress, jobs, as_of=None))]
    fn get_files(
        &self,
        files: Vec<(String, PathBuf)>,
        progress: Option<Py<PyAny>>,
        jobs: NonZeroUsize,
        as_of: Option<String>,
    ) -> Result<Pending, Failure> {
        let client = self.client()?;
        let options = Options { jobs, as_of: as_of.clone(), ..Options::default() };
        let moving = Moving::new(client.clone(), progress, options);
        Ok(Pending::new(async move {
            let (mut wanted, mut failures) = (Vec::with_capacity(files.len()), Vec::new());
            for page in files.chunks(PAGE) {
                let found = stat_many(&client, page, as_of.as_deref()).await?;
                for ((path, target), found) in page.iter().zip(found) {
                    match found.and_then(|resource| want(resource, target)) {
                        Ok(it) => wanted.push(it),
                        Err(error) => failures.push(failed(path.clone(), error)),
                    }
                }
            }
            moving.receive(wanted, failures).await
        }))
    }
}

/// What is, or was, at each of these paths.
async fn stat_many(
    client: &Client,
    files: &[(String, PathBuf)],
    as_of: Option<&str>,
) -> Result<Vec<Result<Resource, Error>>, Error> {
    let Some(moment) = as_of else {
        let at: Vec<At> = files.iter().map(|(path, _)| At::from(path)).collect();
        return client.stat_many(&at).await;
    };
    let mut found = Vec::with_capacity(files.len());
    for (path, _) in files {
        found.push(client.stat_as_of(path, moment).await);
    }
    Ok(found)
}

/// What is to be fetched for a resource. A collection is refused without a request.
fn want(resource: Resource, target: &Path) -> Result<Wanted, Error> {
    match resource.kind {
        ResourceKind::Collection => {
            Err(Error::new(Kind::WrongKind, format!("{} is a collection", resource.path)))
        }
        _ => Ok(Wanted { resource, target: target.to_owned() }),
    }
}

fn item(relative: String, local: Option<PathBuf>, follow: bool) -> Result<Item, Error> {
    let Some(local) = local else {
        return Ok(Item { relative, source: Source::Directory, mode: None, mtime: None });
    };
    if !follow && let Ok(target) = local.read_link() {
        let source = Source::Link(name_of(target)?);
        return Ok(Item { relative, source, mode: None, mtime: None });
    }
    let file = LocalFile::new(&local)?;
    let (mode, mtime) = (Some(file.mode), file.mtime);
    Ok(Item { relative, source: Source::File(file), mode, mtime })
}

/// The target of a link as text, as the store has it.
fn name_of(target: PathBuf) -> Result<String, Error> {
    let named = target.into_os_string().into_string();
    named.map_err(|name| {
        Error::new(Kind::Invalid, format!("not a name in UTF-8: {}", name.display()))
    })
}

async fn failures_of(outcomes: impl Stream<Item = Outcome>) -> Vec<Answer> {
    let failures = outcomes.filter_map(|Outcome { item, result }| {
        std::future::ready(result.err().map(|error| failed(item.relative, error)))
    });
    failures.collect().await
}

/// A path, and why it failed.
pub(super) fn failed(path: String, error: Error) -> Answer {
    Answer::List(vec![Answer::Json(path.into()), Answer::Failure(error.into())])
}
