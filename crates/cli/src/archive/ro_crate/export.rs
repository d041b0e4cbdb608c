//! Writing a collection as a crate: the files first, and the metadata when all of them are
//! complete.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use cenote_client::transfer::{Options, Transfer, Unobserved};
use cenote_client::{At, Client, Resource, ResourceKind};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use indicatif::ProgressBar;
use serde_json::json;

use super::entity::{Entities, Ids};
use super::target::{MetadataFiles, Target};
use super::terms::{CONTEXT, PROFILE};
use super::{BASE, GENERATED, METADATA, Summary, is_about_the_crate, preview};
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place};
use crate::archive::wrong;
use crate::error::Result;
use crate::migrate::{Line, Outcome, OutcomeKind, report_outcome};
use crate::session::Session;

/// What to export, and where to.
pub(crate) struct Export<'a> {
    session: &'a Session,
    client: &'a Client,
    transfer: Transfer,
    to: PathBuf,
    names: Names,
    collection: String,
    jobs: usize,
    bar: ProgressBar,
}

impl<'a> Export<'a> {
    /// Finds both sides; the directory or the zip is new, or a crate.
    pub(crate) fn begin(
        session: &'a Session,
        collection: &str,
        to: &Path,
        jobs: usize,
    ) -> Result<Self> {
        let names = Names::new(BASE, collection);
        let transfer = Transfer::new(
            session.client()?.clone(),
            Options::default(),
            std::sync::Arc::new(Unobserved),
        );
        Ok(Self {
            session,
            client: session.client()?,
            transfer,
            to: to.to_owned(),
            names: names.ok_or_else(|| wrong(format!("not a collection: {collection}")))?,
            collection: collection.to_owned(),
            jobs,
            bar: session.progress.count(0, "exporting"),
        })
    }

    /// Exports the collection with everything below it.
    pub(crate) async fn run(&self) -> Result<Summary> {
        let resources = self.resources().await?;
        self.bar.set_length(resources.len() as u64);
        let target = self.target(&resources).await?;
        let mut summary = Summary::default();
        let mut waiting = resources.iter();
        let mut running = FuturesUnordered::new();
        let (mut described, mut left_out) = (BTreeMap::new(), HashSet::new());
        loop {
            while running.len() < self.jobs.max(1)
                && let Some((place, resource)) = waiting.next()
            {
                let target = &target;
                running.push(
                    async move { (place, resource, self.one(target, place, resource).await) },
                );
            }
            let Some((place, resource, done)) = running.next().await else { break };
            self.bar.inc(1);
            let outcome = done.map(|(outcome, about)| {
                about.map(|about| described.insert(place.clone(), about));
                outcome
            });
            if self.report(place, resource, outcome, &mut summary)? {
                left_out.insert(place.clone());
            }
        }
        drop(running);
        summary.described = described.len() as u64;
        let metadata_files = self.metadata_files(&resources, &described, &left_out)?;
        target.finish(metadata_files, summary.failed == 0).await?;
        self.bar.finish_and_clear();
        Ok(summary)
    }

    /// The collection and everything below it, by their places.
    async fn resources(&self) -> Result<BTreeMap<Place, Resource>> {
        let at = At::from(self.collection.as_str());
        let first = self.client.stat(&at).await?;
        let mut resources = BTreeMap::from([(Place::default(), first)]);
        let mut walk = Box::pin(self.client.walk(&at).await?);
        while let Some(resource) = walk.next().await {
            let resource = resource?;
            let place = self.names.at(&resource.path);
            let place = place.ok_or_else(|| wrong(format!("not below: {}", resource.path)))?;
            resources.insert(place, resource);
        }
        Ok(resources)
    }

    /// Opens what is written, which reads what is there already.
    async fn target(&self, resources: &BTreeMap<Place, Resource>) -> Result<Target> {
        let (to, resources) = (self.to.clone(), resources.clone());
        let target = tokio::task::spawn_blocking(move || Target::begin(&to, &resources));
        target.await.map_err(wrong)?
    }

