//! `cenote rm`: remove resources.

use cenote_client::{Client, Kept, Removal, Resource, ResourceKind};
use serde::Serialize;

use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Remove resources.
///
/// Where the collection above keeps removed resources (`cenote trash keep`; 30 days in a new store), they are moved to the trash with
/// everything below them, and `cenote trash restore` restores them. Otherwise, or with --permanent, they are removed for good;
/// resources with versions are then removed only with --versions.
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
    /// Remove for good, bypassing the trash
    #[arg(long)]
    permanent: bool,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    trash: Option<Kept>,
}

impl Removed<'_> {
    fn message(&self) -> String {
        match (self.dry_run, self.trash) {
            (true, _) => format!("would remove {}", self.path),
            (false, None) => format!("removed {}", self.path),
            (false, Some(Kept { id, .. })) => {
                format!("removed {} (undo: cenote trash restore {id})", self.path)
            }
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let removal = Removal {
            recursive: self.recursive,
            versions: self.versions,
            permanent: self.permanent,
            if_match: None,
        };
        for path in &self.paths {
            for resource in self.named(client, path).await? {
                let mut trash = None;
                if !self.dry_run {
                    let removed = client.remove(&resource.path, &removal).await;
                    trash = removed.map_err(|error| self.explain(&resource, error))?;
                }
                let (path, dry_run) = (&resource.path, self.dry_run);
                let line = Removed { action: "remove", path, dry_run, trash };
                session.output.done(&line, Removed::message)?;
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
