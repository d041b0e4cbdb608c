//! Importing a crate into a collection: its files, and their metadata as descriptions.
//!
//! Invariant: nothing is imported from a crate whose files do not match its metadata, or that
//! contains symbolic links.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cenote_client::transfer::Transfer;
use cenote_client::{At, Attributes, Client, NewResource, PutOptions, Resource, ResourceKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;

use super::check::{Problem, faults};
use super::metadata::{Entity, read};
use super::source::{Bytes, Found, Source, refused};
use super::{BASE, Summary};
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place};
use crate::archive::{units, wrong};
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Line, Outcome, OutcomeKind, report_outcome};
use crate::session::Session;
use crate::tree::uploads;

/// What to import, and where to.
pub(crate) struct Import<'a> {
    session: &'a Session,
    client: &'a Client,
    transfer: Transfer,
    from: PathBuf,
    names: Names,
    jobs: usize,
    bar: ProgressBar,
}

/// A file or a directory, with its metadata.
#[derive(Default)]
struct Part {
    bytes: Option<Bytes>,
    entity: Entity,
}

impl<'a> Import<'a> {
    /// Finds both sides.
    pub(crate) fn begin(
        session: &'a Session,
        from: &Path,
        collection: &str,
        jobs: NonZeroUsize,
    ) -> Result<Self> {
        let names = Names::new(BASE, collection);
        Ok(Self {
            session,
            client: session.client()?,
            transfer: uploads(session, jobs, &ProgressBar::hidden())?,
            from: from.to_owned(),
            names: names.ok_or_else(|| wrong(format!("not a collection: {collection}")))?,
            jobs: jobs.get(),
            bar: session.progress.count(0, "importing"),
        })
    }

    /// Checks the crate, and then imports what is missing in the store.
    pub(crate) async fn run(&self) -> Result<Summary> {
        let (from, names) = (self.from.clone(), self.names.clone());
        let checked = tokio::task::spawn_blocking(move || {
            let source = Source::open(&from)?;
            Ok::<_, CliError>((parts(&source, &names)?, source))
        });
        let (parts, source) = checked.await.map_err(wrong)??;
        self.bar.set_length(parts.len() as u64);
        let mut summary = Summary::default();
        for round in rounds(&parts) {
            self.import(&source, round, &mut summary).await?;
        }
        self.bar.finish_and_clear();
        Ok(summary)
    }

    /// Imports parts, several at a time.
    async fn import(
        &self,
        source: &Source,
        round: Vec<(&Place, &Part)>,
        summary: &mut Summary,
    ) -> Result<()> {
        let mut waiting = round.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.jobs
                && let Some((place, part)) = waiting.next()
            {
                running.push(async move { (place, part, self.one(source, place, part).await) });
            }
            let Some((place, part, done)) = running.next().await else { return Ok(()) };
            self.bar.inc(1);
            self.report(place, part, done, summary)?;
        }
    }

    fn report(
        &self,
        place: &Place,
        part: &Part,
        done: Result<(bool, bool)>,
        summary: &mut Summary,
    ) -> Result<()> {
        let bytes = part.bytes.as_ref().map_or(0, |bytes| bytes.size);
        let outcome = match &done {
            Ok((false, false)) => Ok(Outcome::Unchanged),
            Ok(_) => Ok(Outcome::Brought),
            Err(error) => Err(error.again()),
        };
        let id = place.text();
        let line = Line { action: "import", id: &id, path: self.names.path(place), bytes };
        match report_outcome(&self.session.output, line, "look at its metadata", outcome)? {
            OutcomeKind::Brought => {
                let (is_file, is_described) = done.unwrap_or_default();
                summary.described += u64::from(is_described);
                if is_file && part.bytes.is_some() {
                    (summary.files, summary.bytes) = (summary.files + 1, summary.bytes + bytes);
                }
            }
            OutcomeKind::Unchanged => summary.unchanged += 1,
            OutcomeKind::Skipped => summary.skipped += 1,
            OutcomeKind::Failed => summary.failed += 1,
        }
        Ok(())
    }

    /// Brings one: whether it was made or got other bytes or another media type, and whether its description changed.
    async fn one(&self, source: &Source, place: &Place, part: &Part) -> Result<(bool, bool)> {
        let path = self.names.path(place);
        let here = self.client.find(&path).await?;
        let kind = part.kind();
        if here.as_ref().is_some_and(|here| here.kind != kind) {
            return Err(CliError::new(Kind::Exists, format!("{path} is of another kind"))
                .hint("import into another collection"));
        }
        let is_changed = match (&here, &part.bytes) {
            (Some(here), Some(bytes)) if here.sha256.as_ref() == Some(&bytes.sha256) => {
                self.retype(here, part).await?
            }
            (_, Some(bytes)) => self.put(source, place, bytes, &part.entity).await?,
            (Some(_), None) => false,
            (None, None) => self.make(&path, kind).await?,
        };
        Ok((is_changed, self.describe(place, &path, part).await?))
    }

    /// Gives a file that is there the media type that the crate says; whether it had another one.
    async fn retype(&self, here: &Resource, part: &Part) -> Result<bool> {
        let wanted = part.entity.media_type.as_ref();
        if wanted.is_none() || wanted == here.media_type.as_ref() {
            return Ok(false);
        }
        let attributes = Attributes { media_type: wanted.cloned(), ..Attributes::default() };
        self.client.set_attributes(&At::Id(here.id), &attributes).await?;
        Ok(true)
    }

    async fn put(
        &self,
        source: &Source,
        place: &Place,
        bytes: &Bytes,
        entity: &Entity,
    ) -> Result<bool> {
        let local = source.local(place).await?;
        let options = PutOptions {
            media_type: entity.media_type.clone(),
            parents: true,
            mtime: entity.modified,
            ..PutOptions::default()
        };
        let put = self.transfer.put_file(&local.file, &self.names.path(place), &options).await?;
        match put.sha256.as_ref() == Some(&bytes.sha256) {
            true => Ok(true),
            false => Err(CliError::new(Kind::Mismatch, "the file has changed meanwhile")),
        }
    }

    async fn make(&self, path: &str, kind: ResourceKind) -> Result<bool> {
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
        Ok(true)
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
        match (&self.bytes, self.entity.is_description) {
            (Some(_), _) => ResourceKind::Object,
            (None, true) => ResourceKind::Description,
            (None, false) => ResourceKind::Collection,
        }
    }
}