    /// Writes a file or makes a directory, and reads what is stated of it.
    async fn one(
        &self,
        target: &Target,
        place: &Place,
        resource: &Resource,
    ) -> Result<(Outcome, Option<About>)> {
        if resource.kind == ResourceKind::Link {
            let why = "symbolic links have no place in a crate".to_owned();
            return Ok((Outcome::Skipped(why), None));
        }
        if is_about_the_crate(place) {
            let why = "a file that says what the crate is has that name".to_owned();
            return Ok((Outcome::Skipped(why), None));
        }
        let at = At::Id(resource.id);
        let stated = Stated::of_store(&self.client.graph(&at).await?, &self.names, place)?;
        let about = About { stated, described: self.client.meta(&at).await? };
        let outcome = match resource.kind {
            ResourceKind::Object => target.file(&self.transfer, place, resource).await?,
            ResourceKind::Collection => {
                target.collection(place)?;
                Outcome::Unchanged
            }
            ResourceKind::Description | ResourceKind::Link => Outcome::Unchanged,
        };
        Ok((outcome, Some(about)))
    }

    /// Counts and reports a resource; whether it has no place in the crate.
    fn report(
        &self,
        place: &Place,
        resource: &Resource,
        outcome: Result<Outcome>,
        summary: &mut Summary,
    ) -> Result<bool> {
        let id = place.text();
        let (path, bytes) = (resource.path.clone(), resource.size.unwrap_or(0));
        let line = Line { action: "export", id: &id, path, bytes };
        let kind = report_outcome(&self.session.output, line, "use another format", outcome)?;
        match kind {
            OutcomeKind::Brought => {
                (summary.files, summary.bytes) = (summary.files + 1, summary.bytes + bytes);
            }
            OutcomeKind::Unchanged if resource.kind == ResourceKind::Object => {
                summary.unchanged += 1
            }
            OutcomeKind::Unchanged => {}
            OutcomeKind::Skipped => summary.skipped += 1,
            OutcomeKind::Failed => summary.failed += 1,
        }
        Ok(matches!(kind, OutcomeKind::Skipped | OutcomeKind::Failed))
    }

    /// The metadata of all files, and the preview.
    fn metadata_files(
        &self,
        resources: &BTreeMap<Place, Resource>,
        described: &BTreeMap<Place, About>,
        left_out: &HashSet<Place>,
    ) -> Result<MetadataFiles> {
        let is_collection = |iri: &str| {
            let resource = self.names.place(iri).and_then(|place| resources.get(&place));
            resource.is_some_and(|resource| resource.kind == ResourceKind::Collection)
        };
        let ids = Ids { is_collection: &is_collection };
        let mut entities = Entities::default();
        for (key, value) in [
            ("@type", json!("CreativeWork")),
            ("conformsTo", json!({ "@id": PROFILE })),
            ("about", json!({ "@id": "./" })),
        ] {
            entities.add(METADATA, key, value);
        }
        for (place, resource) in resources.iter().filter(|(place, _)| !left_out.contains(place)) {
            let id = ids.of(place, resource.kind);
            entities.resource(&id, resource);
            if let Some(About { stated, described }) = described.get(place) {
                entities.stated(&ids, resource.id, stated);
                entities.units(&id, resource.id, described);
            }
            if let Some(parent) = place.parent() {
                let parent = ids.of(&parent, ResourceKind::Collection);
                entities.add_part(&parent, &id);
            }
        }
        self.complete(&mut entities, resources.get(&Place::default()));
        let graph = entities.into_graph();
        let preview = preview::page(&graph).into_bytes();
        let whole = json!({ "@context": CONTEXT, "@graph": graph });
        Ok(MetadataFiles { metadata: serde_json::to_vec_pretty(&whole).map_err(wrong)?, preview })
    }

    /// What the root has to say of itself, where its description does not.
    fn complete(&self, entities: &mut Entities, root: Option<&Resource>) {
        let name = self.collection.rsplit('/').next().filter(|name| !name.is_empty());
        let name = name.unwrap_or("/");
        let published = root.and_then(|root| root.modified).map(|time| time.to_string());
        for (key, value) in [
            ("name", name.to_owned()),
            ("description", format!("The collection {name}")),
            ("datePublished", published.unwrap_or_default()),
        ] {
            if !entities.has("./", key) {
                entities.add("./", key, json!(value));
                entities.add(METADATA, GENERATED, json!(key));
            }
        }
    }
}

/// What is stated of a resource.
struct About {
    stated: Stated,
    described: Vec<cenote_client::Avu>,
}
