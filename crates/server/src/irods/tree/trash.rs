//! Removing: permanently, or into the caller's trash, `/trash/home/NAME`.

use cenote_store::{
    At, Caller, Entropy, Error, ErrorKind, Kind, ListOptions, MoveOptions, Name, RemoveOptions,
    Result, Stat, Store, StorePath, SystemEntropy,
};

use crate::irods::call::lpath::join;

/// Removes a resource. A collection that is not empty needs `recurse`.
pub(crate) fn remove(
    store: &Store,
    caller: &Caller,
    stat: &Stat,
    recurse: bool,
    for_good: bool,
) -> Result<()> {
    let at = At::Id(stat.id);
    let names = stat.path.names();
    let in_trash = names.first().is_some_and(|first| first.as_str() == "trash");
    if for_good || in_trash {
        // The protocols have no notion of versions: a resource that has some is moved to the trash first,
        // which keeps them.
        let options = RemoveOptions {
            recursive: recurse,
            versions: in_trash,
            permanent: true,
            if_match: None,
        };
        return store.remove(caller, &at, &options).map(drop);
    }
    if stat.resource.kind == Kind::Collection && !recurse && !is_empty(store, caller, &at)? {
        return Err(Error::new(ErrorKind::NotEmpty, "the collection is not empty"));
    }
    store.make_home(caller, caller.name())?;
    let to = place(caller, names)?;
    let options = MoveOptions { parents: true, ..MoveOptions::default() };
    match store.relocate(caller, &at, &to, options) {
        Err(error) if error.kind() == ErrorKind::Exists => {
            store.relocate(caller, &at, &beside(&to)?, options).map(drop)
        }
        moved => moved.map(drop),
    }
}

fn is_empty(store: &Store, caller: &Caller, at: &At) -> Result<bool> {
    let one = ListOptions { limit: 1, ..ListOptions::default() };
    Ok(store.list(caller, at, &one)?.entries.is_empty())
}

/// The destination in the trash: a path in the caller's home is kept relative to it.
fn place(caller: &Caller, names: &[Name]) -> Result<StorePath> {
    let own: StorePath = format!("/home/{}", caller.name()).parse()?;
    let trash: StorePath = format!("/trash{own}").parse()?;
    let rest = match names.starts_with(own.names()) && names.len() > own.names().len() {
        true => &names[own.names().len()..],
        false => names,
    };
    join(&trash, rest)
}

/// A free name next to a taken one.
fn beside(path: &StorePath) -> Result<StorePath> {
    let mut random = [0; 8];
    SystemEntropy.fill(&mut random);
    format!("{path}.{:016x}", u64::from_le_bytes(random)).parse()
}
