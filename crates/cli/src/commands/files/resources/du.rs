//! `cenote du`: counts and total sizes below paths.

use cenote_client::{At, Usage};
use serde::Serialize;

use crate::error::Result;
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// Show the number and total size of the resources below paths.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Paths in the store, or patterns
    #[arg(default_value = "/")]
    paths: Vec<StorePath>,
}

#[derive(Serialize)]
struct Line<'a> {
    path: &'a str,
    #[serde(flatten)]
    usage: Usage,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        for resource in glob::expand(client, &self.paths).await? {
            let usage = client.usage(&At::Id(resource.id)).await?;
            let line = Line { path: &resource.path, usage };
            session.output.item(&line, |line| {
                let Usage { objects, collections, bytes, trash } = line.usage;
                let trash = match trash.items {
                    0 => String::new(),
                    items => format!(
                        "  (trash: {}, {})",
                        text::size(trash.bytes).trim_start(),
                        text::count(items, "item")
                    ),
                };
                format!(
                    "{:>12}  {}, {}  {}{trash}",
                    text::size(bytes),
                    text::count(objects, "object"),
                    text::count(collections, "collection"),
                    line.path
                )
            })?;
        }
        Ok(())
    }
}
