//! Bringing a project from a server that speaks the DNAnexus API into the store, by the calls of the store's own DNAnexus opening.
//!
//! Migrated objects can be found by their former ids, so that an interrupted run continues with what is missing.
//! Invariant: a file is closed, and so counts as migrated, once each of its parts was received as described by the
//! source; the store checks that.

mod bring;
mod source;

use std::collections::BTreeMap;

use cenote_client::dnanexus::Platform;
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) use self::source::SourceArgs;
use super::{Line, Outcome, OutcomeKind, report_outcome};
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// The most objects of a page.
const PAGE: u64 = 1_000;

/// What to bring, and where to.
pub(crate) struct Migration<'a> {
    pub(crate) session: &'a Session,
    pub(crate) jobs: usize,
    source: Platform,
    target: Platform,
    /// The project at the source, and its folder.
    from: (String, String),
    /// The project in the store, and its folder.
    to: (String, String),
    bar: ProgressBar,
}

/// What became of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    pub(crate) files: u64,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) unchanged: u64,
    pub(crate) skipped: u64,
    pub(crate) failed: u64,
}

impl<'a> Migration<'a> {
    /// Finds both sides; the collection exists.
    pub(crate) async fn begin(
        session: &'a Session,
        args: &SourceArgs,
        (project, folder): (&str, &str),
        path: &str,
        jobs: usize,
    ) -> Result<Self> {
        let source = args.open()?;
        let project = find_project(&source, project).await?;
        let client = session.client()?;
        let target = Platform::of_store(client.clone());
        let found = target.call("system", "findFolder", &json!({ "path": path })).await?;
        let to = (text(&found["project"]), text(&found["folder"]));
        let bar = session.progress.bytes(0).with_message("bringing");
        let from = (project, folder.to_owned());
        Ok(Self { session, jobs, source, target, from, to, bar })
    }

    pub(crate) async fn run(&self) -> Result<Summary> {
        self.folders().await?;
        let mut summary = Summary::default();
        let mut starting = Value::Null;
        loop {
            let page = self.page(&starting).await?;
            self.bring_page(&page["results"], &mut summary).await?;
            starting = page["next"].clone();
            if starting.is_null() {
                break;
            }
        }
        self.bar.finish_and_clear();
        if self.to.1 == "/" {
            let known = json!({ "knownAs": self.from.0 });
            self.target.call(&self.to.0, "update", &known).await?;
        }
        Ok(summary)
    }

    /// Makes all folders, also the empty ones.
    async fn folders(&self) -> Result<()> {
        let fields = json!({ "fields": { "folders": true } });
        let described = self.source.call(&self.from.0, "describe", &fields).await?;
        let folders = described["folders"].as_array().into_iter().flatten().map(text);
        let folders: Vec<String> = folders.filter_map(|folder| self.folder_to(&folder)).collect();
        stream::iter(folders)
            .map(|folder| async move {
                let input = json!({ "folder": folder, "parents": true });
                self.target.call(&self.to.0, "newFolder", &input).await.map(drop)
            })
            .buffer_unordered(self.jobs)
            .try_collect::<()>()
            .await?;
        Ok(())
    }

    /// The target of a folder of the source; `None` if it is not being migrated.
    fn folder_to(&self, folder: &str) -> Option<String> {
        let from = self.from.1.trim_end_matches('/');
        let rest = folder.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with('/'))
            .then(|| format!("{}{rest}", self.to.1.trim_end_matches('/')))
            .map(|path| if path.is_empty() { "/".to_owned() } else { path })
    }

    async fn page(&self, starting: &Value) -> Result<Value> {
        let named = [
            "name",
            "class",
            "state",
            "folder",
            "types",
            "hidden",
            "tags",
            "properties",
            "details",
            "created",
            "media",
            "size",
            "parts",
            "archivalState",
        ];
        let fields: BTreeMap<_, _> = named.into_iter().map(|name| (name, true)).collect();
        let (project, folder) = &self.from;
        let mut input = json!({
            "scope": { "project": project, "folder": folder, "recurse": true },
            "visibility": "either",
            "describe": { "fields": fields },
            "limit": PAGE,
        });
        if !starting.is_null() {
            input["starting"] = starting.clone();
        }
        Ok(self.source.call("system", "findDataObjects", &input).await?)
    }

    async fn bring_page(&self, results: &Value, summary: &mut Summary) -> Result<()> {
        let found: Vec<&Value> = results.as_array().into_iter().flatten().collect();
        let existing = self.existing(&found).await?;
        let sizes = found.iter().map(|one| one["describe"]["size"].as_u64().unwrap_or(0));
        self.bar.inc_length(sizes.sum());
        let mut done = stream::iter(found.into_iter().zip(existing))
            .map(|(one, existing)| async move {
                let id = text(&one["id"]);
                (self.bring(&id, &one["describe"], &existing).await, id, &one["describe"])
            })
            .buffer_unordered(self.jobs);
        while let Some((outcome, id, object)) = done.next().await {
            self.report((&id, object), outcome, summary)?;
        }
        Ok(())
    }

    /// What the store has of each of these already.
    async fn existing(&self, found: &[&Value]) -> Result<Vec<Value>> {
        let project = &self.to.0;
        let objects: Vec<_> =
            found.iter().map(|one| json!({ "knownAs": one["id"], "project": project })).collect();
        let fields = json!({ "*": { "fields": { "state": true, "size": true, "project": true } } });
        let input = json!({ "objects": objects, "classDescribeOptions": fields });
        let answer = self.target.call("system", "describeDataObjects", &input).await?;
        let results = answer["results"].as_array().cloned().unwrap_or_default();
        Ok(results.into_iter().map(|mut one| one["describe"].take()).collect())
    }

    fn report(
        &self,
        (id, object): (&str, &Value),
        outcome: Result<Outcome>,
        summary: &mut Summary,
    ) -> Result<()> {
        let bytes = object["size"].as_u64().unwrap_or(0);
        let folder = self.folder_to(&text(&object["folder"])).unwrap_or_default();
        let path = format!("{}/{}", folder.trim_end_matches('/'), text(&object["name"]));
        let line = Line { action: "bring", id, path, bytes };
        match report_outcome(&self.session.output, line, "see `dx describe`", outcome)? {
            OutcomeKind::Brought if id.starts_with("file-") => {
                (summary.files, summary.bytes) = (summary.files + 1, summary.bytes + bytes);
            }
            OutcomeKind::Brought => summary.records += 1,
            OutcomeKind::Unchanged => {
                summary.unchanged += 1;
                self.bar.inc(bytes);
            }
            OutcomeKind::Skipped => summary.skipped += 1,
            OutcomeKind::Failed => summary.failed += 1,
        }
        Ok(())
    }
}

/// The id of a project that is named by its id or its name.
async fn find_project(source: &Platform, named: &str) -> Result<String> {
    if named.starts_with("project-") || named.starts_with("container-") {
        return Ok(named.to_owned());
    }
    let input = json!({ "name": named, "level": "VIEW" });
    let found = source.call("system", "findProjects", &input).await?;
    match found["results"].as_array().map(Vec::as_slice) {
        Some([only]) => Ok(text(&only["id"])),
        None | Some([]) => {
            Err(CliError::new(Kind::NotFound, format!("there is no project {named:?}"))
                .hint("`dx find projects` lists them"))
        }
        Some(_) => {
            Err(CliError::new(Kind::Usage, format!("there are several projects named {named:?}"))
                .hint("give the id of one: `dx find projects` shows them"))
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
