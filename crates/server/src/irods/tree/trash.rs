//! The caller's view of what was removed: below `/trash/home/NAME`, whichever opening it was removed through.
//!
//! Invariant: the store's trash is the one place of what was removed; nothing here is a copy of it. What an earlier program moved to
//! `/trash/home/NAME` is in the tree, and found there first.

use cenote_query::genquery::{Trash, is_in_trash};
use cenote_store::{
    At, Avu, Caller, Error, ErrorKind, GrantView, Opened, Reading, RestoreOptions, Result, Scope,
    Stat, Store, StorePath,
};

/// The resource at a path: in the tree, or else in the trash.
pub(crate) fn stat(store: &Store, caller: &Caller, path: &StorePath) -> Result<Stat> {
    match store.stat(caller, &path.into()) {
        Err(error) if error.kind() == ErrorKind::NotFound && is_in_trash(path) => {
            let reading = store.reading(caller)?;
            Trash::read(&reading)?.stat(path)?.ok_or(error)
        }
        found => found,
    }
}

/// What of the trash is shown below a collection, or directly in it unless `deep`.
pub(crate) fn below(
    store: &Store,
    caller: &Caller,
    path: &StorePath,
    deep: bool,
) -> Result<Vec<Stat>> {
    let mut found = Vec::new();
    if is_in_trash(path) || (deep && path.names().is_empty()) {
        let reading = store.reading(caller)?;
        Trash::read(&reading)?.below(path, deep, &mut |stat| {
            found.extend(stat);
            Ok::<_, Error>(())
        })?;
    }
    Ok(found)
}

/// Opens the content of an object in the trash.
pub(crate) fn open(store: &Store, caller: &Caller, path: &StorePath) -> Result<Opened> {
    store.open_removed(caller, stat(store, caller, path)?.id)
}

/// The access list of what [`stat`] and [`below`] gave; in the trash, the lines of the resource itself. Without restricted lines: iRODS has
/// none, and they would be taken for full rights.
pub(crate) fn access(store: &Store, caller: &Caller, stat: &Stat) -> Result<Vec<GrantView>> {
    match store.access(caller, &At::Id(stat.id)) {
        Err(error) if error.kind() == ErrorKind::NotFound && is_in_trash(&stat.path) => {
            let grants = stat.resource.access.grants.iter();
            let own = grants.filter(|it| it.scope != Scope::Default && it.only.is_none());
            let line = |grant: &cenote_store::Grant| {
                Ok(GrantView {
                    person: grant.person,
                    name: store.person_name(grant.person)?,
                    rights: grant.rights,
                    scope: grant.scope,
                    only: None,
                    from: stat.path.clone(),
                })
            };
            own.map(line).collect()
        }
        found => found.map(|(_, mut lines)| {
            lines.retain(|line| line.only.is_none());
            lines
        }),
    }
}

/// The attributes of what [`stat`] and [`below`] gave.
pub(crate) fn avus(store: &Store, caller: &Caller, stat: &Stat) -> Result<Vec<Avu>> {
    match is_in_trash(&stat.path) {
        true => store.reading(caller)?.avus(stat.id.0),
        false => store.avus(caller, &At::Id(stat.id)),
    }
}

/// Whether what [`stat`] gave is in the trash, rather than in the tree.
pub(crate) fn is_removed(store: &Store, caller: &Caller, stat: &Stat) -> Result<bool> {
    Ok(is_in_trash(&stat.path) && store.reading(caller)?.stat(&At::Id(stat.id))?.is_none())
}

/// Restores what was removed to a path.
pub(crate) fn restore(store: &Store, caller: &Caller, stat: &Stat, to: StorePath) -> Result<()> {
    if !whole(&store.reading(caller)?, stat)?.contains(&stat.id) {
        return Err(Error::new(
            ErrorKind::Invalid,
            "this collection only leads to removed resources",
        )
        .with_hint("restore the resources in it"));
    }
    let options = RestoreOptions { to: Some(to), parents: false };
    store.restore_removed(caller, stat.id, &options).map(drop)
}

/// Permanently removes a resource in the trash. A collection that is not empty needs `recurse`.
pub(crate) fn empty(store: &Store, caller: &Caller, stat: &Stat, recurse: bool) -> Result<()> {
    let items = whole(&store.reading(caller)?, stat)?;
    if !recurse && !below(store, caller, &stat.path, false)?.is_empty() {
        return Err(Error::new(ErrorKind::NotEmpty, "the collection is not empty"));
    }
    items.into_iter().try_for_each(|id| store.empty_trash_of(caller, id))
}

/// What was removed by itself and is shown at a path or below it.
fn whole(reading: &Reading, stat: &Stat) -> Result<Vec<cenote_store::ResourceId>> {
    let items: Vec<_> = Trash::read(reading)?.items(&stat.path).collect();
    match items.is_empty() {
        false => Ok(items),
        true => Err(Error::new(ErrorKind::Invalid, "this was removed with a collection above it")
            .with_hint("restore or remove that collection as a whole")),
    }
}
