//! `cenote get`: objects and collections out of the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cenote_client::{ReadOptions, Resource, ResourceKind};

use super::cat;
use crate::commands::files::history::past::{self, PastArgs};
use crate::commands::files::resources::relocate::done;
use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::{Place, StorePath, is_name};
use crate::session::Session;
use crate::tree::{self, Filter, FilterArgs, ReadArgs, Rules, TransferArgs, Way};

/// Get objects and collections out of the store.
///
/// `get :/lab/a.gsd DIR` gets the object into the directory DIR if it exists, else creates the file
/// DIR. `get -r :/lab/run7 DIR` makes DIR like /lab/run7; with a trailing `/` (or as `.`) it creates
/// DIR/run7. When run again, it transfers only files that have changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns, followed by a local path (`-` is standard output; the
    /// default is `.` if only one path is given)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Get collections and everything below them
    #[arg(long, short)]
    recursive: bool,
    /// With -r, compare contents, not only sizes and modification times
    #[arg(long)]
    checksum: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    reads: ReadArgs,
    #[command(flatten)]
    transfer: TransferArgs,
    #[command(flatten)]
    past: PastArgs,
}

/// What to get, and as of which position.
struct Found {
    resources: Vec<Resource>,
    as_of: Option<String>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let (to, from) = match self.paths.as_slice() {
            [from] => (".", std::slice::from_ref(from)),
            paths => {
                let (to, from) = paths.split_last().expect("there is at least one");
                (to.as_str(), from)
            }
        };
        let to = Place::parse_local(to)?;
        let from = from.iter().map(|path| StorePath::parse(path)).collect::<Result<Vec<_>>>()?;
        let found = self.found(session, &from).await?;
        let filter = Arc::new(self.filter.filter()?);
        for resource in &found.resources {
            match &to {
                Place::Local(to) => self.get(session, resource, (to, &found), &filter).await?,
                _ => self.write(session, resource, &found).await?,
            }
        }
        filter.report_unused(session);
        Ok(())
    }

    /// What these paths name, as it is or was.
    async fn found(&self, session: &Session, from: &[StorePath]) -> Result<Found> {
        let client = session.client()?;
        let Some(moment) = &self.past.as_of else {
            return Ok(Found { resources: glob::expand(client, from).await?, as_of: None });
        };
        // All requests refer to the state at one position, whatever changes in the meantime.
        let position = client.position_of(&moment.text()).await?;
        let resources = past::found(client, from, &position).await?;
        Ok(Found { resources, as_of: Some(position) })
    }

    async fn write(&self, session: &Session, resource: &Resource, found: &Found) -> Result<()> {
        let (client, path, options) = (session.client()?, &resource.path, ReadOptions::default());
        match &found.as_of {
            Some(moment) => {
                cat::copy(session, client.read_as_of(path, moment, &options).await?).await
            }
            None => cat::write(session, client, path, &options).await,
        }
    }

    async fn get(
        &self,
        session: &Session,
        from: &Resource,
        (to, found): (&Path, &Found),
        filter: &Arc<Filter>,
    ) -> Result<()> {
        let name = from.name.as_deref().unwrap_or_default();
        match from.kind {
            ResourceKind::Collection if self.recursive => {
                let into = found.resources.len() > 1 || names_a_parent(to);
                if into && filter.excludes_tree(name) {
                    return Ok(());
                }
                let to = target(from, to, into)?;
                let rules = Rules { checksum: self.checksum, ..Rules::default() };
                let args = (&self.transfer, &self.reads);
                let from = (from.path.as_str(), found.as_of.as_deref());
                tree::download(session, from, &to, filter, rules, args).await
            }
            ResourceKind::Collection => {
                let message = format!("a collection: {}", from.path);
                Err(CliError::new(Kind::Usage, message)
                    .hint("use -r to get a collection with everything below it"))
            }
            _ if !filter.takes(name) => Ok(()),
            _ => self.get_object(session, from, to, found).await,
        }
    }

    async fn get_object(
        &self,
        session: &Session,
        from: &Resource,
        to: &Path,
        found: &Found,
    ) -> Result<()> {
        let into = to.is_dir() || found.resources.len() > 1 || names_a_parent(to);
        let to = target(from, to, into)?;
        if !self.transfer.dry_run {
            let bar = session.progress.bytes(from.size.unwrap_or(0));
            let way = Way::Out(&self.reads, found.as_of.as_deref());
            let transfer = self.transfer.transfer(session, way, &bar)?;
            let outcome = transfer.get_file(from, &to).await;
            bar.finish_and_clear();
            outcome?;
        }
        done(session, "get", &from.path, &to.display().to_string(), self.transfer.dry_run)
    }
}

/// The local path for a resource. The name comes from the server and is not trusted: it could lead elsewhere.
fn target(from: &Resource, to: &Path, into: bool) -> Result<PathBuf> {
    match (into, from.name.as_deref()) {
        (true, Some(name)) if is_name(name) => Ok(to.join(name)),
        (true, Some(name)) if !name.is_empty() => {
            let message = format!("the server calls it `{}`: {}", name.escape_debug(), from.path);
            Err(CliError::new(Kind::Failed, message).hint("give the name of the target file"))
        }
        _ => Ok(to.to_owned()),
    }
}

/// Whether a path names a directory to put the resource into, rather than the target itself.
fn names_a_parent(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.file_name().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_the_server_stays_in_the_directory() {
        let called = |name: &str| {
            let resource =
                serde_json::json!({ "id": 1, "path": "/a", "kind": "object", "name": name });
            target(&serde_json::from_value(resource).unwrap(), Path::new("here"), true)
        };
        assert_eq!(called("a").unwrap(), Path::new("here/a"));
        assert_eq!(called("").unwrap(), Path::new("here"));
        for wrong in ["..", ".", "/etc/passwd", "../a", "a/b", "a\0"] {
            assert!(called(wrong).is_err(), "{wrong:?}");
        }
    }
}
