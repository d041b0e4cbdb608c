//! What `--as-of` shows: the store as it was at a moment.

use cenote_client::{Client, Lost, PastEntry, Resource};
use futures_util::{Stream, StreamExt, TryStreamExt};

use crate::error::{Kind, Result};
use crate::moment::AsOf;
use crate::place::{StorePath, below};
use crate::session::Session;

/// Look into the past.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::commands::files) struct PastArgs {
    /// Show the store as it was at this time (2026-03-01, "2026-03-01 14:30", 3d for three days ago), or position of the
    /// change feed; what is not kept is reported
    #[arg(long, value_name = "TIME|POSITION")]
    pub(in crate::commands::files) as_of: Option<AsOf>,
}

/// What was at these paths.
pub(in crate::commands::files) async fn found(
    client: &Client,
    paths: &[StorePath],
    moment: &str,
) -> Result<Vec<Resource>> {
    let mut found = Vec::new();
    for path in paths {
        found.push(client.stat_as_of(path.as_str(), moment).await?);
    }
    Ok(found)
}

/// Shows what was in a collection; everything below it, if it is `recursive`. What is not kept is named in a warning. False if
/// it was no collection.
pub(in crate::commands::files) async fn list(
    session: &Session,
    (top, moment): (&str, &str),
    recursive: bool,
    show: impl Fn(&Resource, &str) -> Result<()>,
) -> Result<bool> {
    let client = session.client()?;
    let entries = match recursive {
        true => client.walk_as_of(top, moment).await.map(StreamExt::boxed),
        false => Ok(client.list_as_of(top, moment).boxed()),
    };
    let show_entry =
        |resource: &Resource| show(resource, below(&resource.path, top).unwrap_or(&resource.path));
    let shown = match entries {
        Ok(entries) => show_all(session, (entries, usize::MAX), show_entry).await,
        Err(error) => Err(error.into()),
    };
    match shown {
        Err(error) if error.kind() == Kind::Exists => Ok(false),
        shown => shown.map(|_| true),
    }
}

/// Shows the entries, at most so many, and warns of those whose past was not kept; returns how many those are.
pub(in crate::commands::files) async fn show_all(
    session: &Session,
    (entries, mut left): (impl Stream<Item = cenote_client::Result<PastEntry>>, usize),
    show: impl Fn(&Resource) -> Result<()>,
) -> Result<u64> {
    let (mut entries, mut lost) = (std::pin::pin!(entries), 0);
    while left > 0
        && let Some(entry) = entries.try_next().await?
    {
        match entry {
            PastEntry::Kept(resource) => {
                show(&resource)?;
                left -= 1;
            }
            PastEntry::Lost(gone) => {
                warn(session, &gone);
                lost += 1;
            }
        }
    }
    Ok(lost)
}

fn warn(session: &Session, gone: &Lost) {
    let message = format!("it existed, but its state at that time was not kept: {}", gone.path);
    session.output.warn(&message, "`cenote versions policy` sets which versions are kept");
}
