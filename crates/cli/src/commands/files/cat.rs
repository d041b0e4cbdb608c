//! `cenote cat`: contents to standard output.

use cenote_client::{Client, ReadOptions};
use futures_util::TryStreamExt;

use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Write contents to standard output.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(required = true)]
    paths: Vec<StorePath>,
    /// Start at this byte
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    offset: u64,
    /// Write at most this many bytes
    #[arg(long, value_name = "BYTES")]
    length: Option<u64>,
    /// Read this version instead of the current content
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let options = ReadOptions {
            offset: self.offset,
            length: self.length,
            version: self.version,
            ..ReadOptions::default()
        };
        if self.length == Some(0) {
            return Ok(());
        }
        for resource in glob::expand(client, &self.paths).await? {
            write(session, client, &resource.path, &options).await?;
        }
        Ok(())
    }
}

/// Writes one content to standard output.
pub(crate) async fn write(
    session: &Session,
    client: &Client,
    path: &str,
    options: &ReadOptions,
) -> Result<()> {
    let mut chunks = client.read(path, options).await?.into_stream();
    while let Some(chunk) = chunks.try_next().await? {
        session.output.bytes(&chunk)?;
    }
    Ok(())
}
