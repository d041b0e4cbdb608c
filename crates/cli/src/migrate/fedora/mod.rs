//! Bringing a repository of linked data (LAKEsuperior, fcrepo, any LDP server) into the store by walking it, through the store's own
//! linked-data opening.
//!
//! * `addresses` says where each resource goes, `graph` what is stated of it, `thing` brings one.
//! * `source` is how to log in there.
//!
//! No state is recorded: what exists in the store is determined by comparing, so that an interrupted run continues with
//! what is missing. Invariant: a resource counts as migrated once its statements are those of the source, and its bytes
//! have the digests reported by the source.

mod addresses;
mod graph;
mod source;
mod thing;

use std::collections::{HashSet, VecDeque};

use cenote_client::ldp::LinkedData;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;
use serde::Serialize;

use self::addresses::{Place, Root, encoded};
use self::graph::{Managed, Stated};
pub(crate) use self::source::SourceArgs;
use self::thing::Visited;
use super::{Line, Outcome, OutcomeKind, report_outcome};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Where the store has its resources in Fedora's dialect.
const MOUNT: &str = "/rest";

/// What a walk is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Bring,
    Verify,
}

/// What to bring, and where to.
pub(crate) struct Migration<'a> {
    session: &'a Session,
    jobs: usize,
    source: LinkedData,
    target: LinkedData,
    from: Root,
    /// Scheme, host and port of the source.
    from_origin: String,
    /// The path of the given address, unchanged.
    root_path: String,
    to: Root,
    collection: String,
    managed: Managed,
    bar: ProgressBar,
}

/// What became of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// Non-RDF sources, and RDF sources, that were brought.
    pub(crate) binaries: u64,
    pub(crate) graphs: u64,
    pub(crate) bytes: u64,
    pub(crate) unchanged: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
    /// Resources that were found to be the same in the end.
    pub(crate) verified: u64,
}

impl<'a> Migration<'a> {
    /// Finds both sides; the collection exists.
    pub(crate) async fn begin(
        session: &'a Session,
        args: &SourceArgs,
        url: &str,
        collection: &str,
        jobs: usize,
    ) -> Result<Self> {
        let (source, root_path) = args.open(url)?;
        let origin = url.strip_suffix(root_path.as_str()).unwrap_or(url).to_owned();
        let target = LinkedData::of_store(session.client()?.clone());
        let managed = serde_json::from_slice(&target.document("/info/ldp_constraints").await?)
            .map_err(|error| {
                CliError::new(Kind::Failed, format!("not the constraints: {error}"))
            })?;
        let names = collection.split('/').filter(|name| !name.is_empty()).map(encoded);
        let path = names.fold(MOUNT.to_owned(), |path, name| path + "/" + &name);
        let to = Root::new(&origin_of(&target, &path).await?, &path);
        Ok(Self {
            session,
            jobs,
            source,
            target,
            from: Root::new(&origin, &root_path),
            from_origin: origin,
            root_path,
            to,
            collection: collection.to_owned(),
            managed,
            bar: session.progress.count(0, "bringing"),
        })
    }

    /// Migrates what is missing, and then compares everything.
    pub(crate) async fn run(&self) -> Result<Summary> {
        let mut summary = Summary::default();
        self.walk(Phase::Bring, &mut summary).await?;
        self.verify(summary).await
    }

    /// Compares everything.
    pub(crate) async fn verify(&self, mut summary: Summary) -> Result<Summary> {
        self.bar.reset();
        self.bar.set_message("verifying");
        self.walk(Phase::Verify, &mut summary).await?;
        self.bar.finish_and_clear();
        Ok(summary)
    }

    /// Visits everything from the root down, each container before its children.
    async fn walk(&self, phase: Phase, summary: &mut Summary) -> Result<()> {
        let mut waiting = VecDeque::from([Place::root()]);
        let mut known: HashSet<Place> = waiting.iter().cloned().collect();
        let mut running = FuturesUnordered::new();
        loop {
            while running.len() < self.jobs
                && let Some(place) = waiting.pop_front()
            {
                self.bar.inc_length(1);
                running.push(async move {
                    let visited = self.visit(&place, phase).await;
                    (place, visited)
                });
            }
            let Some((place, visited)) = running.next().await else { return Ok(()) };
            let visited = visited?;
            self.bar.inc(1);
            for address in &visited.contained {
                match self.to.place(address) {
                    Some(child) if known.insert(child.clone()) => waiting.push_back(child),
                    Some(_) => {}
                    None => self.elsewhere(address, phase, summary)?,
                }
            }
            self.report(&place, visited, phase, summary)?;
        }
    }

    /// What a container contains that is not below it.
    fn elsewhere(&self, address: &str, phase: Phase, summary: &mut Summary) -> Result<()> {
        if phase == Phase::Bring {
            let line = Line { action: "bring", id: address, path: String::new(), bytes: 0 };
            let why = "its address is not below the given one".to_owned();
            report_outcome(&self.session.output, line, SKIPPED_HINT, Ok(Outcome::Skipped(why)))?;
            summary.skipped += 1;
        }
        Ok(())
    }

    fn report(
        &self,
        place: &Place,
        visited: Visited,
        phase: Phase,
        summary: &mut Summary,
    ) -> Result<()> {
        let Visited { outcome, is_binary, bytes, .. } = visited;
        let id = format!("{}{}", self.from_origin, self.from.path_of(place));
        let path = place.below(&self.collection);
        let line = Line { action: "bring", id: &id, path, bytes };
        if phase == Phase::Verify {
            match report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)? {
                OutcomeKind::Failed => summary.failed += 1,
                OutcomeKind::Skipped => summary.skipped += 1,
                OutcomeKind::Brought | OutcomeKind::Unchanged => summary.verified += 1,
            }
            return Ok(());
        }
        match report_outcome(&self.session.output, line, SKIPPED_HINT, outcome)? {
            OutcomeKind::Brought if is_binary => {
                (summary.binaries, summary.bytes) = (summary.binaries + 1, summary.bytes + bytes);
            }
            OutcomeKind::Brought => summary.graphs += 1,
            OutcomeKind::Unchanged => summary.unchanged += 1,
            OutcomeKind::Skipped => summary.skipped += 1,
            // It is reported and counted in the final comparison.
            OutcomeKind::Failed => {}
        }
        Ok(())
    }
}

const SKIPPED_HINT: &str = "open its address in a browser";

/// Scheme, host and port as the store itself has them in addresses.
async fn origin_of(target: &LinkedData, path: &str) -> Result<String> {
    let (media_type, text) = target.graph(path, "return=representation").await?;
    let stated = Stated::read(&media_type, &text, "http://localhost")?;
    let origin = stated.address().and_then(|address| address.strip_suffix(path));
    origin.map(str::to_owned).ok_or_else(|| {
        CliError::new(Kind::Failed, format!("the graph of {path} does not name its address"))
    })
}
