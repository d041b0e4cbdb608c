//! Writing a collection as a storage root.
//!
//! * `states` reads the kept states of a resource, `write` turns them into versions of an object.
//!
//! Invariant: an object has every state that the store has, each once. States that an object has already stay in it, whatever the store
//! does with its versions.

mod states;
mod write;

use std::collections::HashSet;
use std::path::Path;

use cenote_client::{At, Client, Resource};
use cenote_ocfl::{Object, Root};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;

use super::{ROOT, Summary, Written};
use crate::archive::names::Names;
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Line, Outcome, report_outcome};
use crate::session::Session;

/// What to export, and where to.
pub(crate) struct Export<'a> {
    session: &'a Session,
    client: &'a Client,
    root: Root,
    names: Names,
    collection: String,
    jobs: usize,
    /// Nothing is written.
    check: bool,
    bar: ProgressBar,
}

impl<'a> Export<'a> {
    /// Finds both sides; the directory becomes a storage root, unless this only compares.
    pub(crate) fn begin(
        session: &'a Session,
        collection: &str,
        directory: &Path,
        jobs: usize,
        check: bool,
    ) -> Result<Self> {
        let root = if check { Root::open(directory) } else { Root::create(directory) };
        let root = root.map_err(|fault| {
            CliError::new(Kind::Usage, fault.to_string())
                .hint("give an empty directory, or the storage root of an earlier export")
        })?;
        let names = Names::new(ROOT, collection);
        Ok(Self {
            session,
            client: session.client()?,
            root,
            names: names.ok_or_else(|| wrong(format!("not a collection: {collection}")))?,
            collection: collection.to_owned(),
            jobs,
            check,
            bar: session.progress.count(0, "exporting"),
        })
    }

    /// Exports the collection with everything below it.
    pub(crate) async fn run(&self) -> Result<Summary> {
        if !self.check {
            self.root.tidy().map_err(wrong)?;
        }
        let mut summary = Summary::default();
        let mut known = HashSet::new();
        let at = At::from(self.collection.as_str());
        let mut waiting = Box::pin(self.client.walk(&at).await?);
        let mut running = FuturesUnordered::new();
        let first = self.client.stat(&at).await?;
        known.insert(first.path.clone());
        running.push(self.one(first));
        loop {
            while running.len() < self.jobs.max(1)
                && let Some(resource) = waiting.next().await
            {
                let resource = resource?;
                if known.insert(resource.path.clone()) {
                    self.bar.inc_length(1);
                    running.push(self.one(resource));
                }
            }
            let Some((resource, written, outcome)) = running.next().await else { break };
            self.bar.inc(1);
            self.report(&resource, written, outcome, &mut summary)?;
        }
        self.left_over(&known, &mut summary)?;
        if !self.check {
            self.root.tidy().map_err(wrong)?;
        }
        self.bar.finish_and_clear();
        Ok(summary)
    }

    async fn one(&self, resource: Resource) -> (Resource, Written, Result<Outcome>) {
        let mut written = Written::default();
        let outcome = self.export(&resource, &mut written).await;
        (resource, written, outcome)
    }

    fn report(
        &self,
        resource: &Resource,
        written: Written,
        outcome: Result<Outcome>,
        summary: &mut Summary,
    ) -> Result<()> {
        let place = self.names.at(&resource.path).unwrap_or_default();
        let id = self.names.iri(&place);
        let (path, bytes) = (resource.path.clone(), written.bytes);
        let line = Line { action: "export", id: &id, path, bytes };
        summary.add(report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)?, written);
        Ok(())
    }

    /// Objects of resources that the collection does not have: they stay, and are reported.
    fn left_over(&self, known: &HashSet<String>, summary: &mut Summary) -> Result<()> {
        for directory in self.root.objects().map_err(wrong)? {
            let object = match Object::open(&directory) {
                Ok(object) => object,
                Err(faults) => {
                    let outcome = Err(wrong(faults));
                    let id = directory.display().to_string();
                    let line = Line { action: "export", id: &id, path: String::new(), bytes: 0 };
                    summary.add(
                        report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)?,
                        Written::default(),
                    );
                    continue;
                }
            };
            let id = object.inventory().id.clone();
            let path = self.names.place(&id).map(|place| self.names.path(&place));
            if path.is_none_or(|path| !known.contains(&path)) {
                let outcome = Ok(Outcome::Skipped("the collection does not have it".to_owned()));
                let line = Line { action: "export", id: &id, path: String::new(), bytes: 0 };
                summary.add(
                    report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)?,
                    Written::default(),
                );
            }
        }
        Ok(())
    }
}

const SKIPPED_HINT: &str =
    "objects are never removed: export to an empty directory for what is there now";
