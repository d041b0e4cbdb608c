//! What `--as-of` shows: the store as it was at a moment.

use cenote_client::{Client, Kind, Lost, PastEntry, Resource, ResourceKind};
use futures_util::{StreamExt, TryStreamExt};

use crate::error::Result;
use crate::moment::AsOf;
use crate::place::{StorePath, below};
use crate::session::Session;

/// Look into the past.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct PastArgs {
    /// Show the store as it was at this time (2026-03-01, "2026-03-01 14:30", 3d for three days ago), or position of the
    /// change feed; what is not kept is reported
    #[arg(long, value_name = "TIME|POSITION")]
    pub(super) as_of: Option<AsOf>,
}

/// What was at these paths.
pub(super) async fn found(
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
pub(super) async fn list(
    session: &Session,
    (top, moment): (&str, &str),
    recursive: bool,
    show: impl Fn(&Resource, &str) -> Result<()>,
) -> Result<bool> {
    let mut left = vec![top.to_owned()];
    while let Some(collection) = left.pop() {
        let mut entries = session.client()?.list_as_of(&collection, moment).boxed();
        let mut within = Vec::new();
        loop {
            let entry = match entries.try_next().await {
                Err(error) if error.kind() == Kind::WrongKind && collection == top => {
                    return Ok(false);
                }
                entry => entry?,
            };
            match entry {
                None => break,
                Some(PastEntry::Lost(gone)) => warn(session, &gone),
                Some(PastEntry::Kept(resource)) => {
                    show(&resource, below(&resource.path, top).unwrap_or(&resource.path))?;
                    let enter = recursive && resource.kind == ResourceKind::Collection;
                    within.extend(enter.then_some(resource.path));
                }
            }
        }
        drop(entries);
        left.extend(within.into_iter().rev());
    }
    Ok(true)
}

fn warn(session: &Session, gone: &Lost) {
    let message = format!("it was there, but its state at that moment is not kept: {}", gone.path);
    session.output.warn(&message, "`cenote versions policy` sets which versions are kept");
}
