//! What is in a collection of the store.

use cenote_client::{Client, ResourceKind};
use futures_util::TryStreamExt;

use super::entry::{Entry, Tree};
use super::filter::Filter;
use super::local::remove_empty;
use crate::error::{CliError, Kind, Result};
use crate::place::below;

/// Looks through the collection at `path`; none if nothing is there.
pub(super) async fn scan(client: &Client, path: &str, filter: &Filter) -> Result<Option<Tree>> {
    let Some(root) = client.find(path).await? else { return Ok(None) };
    if root.kind != ResourceKind::Collection {
        return Err(CliError::new(Kind::Exists, format!("not a collection: {path}")));
    }
    let mut tree = Tree::new();
    let mut all = std::pin::pin!(client.walk(&path.into()).await?);
    while let Some(resource) = all.try_next().await? {
        let Some(relative) = below(&resource.path, path).map(str::to_owned) else { continue };
        let is_collection = resource.kind == ResourceKind::Collection;
        if filter.excludes_deep(&relative) || !(is_collection || filter.includes(&relative)) {
            continue;
        }
        tree.extend(Entry::from_resource(resource).map(|entry| (relative, entry)));
    }
    if filter.is_selective() {
        remove_empty(&mut tree);
    }
    Ok(Some(tree))
}

/// The same for a collection that has to be there.
pub(super) async fn scan_source(client: &Client, path: &str, filter: &Filter) -> Result<Tree> {
    scan(client, path, filter).await?.ok_or_else(|| {
        CliError::new(Kind::NotFound, format!("nothing is at {path}"))
            .hint("check the spelling, or whether you may read it")
    })
}