/// Everything in a crate whose files are what it says.
fn parts(source: &Source, names: &Names) -> Result<BTreeMap<Place, Part>> {
    let found = source.read()?;
    let entities = read(&source.metadata()?, names, |place| found.contains_key(place))?;
    let fault = faults(&found, &entities)
        .into_iter()
        .find(|fault| matches!(fault.problem, Problem::Missing | Problem::Size | Problem::Sha256));
    match fault {
        Some(fault) => Err(refused(&fault.file, &fault.message)),
        None => Ok(together(found, entities)),
    }
}

/// The collections, each after the one that it is in, and then the rest. A part whose collection is missing creates it, so a collection that
/// is imported later would be taken for one that was there.
fn rounds(parts: &BTreeMap<Place, Part>) -> impl Iterator<Item = Vec<(&Place, &Part)>> {
    let mut rounds: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (place, part) in parts {
        let round = match part.kind() {
            ResourceKind::Collection => (false, place.depth()),
            _ => (true, 0),
        };
        rounds.entry(round).or_default().push((place, part));
    }
    rounds.into_values()
}

fn together(found: Found, entities: BTreeMap<Place, Entity>) -> BTreeMap<Place, Part> {
    let found = found.into_iter().map(|(place, bytes)| (place, Part { bytes, ..Part::default() }));
    let mut parts: BTreeMap<_, _> = found.collect();
    for (place, entity) in entities {
        parts.entry(place).or_default().entity = entity;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collection_is_imported_before_what_is_in_it() {
        let place = |path| Place::of(path).unwrap();
        let file =
            || Part { bytes: Some(Bytes { size: 0, sha256: String::new() }), ..Part::default() };
        let parts: BTreeMap<_, _> = [
            (place("a"), Part::default()),
            (place("a/b/c"), Part::default()),
            (place("a/b"), Part::default()),
            (place("a/b.txt"), file()),
            (place("a/b/c/d"), file()),
            (place("e"), Part::default()),
        ]
        .into();
        let names = |round: Vec<(&Place, _)>| -> Vec<_> {
            round.into_iter().map(|(place, _)| place.text()).collect()
        };
        let expected: [&[&str]; 4] = [&["a", "e"], &["a/b"], &["a/b/c"], &["a/b/c/d", "a/b.txt"]];
        assert_eq!(rounds(&parts).map(names).collect::<Vec<_>>(), expected);
    }
}
