//! Importing a crate into a collection: its files, and their metadata as descriptions.
//!
//! Invariant: nothing is imported from a crate whose files do not match its metadata, or that
//! contains symbolic links.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cenote_client::transfer::{LocalFile, Transfer};
use cenote_client::{At, Client, NewResource, PutOptions, ResourceKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;
use walkdir::WalkDir;

use super::metadata::{Entity, read};
use super::{BASE, METADATA, Summary};
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place};
use crate::archive::{units, wrong};
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Became, Line, Outcome, tell};
use crate::session::Session;
use crate::tree::uploads;

/// The most that the metadata may have, in bytes.
const LARGEST: u64 = 1 << 30;

/// What to import, and where to.
pub(crate) struct Import<'a> {
    session: &'a Session,
    client: &'a Client,
    transfer: Transfer,
    directory: PathBuf,
    names: Names,
    jobs: usize,
    bar: ProgressBar,
}

/// A file or a directory, with its metadata.
#[derive(Default)]
struct Part {
    file: Option<LocalFile>,
    sha256: Option<String>,
    entity: Entity,
}

impl<'a> Import<'a> {
    /// Finds both sides.
    pub(crate) fn begin(
        session: &'a Session,
        directory: &Path,
        collection: &str,
        jobs: NonZeroUsize,
    ) -> Result<Self> {
        let names = Names::new(BASE, collection);
        Ok(Self {
            session,
            client: session.client()?,
            transfer: uploads(session, jobs, &ProgressBar::hidden())?,
            directory: directory.to_owned(),
            names: names.ok_or_else(|| wrong(format!("not a collection: {collection}")))?,
            jobs: jobs.get(),
            bar: session.progress.count(0, "importing"),
        })
    }

    /// Checks the crate, and then imports what is missing in the store.
    pub(crate) async fn run(&self) -> Result<Summary> {
        let (directory, names) = (self.directory.clone(), self.names.clone());
        let parts = tokio::task::spawn_blocking(move || parts(&directory, &names));
        let parts = parts.await.map_err(wrong)??;
        self.bar.set_length(parts.len() as u64);
        let mut summary = Summary::default();
        // Directories precede their contents.
        let mut waiting = parts.iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.jobs
                && let Some((place, part)) = waiting.next()
            {
                running.push(async move { (place, part, self.one(place, part).await) });
            }
            let Some((place, part, done)) = running.next().await else { break };
            self.bar.inc(1);
            self.report(place, part, done, &mut summary)?;
        }
        self.bar.finish_and_clear();
        Ok(summary)
    }

    fn report(
        &self,
        place: &Place,
        part: &Part,
        done: Result<(bool, bool)>,
        summary: &mut Summary,
    ) -> Result<()> {
        let bytes = part.file.as_ref().map_or(0, |file| file.size);
        let outcome = match &done {
            Ok((false, false)) => Ok(Outcome::Unchanged),
            Ok(_) => Ok(Outcome::Brought),
            Err(error) => Err(error.again()),
        };
        let id = place.text();
        let line = Line { action: "import", id: &id, path: self.names.path(place), bytes };
        match tell(&self.session.output, line, "look at its metadata", outcome)? {
            Became::Brought => {
                let (is_file, is_described) = done.unwrap_or_default();
                summary.described += u64::from(is_described);
                if is_file && part.file.is_some() {
                    (summary.files, summary.bytes) = (summary.files + 1, summary.bytes + bytes);
                }
            }
            Became::Unchanged => summary.unchanged += 1,
            Became::Skipped => summary.skipped += 1,
            Became::Failed => summary.failed += 1,
        }
        Ok(())
    }

    /// Imports one; returns whether it was created or got other bytes, and whether its description
    /// changed.
    async fn one(&self, place: &Place, part: &Part) -> Result<(bool, bool)> {
        let path = self.names.path(place);
        let here = self.client.find(&path).await?;
        let kind = part.kind();
        if here.as_ref().is_some_and(|here| here.kind != kind) {
            return Err(CliError::new(Kind::Exists, format!("{path} is of another kind"))
                .hint("import into another collection"));
        }
        let here_sha256 = here.as_ref().and_then(|here| here.sha256.clone());
        let is_there = here.is_some() && (part.file.is_none() || here_sha256 == part.sha256);
        if !is_there {
            self.make(&path, kind, part).await?;
        }
        Ok((!is_there, self.describe(place, &path, part).await?))
    }

    async fn make(&self, path: &str, kind: ResourceKind, part: &Part) -> Result<()> {
        if let Some(file) = &part.file {
            let options = PutOptions {
                media_type: part.entity.media_type.clone(),
                parents: true,
                mtime: part.entity.modified,
                ..PutOptions::default()
            };
            let put = self.transfer.put_file(file, path, &options).await?;
            return match put.sha256 == part.sha256 {
                true => Ok(()),
                false => Err(CliError::new(Kind::Mismatch, "the file has changed meanwhile")),
            };
        }
        let new = NewResource {
            to: path.into(),
            kind,
            target: None,
            parents: true,
            exist_ok: true,
            mode: None,
            mtime: None,
        };
        self.client.create(&new).await?;
        Ok(())
    }

    /// Replaces the description with that of the crate; returns whether it changed.
    async fn describe(&self, place: &Place, path: &str, part: &Part) -> Result<bool> {
        let at = At::Path(path.to_owned());
        let (wanted, own) = (&part.entity.stated, &part.entity.units);
        let stated = Stated::of_store(&self.client.graph(&at).await?, &self.names, place)?;
        // A property with a unit is a statement, too.
        let is_same = match own.is_empty() {
            true => wanted.is_same(&stated),
            false => {
                let described = self.client.meta(&at).await?;
                wanted.is_within(&stated) && own.iter().all(|avu| described.contains(avu))
            }
        };
        if is_same {
            return Ok(false);
        }
        let text = wanted.for_store(&self.names, place);
        self.client.set_graph(&at, text.into()).await?;
        units::add(self.client, &at, own).await?;
        Ok(true)
    }
}

