//! Bringing a storage root into a collection.
//!
//! * `valid` checks every object, before anything is brought; `read` says which resources an object is, fcrepo's or any other;
//! * `bring` makes one of them in the store, state by state; `current` is what the store has of it.
//!
//! Invariant: nothing appears in the store unless every object of the root is valid, and imported contents have the
//! digests in the inventory of their object.

mod bring;
mod current;
mod read;
mod valid;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cenote_client::transfer::Transfer;
use cenote_client::{At, Attributes, Client};
use cenote_ocfl::{Object, Root};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;

use self::read::{Found, resources};
use self::valid::Valid;
use super::{ROOT, Summary, Written};
use crate::archive::names::{Names, Place};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Line, Outcome, report_outcome};
use crate::session::Session;
use crate::tree::uploads;

/// What to import, and where to.
pub(crate) struct Import<'a> {
    session: &'a Session,
    client: &'a Client,
    transfer: Transfer,
    root: Root,
    names: Names,
    collection: String,
    jobs: usize,
    /// Nothing is brought.
    check: bool,
    /// Whether the store keeps versions there.
    keeps: bool,
    bar: ProgressBar,
}

/// A resource to bring, and the object that has it.
struct Task {
    directory: PathBuf,
    place: Place,
    index: usize,
}

impl<'a> Import<'a> {
    /// Finds both sides; the collection exists, unless this only compares.
    pub(crate) fn begin(
        session: &'a Session,
        directory: &Path,
        collection: &str,
        jobs: NonZeroUsize,
        check: bool,
    ) -> Result<Self> {
        let root = Root::open(directory).map_err(|fault| {
            CliError::new(Kind::Usage, fault.to_string())
                .hint("give the directory of an OCFL storage root")
        })?;
        let bar = session.progress.count(0, "importing");
        let names = Names::new(ROOT, collection);
        Ok(Self {
            session,
            client: session.client()?,
            transfer: uploads(session, jobs, &ProgressBar::hidden())?,
            root,
            names: names.ok_or_else(|| wrong(format!("not a collection: {collection}")))?,
            collection: collection.to_owned(),
            jobs: jobs.get(),
            check,
            keeps: true,
            bar,
        })
    }

    /// Checks all objects, and then imports what is missing in the store.
    pub(crate) async fn run(mut self) -> Result<Summary> {
        let valid = self.valid().await?;
        let mut summary = Summary::default();
        let tasks = self.tasks(&valid, &mut summary)?;
        self.bar.set_length(tasks.len() as u64);
        self.keeps = self.decide(&tasks, &valid).await?;
        let this = &self;
        let mut waiting = tasks.into_iter();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < this.jobs
                && let Some(task) = waiting.next()
            {
                let valid = &valid[&task.directory];
                running.push(async move {
                    let mut written = Written::default();
                    let outcome = this.one(&task, valid, &mut written).await;
                    (task, written, outcome)
                });
            }
            let Some((task, written, outcome)) = running.next().await else { break };
            this.bar.inc(1);
            let (id, path) = (this.names.iri(&task.place), this.names.path(&task.place));
            let line = Line { action: "import", id: &id, path, bytes: written.bytes };
            summary
                .add(report_outcome(&this.session.output, line, SKIPPED_HINT, outcome)?, written);
        }
        drop(running);
        self.bar.finish_and_clear();
        Ok(summary)
    }

    async fn one(&self, task: &Task, valid: &Valid, written: &mut Written) -> Result<Outcome> {
        let object = Object::open(&task.directory).map_err(wrong)?;
        let mut found = resources(&object, &self.names)?.found;
        if task.index >= found.len() {
            return Err(wrong("the object has changed meanwhile"));
        }
        let found: Found = found.swap_remove(task.index);
        self.bring(&object, &valid.checked, found, written).await
    }

    /// The resources of all objects, each of them once.
    fn tasks(&self, valid: &BTreeMap<PathBuf, Valid>, summary: &mut Summary) -> Result<Vec<Task>> {
        let mut tasks = BTreeMap::new();
        for (directory, valid) in valid {
            for (index, place) in valid.places.iter().enumerate() {
                let task = Task { directory: directory.clone(), place: place.clone(), index };
                if tasks.insert(place.clone(), task).is_some() {
                    let what = format!("several objects are {}", self.names.iri(place));
                    return Err(CliError::new(Kind::Mismatch, what).hint("nothing was imported"));
                }
            }
            for (id, why) in &valid.left_out {
                let line = Line { action: "import", id, path: String::new(), bytes: 0 };
                let outcome = Ok(Outcome::Skipped(why.clone()));
                summary.add(
                    report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)?,
                    Written::default(),
                );
            }
        }
        Ok(tasks.into_values().collect())
    }

    /// Whether versions are kept below the collection. If that is not set, and the objects have versions, it is turned
    /// on.
    async fn decide(&self, _: &[Task], valid: &BTreeMap<PathBuf, Valid>) -> Result<bool> {
        if !valid.values().any(|valid| valid.has_history) {
            return Ok(true);
        }
        let mut place = Place::of(&self.collection);
        while let Some(at) = place {
            let path = format!("/{}", at.text());
            if let Some(resource) = self.client.find(&path).await?
                && let Some(versioning) = resource.versioning
            {
                let is_off = versioning == "off";
                if is_off {
                    self.session.output.warn(
                        &format!("versions are off at {path}: earlier states are left out"),
                        OFF,
                    );
                }
                return Ok(!is_off);
            }
            place = at.parent();
        }
        if !self.check {
            let on_request = Some("on-request".to_owned());
            let attributes = Attributes { versioning: on_request, ..Attributes::default() };
            self.client.set_attributes(&At::from(&self.collection), &attributes).await?;
        }
        Ok(true)
    }
}

const SKIPPED_HINT: &str = "read its inventory.json";
const OFF: &str = "use `cenote versions policy` before importing";
