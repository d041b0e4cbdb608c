//! `cenote cat`: contents to standard output.

use cenote_client::{Client, Content, ReadOptions};
use futures_util::TryStreamExt;

use crate::commands::files::history::past::PastArgs;
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
    #[arg(long, value_name = "NUMBER", conflicts_with = "as_of")]
    version: Option<u64>,
    #[command(flatten)]
    past: PastArgs,
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
        if let Some(moment) = &self.past.as_of {
            let moment = moment.text();
            for path in &self.paths {
                let content = client.read_as_of(path.as_str(), &moment, &options).await?;
                copy(session, content).await?;
            }
            return Ok(());
        }
        for resource in glob::expand(client, &self.paths).await? {
            write(session, client, &resource.path, &options).await?;
        }
        Ok(())
    }
}

/// Writes the content of an object to standard output.
pub(crate) async fn write(
    session: &Session,
    client: &Client,
    path: &str,
    options: &ReadOptions,
) -> Result<()> {
    copy(session, client.read(path, options).await?).await
}

/// Writes a content to standard output.
pub(crate) async fn copy(session: &Session, content: Content) -> Result<()> {
    let mut chunks = content.into_stream();
    while let Some(chunk) = chunks.try_next().await? {
        session.output.bytes(&chunk)?;
    }
    Ok(())
}
