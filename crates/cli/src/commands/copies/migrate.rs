//! `cenote migrate`: a whole store to another directory, database or bucket.

use std::net::SocketAddr;
use std::path::PathBuf;

use cenote_server::embedded::{Backing, Embedded, open_dir};
use cenote_server::{Config, Server, raise_descriptor_limit};
use cenote_store::{Copied, CopyChoices};

use super::report::{Summary, not_copied, watch};
use crate::commands::operate::serve;
use crate::connect::not_opened;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Migrate a whole store between engines: a directory, a PostgreSQL database, a bucket.
///
/// Everything is copied as it is: ids, versions, the trash, descriptions, users and their tokens, positions of the change feed. All
/// rows of the catalog are compared at the end, and contents with their digests while they are copied. Contents in other places than
/// the main one stay where they are. No server may have the store open. With --listen this command serves it meanwhile, for reading;
/// changes are refused.
///
/// After an interruption run the same command again: it continues where it was. A store that is not finished cannot be opened. At the end the
/// settings of the old store are renamed to `store.toml.migrated`, so that nobody changes it by mistake; remove it once the new
/// store was checked with `cenote check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For example:
  cenote migrate store new --catalog postgres://cenote@db.example/cenote --contents s3://lab/store
                              from a directory to a database and a bucket
  cenote migrate new back     to a directory again
  cenote migrate store new --contents s3://lab/store --listen 127.0.0.1:8470
                              to a bucket only; the old store can be read meanwhile")]
pub(crate) struct Args {
    /// The directory of the store
    from: PathBuf,
    /// The directory of the new store: empty, or one that does not exist yet
    to: PathBuf,
    /// Keep the new catalog in a PostgreSQL database: postgres://USER@HOST/DATABASE; with ?sslmode=require over TLS
    #[arg(long, value_name = "URL")]
    catalog: Option<String>,
    /// Keep the new contents in a bucket or another directory: s3://BUCKET/PREFIX, gs://..., az://..., file:///...
    #[arg(long, value_name = "URL")]
    contents: Option<String>,
    /// Serve the old store at this address meanwhile, for reading
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// The server's settings file for that (TOML), as for `cenote serve`
    #[arg(long, value_name = "FILE", requires = "listen")]
    settings: Option<PathBuf>,
    /// Read all copied contents again, and compare their digests
    #[arg(long)]
    read_back: bool,
    /// Leave out contents that are damaged; otherwise the migration is not finished before they are repaired
    #[arg(long)]
    leave_damaged: bool,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let store = open_dir(&self.from).map_err(not_opened)?;
        let copied = match self.listen {
            Some(address) => self.copy_and_serve(&store, address, session).await?,
            None => self.copy(&store, session).await?,
        };
        store.retire(&self.from).map_err(not_opened)?;
        let summary = Summary::new(&self.to, &copied);
        session.output.done(&summary, |summary| {
            let (from, to) = (self.from.display(), self.to.display());
            format!(
                "{}\nthe store is in {to} now; the one in {from} cannot be opened any more\nnext           cenote --store {to} check",
                summary.shown()
            )
        })
    }

    async fn copy(&self, store: &Embedded, session: &Session) -> Result<Copied> {
        let backing = Backing { catalog: self.catalog.clone(), contents: self.contents.clone() };
        backing.probe().await.map_err(not_opened)?;
        let choices = CopyChoices { read_back: self.read_back, leave_damaged: self.leave_damaged };
        let watch = watch(session);
        let copied = store.copy_to(&self.from, &self.to, backing, choices, &watch).await;
        copied.map_err(not_copied)
    }

    /// The server ends with the copy.
    async fn copy_and_serve(
        &self,
        store: &Embedded,
        address: SocketAddr,
        session: &Session,
    ) -> Result<Copied> {
        store.store().freeze("it is being migrated");
        let config = self.settings.as_deref().map_or_else(|| Ok(Config::default()), serve::read)?;
        raise_descriptor_limit();
        let config = Config { listen: address, ..config };
        let server = Server::bind(store.store().clone(), &config).await;
        let server = server.map_err(|error| {
            CliError::new(Kind::Unavailable, error.to_string())
                .hint("choose another address with --listen, or port 0 for a free port")
        })?;
        let url = server.url();
        session.output.item(&serde_json::json!({ "url": url }), |_| {
            format!("listening on {url}, for reading")
        })?;
        session.output.flush()?;
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        let copying = async {
            let copied = self.copy(store, session).await;
            drop(ended);
            copied
        };
        let served = server.run(async { drop(end.await) });
        tokio::join!(copying, served).0
    }
}
