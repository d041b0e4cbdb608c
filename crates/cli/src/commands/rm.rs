//! `cenote rm`: remove resources.

use cenote_client::{Client, Removal, Resource, ResourceKind};
use serde::Serialize;

use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Remove resources.
///
/// This cannot be undone. Resources with versions are removed only with --versions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(required = true)]
    paths: Vec<StorePath>,
    /// Remove collections and everything below them
    #[arg(long, short)]
    recursive: bool,
    /// Remove versions too, even labelled ones; they are lost
    #[arg(long)]
    versions: bool,
    /// Ignore missing paths
    #[arg(long, short)]
    force: bool,
    /// Print what would be removed, without removing anything
    #[arg(long, short = 'n')]
    dry_run: bool,
}

#[derive(Serialize)]
struct Removed<'a> {
    action: &'static str,
    path: &'a str,
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let (recursive, versions) = (self.recursive, self.versions);
        let removal = Removal { recursive, versions, if_match: None };
        for path in &self.paths {
            for resource in self.named(client, path).await? {
                if !self.dry_run {
                    let removed = client.remove(&resource.path, &removal).await;
                    removed.map_err(|error| self.explain(&resource, error))?;
                }
                let line =
                    Removed { action: "remove", path: &resource.path, dry_run: self.dry_run };
                let word = if self.dry_run { "would remove" } else { "removed" };
                session.output.done(&line, |line| format!("{word} {}", line.path))?;
            }
        }
        session.settle().await
    }

    async fn named(&self, client: &Client, path: &StorePath) -> Result<Vec<Resource>> {
        match glob::expand(client, std::slice::from_ref(path)).await {
            Err(error) if self.force && error.kind() == Kind::NotFound => Ok(Vec::new()),
            found => found,
        }
    }

    fn explain(&self, resource: &Resource, error: cenote_client::Error) -> CliError {
        let more = error.kind() == cenote_client::Kind::NotEmpty;
        let children = resource.kind == ResourceKind::Collection && !self.recursive;
        let error = CliError::from(error);
        match more {
            true if children => error.hinted("use -r to remove it with everything below it"),
            true => error.hinted("use --versions to remove them as well; they cannot be restored"),
            false => error,
        }
    }
}

