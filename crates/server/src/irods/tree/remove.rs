//! Removing: permanently, or into the store's trash.

use std::time::Duration;

use cenote_query::genquery::{Trash, is_in_trash};
use cenote_store::{At, Caller, ErrorKind, RemoveOptions, Result, Stat, Store};

use super::trash;

/// How long removed resources are kept if no collection has a setting: the protocol promises its clients a trash.
const KEEP: Duration = Duration::from_secs(30 * 86_400);

/// Removes a resource. A collection that is not empty needs `recurse`. A resource in the trash is permanently removed.
pub(crate) fn remove(
    store: &Store,
    caller: &Caller,
    stat: &Stat,
    recurse: bool,
    for_good: bool,
) -> Result<()> {
    if trash::is_removed(store, caller, stat)? {
        return trash::empty(store, caller, stat, recurse);
    }
    let in_trash = stat.path.names().first().is_some_and(|first| first.as_str() == "trash");
    if recurse && in_trash {
        empty_below(store, caller, stat)?;
    }
    let options = RemoveOptions {
        recursive: recurse,
        // The protocols have no notion of versions: a resource that has some is moved to the trash first, which keeps them.
        versions: in_trash,
        permanent: for_good || in_trash,
        keep: Some(KEEP),
        if_match: None,
    };
    store.remove(caller, &At::Id(stat.id), &options).map(drop)
}

/// Permanently removes everything shown below a collection of the tree.
fn empty_below(store: &Store, caller: &Caller, stat: &Stat) -> Result<()> {
    if !is_in_trash(&stat.path) {
        return Ok(());
    }
    let reading = store.reading(caller)?;
    for id in Trash::read(&reading)?.items(&stat.path) {
        match store.empty_trash_of(caller, id) {
            // The caller may see resources that only others may restore.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
