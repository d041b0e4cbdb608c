//! `cenote trash`: what was removed and is kept for a while.

use std::str::FromStr;

use cenote_client::{At, Attributes, Client, Resource, RestoreRemoved, TrashItem};
use futures_util::{StreamExt, TryStreamExt};

use crate::bytes::Bytes;
use crate::duration::Duration;
use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// List, restore and purge removed resources.
///
/// Removed resources are kept, with everything below them, for the time set by the nearest collection above: ids,
/// versions, descriptions and access included. You see what you removed, and what was in collections that you own.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List what can be restored, newest first
    Ls {
        /// Only what was below this collection
        path: Option<StorePath>,
    },
    /// Restore a removed resource, with everything below it
    Restore {
        /// Its number, or its former path
        what: String,
        /// The path to restore it to, instead of its former path
        #[arg(long, value_name = "PATH")]
        to: Option<StorePath>,
        /// Create missing parent collections
        #[arg(long, short)]
        parents: bool,
    },
    /// Remove items from the trash for good
    Empty {
        /// The numbers of the items; all by default
        ids: Vec<u64>,
    },
    /// Set how long, and up to what size, a collection keeps what is removed below it
    Keep {
        path: StorePath,
        /// How long, such as 30d; 0s removes for good at once
        #[arg(required_unless_present = "at_most")]
        time: Option<Duration>,
        /// Keep at most this much, such as 10GiB, of what was removed last; `none` removes the limit
        #[arg(long, value_name = "SIZE")]
        at_most: Option<Limit>,
    },
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Ls { path } => list(session, client, path.as_ref()).await,
            What::Restore { what, to, parents } => {
                let id = found(client, &what).await?;
                let to = to.map(|path| path.as_str().to_owned());
                let restored = client.restore_removed(&RestoreRemoved { id, to, parents }).await?;
                session.output.done(&restored, |restored| format!("restored {}", restored.path))
            }
            What::Empty { ids } => empty(session, client, &ids).await,
            What::Keep { path, time, at_most } => {
                let attributes = Attributes {
                    keep_removed: time.map(Duration::seconds),
                    keep_removed_bytes: at_most.map(|Limit(limit)| limit),
                    ..Attributes::default()
                };
                let changed = client.set_attributes(&At::from(path.as_str()), &attributes).await?;
                session.output.done(&changed, kept)
            }
        }
    }
}

/// The most bytes that are kept; none for `none`.
#[derive(Debug, Clone, Copy)]
struct Limit(Option<u64>);

impl FromStr for Limit {
    type Err = CliError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "none" => Ok(Self(None)),
            size => size.parse().map(|size: Bytes| Self(Some(size.get()))),
        }
    }
}

/// What a collection says of what is removed below it.
fn kept(changed: &Resource) -> String {
    let path = &changed.path;
    let time = changed.keep_removed.map(|seconds| match seconds {
        0 => format!("what is removed below {path} is removed for good at once"),
        seconds => {
            format!("what is removed below {path} is kept for {}", text::duration(seconds))
        }
    });
    let size = changed.keep_removed_bytes;
    let size = size.map(|size| format!("at most {} are kept", text::size(size)));
    let settings: Vec<_> = time.into_iter().chain(size).collect();
    match settings.is_empty() {
        true => format!("{path} has no setting of its own"),
        false => settings.join("; "),
    }
}

/// All that is there, the newest first.
async fn items(client: &Client, below: Option<&StorePath>) -> Result<Vec<TrashItem>> {
    let mut items: Vec<TrashItem> =
        client.trash(below.map(StorePath::as_str)).boxed().try_collect().await?;
    items.sort_by_key(|item| std::cmp::Reverse((item.removed, item.id)));
    Ok(items)
}

async fn list(session: &Session, client: &Client, below: Option<&StorePath>) -> Result<()> {
    for item in items(client, below).await? {
        session.output.item(&item, format_item)?;
    }
    Ok(())
}

fn format_item(item: &TrashItem) -> String {
    format!(
        "{:>8}  {}  {:>12}  {:<12} {}",
        item.id,
        text::time(item.removed),
        text::size(item.bytes.unwrap_or_default()),
        item.removed_by,
        item.path,
    )
}

/// The number of what is meant: by its path, what was removed there last.
async fn found(client: &Client, what: &str) -> Result<u64> {
    if let Ok(id) = what.parse() {
        return Ok(id);
    }
    let path: StorePath = what.parse()?;
    let items = items(client, None).await?;
    let item = items.iter().find(|item| item.path == path.as_str());
    item.map(|item| item.id).ok_or_else(|| {
        CliError::new(Kind::NotFound, format!("the trash has nothing from this path: {path}"))
            .hinted("`cenote trash ls` shows what can be restored")
    })
}

async fn empty(session: &Session, client: &Client, ids: &[u64]) -> Result<()> {
    let mut removed = 0;
    for id in ids {
        removed += client.empty_trash(Some(*id)).await?;
    }
    if ids.is_empty() {
        removed = client.empty_trash(None).await?;
    }
    let line = serde_json::json!({ "action": "empty", "items": removed });
    session.output.done(&line, |_| format!("removed {} for good", text::count(removed, "item")))
}
