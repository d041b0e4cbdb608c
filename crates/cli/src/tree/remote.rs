//! What is in a collection of the store.

use cenote_client::{Client, PastEntry, Resource, ResourceKind};
use futures_util::{Stream, TryStreamExt};

use super::entry::{Entry, EntryKind, Tree};
use super::filter::Filter;
use super::listed::{check_path, check_tree};
use super::local::remove_empty;
use crate::error::{CliError, Kind, Result};
use crate::place::{above, below};

/// Reads the resources below the collection at `path` that have a counterpart among files; `None` if it does not exist.
pub(super) async fn scan(client: &Client, path: &str, filter: &Filter) -> Result<Option<Tree>> {
    let Some(root) = client.find(path).await? else { return Ok(None) };
    require_collection(&root)?;
    let files = client.walk(&path.into()).await?;
    let files =
        files.try_filter(|resource| std::future::ready(resource.kind != ResourceKind::Description));
    collect(files, path, filter).await.map(Some)
}

/// The same for a collection that has to be there.
pub(super) async fn scan_source(client: &Client, path: &str, filter: &Filter) -> Result<Tree> {
    scan(client, path, filter).await?.ok_or_else(|| nothing_at(path))
}

/// Reads the former resources below the collection at `path` at a moment that had a counterpart among files. Also
/// returns the paths of those no longer kept.
pub(super) async fn scan_past(
    client: &Client,
    (path, moment): (&str, &str),
    filter: &Filter,
) -> Result<(Tree, Vec<String>)> {
    let mut lost = Vec::new();
    let all = client.walk_as_of(path, moment).await?;
    let kept = all.try_filter_map(|entry| {
        std::future::ready(Ok(match entry {
            PastEntry::Kept(resource) if resource.kind == ResourceKind::Description => None,
            PastEntry::Kept(resource) => Some(*resource),
            PastEntry::Lost(gone) => {
                lost.push(gone.path);
                None
            }
        }))
    });
    let mut tree = collect(kept, path, filter).await?;
    let above: Vec<String> = tree.keys().flat_map(|path| above(path).map(str::to_owned)).collect();
    // The children of a former collection may be known, but not its attributes.
    for missing in above {
        tree.entry(missing).or_insert_with(|| Entry::local(EntryKind::Directory, None, None));
    }
    let is_wanted = |gone: &String| below(gone, path).is_some_and(|gone| filter.takes(gone));
    lost.retain(|gone| is_wanted(gone));
    Ok((tree, lost))
}

/// Reads all resources below the collection at `path`, with the tags of descriptions, including itself (at the empty
/// path); `None` if it does not exist.
pub(super) async fn scan_described(
    client: &Client,
    path: &str,
    filter: &Filter,
) -> Result<Option<Tree>> {
    let Some(root) = client.find_described(path).await? else { return Ok(None) };
    require_collection(&root)?;
    let all = client.walk_described(&path.into()).await?;
    let mut tree = collect(all, path, filter).await?;
    tree.extend(Entry::from_resource(root).map(|root| (String::new(), root)));
    Ok(Some(tree))
}

pub(super) fn nothing_at(path: &str) -> CliError {
    CliError::new(Kind::NotFound, format!("nothing is at {path}"))
        .hint("check the spelling, or whether you may read it")
}

fn require_collection(root: &Resource) -> Result<()> {
    match root.kind {
        ResourceKind::Collection => Ok(()),
        _ => Err(CliError::new(Kind::Exists, format!("not a collection: {}", root.path))),
    }
}

async fn collect(
    all: impl Stream<Item = cenote_client::Result<Resource>>,
    path: &str,
    filter: &Filter,
) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut all = std::pin::pin!(all);
    while let Some(resource) = all.try_next().await? {
        let Some(relative) = below(&resource.path, path).map(str::to_owned) else { continue };
        check_path(&relative)?;
        let is_collection = resource.kind == ResourceKind::Collection;
        let left_out = match is_collection {
            true => filter.excludes_tree(&relative),
            false => !filter.takes(&relative),
        };
        if left_out || filter.excludes_above(&relative) {
            continue;
        }
        tree.extend(Entry::from_resource(resource).map(|entry| (relative, entry)));
    }
    check_tree(&tree)?;
    if filter.is_selective() {
        remove_empty(&mut tree);
    }
    Ok(tree)
}