impl Part {
    fn kind(&self) -> ResourceKind {
        match (&self.file, self.entity.is_description) {
            (Some(_), _) => ResourceKind::Object,
            (None, true) => ResourceKind::Description,
            (None, false) => ResourceKind::Collection,
        }
    }
}

/// Everything in a crate whose files match its metadata.
fn parts(directory: &Path, names: &Names) -> Result<BTreeMap<Place, Part>> {
    let mut parts = files(directory)?;
    let text = metadata(directory)?;
    let entities = read(&text, names, |place| parts.contains_key(place))?;
    for (place, entity) in entities {
        let is_there = parts.contains_key(&place);
        if entity.is_file && !is_there {
            return Err(refused(&place, "the file is missing"));
        }
        let part = parts.entry(place.clone()).or_default();
        if let Some(file) = &part.file {
            let sha256 = part.sha256.clone();
            let is_same_size = entity.size.is_none_or(|size| size == file.size);
            let is_same = entity.sha256.is_none()
                || sha256
                    .as_ref()
                    .zip(entity.sha256.as_ref())
                    .is_some_and(|(one, other)| one.eq_ignore_ascii_case(other));
            if !is_same_size || !is_same {
                return Err(refused(&place, "the file is not what the metadata says"));
            }
        }
        part.entity = entity;
    }
    Ok(parts)
}

fn metadata(directory: &Path) -> Result<Vec<u8>> {
    let path = directory.join(METADATA);
    let status = path.symlink_metadata().map_err(|_| {
        CliError::new(Kind::Usage, format!("{} has no {METADATA}", directory.display()))
            .hint("give the directory of an RO-Crate")
    })?;
    match status.is_file() && status.len() <= LARGEST {
        true => Ok(std::fs::read(&path)?),
        false => Err(refused(&Place::default(), "its metadata is too large, or a link")),
    }
}

/// The files and directories of a crate, with the digests of the files.
fn files(directory: &Path) -> Result<BTreeMap<Place, Part>> {
    let mut parts = BTreeMap::from([(Place::default(), Part::default())]);
    for entry in WalkDir::new(directory).min_depth(1).follow_links(false) {
        let entry =
            entry.map_err(|error| wrong(error).hint("give the directory of an RO-Crate"))?;
        let below = entry.path().strip_prefix(directory).ok().and_then(Path::to_str);
        let place = below.and_then(Place::of);
        let not_a_name = || wrong(format!("{} is not a name in the store", entry.path().display()));
        let place = place.ok_or_else(not_a_name)?;
        if place.text() == METADATA {
            continue;
        }
        let part = match entry.file_type() {
            kind if kind.is_dir() => Part::default(),
            kind if kind.is_file() => {
                let file = LocalFile::new(entry.path())?;
                let sha256 = Some(hex(file.sha256()?.bytes()));
                Part { file: Some(file), sha256, entity: Entity::default() }
            }
            _ => return Err(refused(&place, "it is neither a file nor a directory")),
        };
        parts.insert(place, part);
    }
    Ok(parts)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn refused(place: &Place, what: &str) -> CliError {
    CliError::new(Kind::Mismatch, format!("{}: {what}", place.text())).hint("nothing was imported")
}
