//! `cenote replicate`: more copies of contents.

use cenote_client::{At, Done, Record};
use serde_json::json;

use super::job;
use crate::commands::record;
use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Copy the contents of objects to another place, or list their replicas.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(required = true)]
    paths: Vec<StorePath>,
    /// The place or group to copy to; without it, existing replicas are listed
    #[arg(long, value_name = "PLACE")]
    to: Option<String>,
    /// Include all objects below collections
    #[arg(long, short, requires = "to")]
    recursive: bool,
    /// Print what would be copied, without copying anything
    #[arg(long, short = 'n')]
    dry_run: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        for resource in glob::expand(client, &self.paths).await? {
            let (path, at) = (&resource.path, At::from(&resource.path));
            match &self.to {
                None => list(session, path, client.replicas(&at).await?)?,
                Some(to) if self.dry_run => {
                    let line =
                        json!({ "action": "replicate", "path": path, "to": to, "dry_run": true });
                    session.output.done(&line, |_| format!("would replicate {path} to {to}"))?;
                }
                Some(to) => match client.replicate(&at, to, self.recursive).await? {
                    Done::Job(begun) => job::follow(session, client, begun).await?,
                    Done::Now(replicas) => list(session, path, replicas.items)?,
                },
            }
        }
        Ok(())
    }
}

fn list(session: &Session, path: &str, replicas: Vec<Record>) -> Result<()> {
    for mut replica in replicas {
        replica.insert("path".to_owned(), path.into());
        session.output.item(&replica, record::row)?;
    }
    Ok(())
}
