//! Listing a collection, in pages, in name order, from any name on.

mod details;

pub use self::details::{DetailedPage, Details};

use crate::access::{Chain, Operation};
use cenote_kv::KeyRange;

use crate::catalog::{Child, Record, View, keys};
use crate::model::{At, Name, Resource, ResourceId, Rights, Stat};
use crate::resources::{children, find, first_seen, part, require_collection};
use crate::{Caller, Error, Result, Store};

/// Which part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListOptions {
    /// Begin after this name.
    pub after: Option<Name>,
    /// At most this many entries; at least 1 and at most [`ListOptions::MAX`] are returned.
    pub limit: usize,
}

impl ListOptions {
    /// The longest page.
    pub const MAX: usize = 10_000;

    fn entries(&self) -> usize {
        self.limit.clamp(1, Self::MAX)
    }
}

impl Default for ListOptions {
    fn default() -> Self {
        Self { after: None, limit: 1_000 }
    }
}

/// Part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The collection.
    pub collection: Stat,
    /// Its children that the caller may see, in the order of their names' bytes.
    pub entries: Vec<Stat>,
    /// Where the next page begins: after this name, which is that of the last entry. None at the end.
    pub next: Option<Name>,
}

impl Store {
    /// Lists the children of a collection. Needs `Rights::LIST` on it; shows
    /// those on which the caller has `Rights::READ_DESCRIPTION`.
    pub fn list(&self, caller: &Caller, at: &At, options: &ListOptions) -> Result<Page> {
        Ok(list(&self.view_of_members(at, options)?, caller, at, options)?.0)
    }

    /// The same with more of each entry: what the caller may do with it and, if `described`, its description. A page ends before
    /// the limit where the descriptions in it come to more than 4 MiB; one of more than 1 MiB is left out.
    pub fn list_detailed(
        &self,
        caller: &Caller,
        at: &At,
        options: &ListOptions,
        described: bool,
    ) -> Result<DetailedPage> {
        let view = self.view_of_members(at, options)?;
        let (mut page, rights) = list(&view, caller, at, options)?;
        let details = match described {
            false => {
                rights.into_iter().map(|rights| Details { rights, description: None }).collect()
            }
            true => details::read(&view, caller, &page.entries, rights)?,
        };
        if details.len() < page.entries.len() {
            page.entries.truncate(details.len());
            page.next = page.entries.last().and_then(Stat::name).cloned();
        }
        Ok(DetailedPage { page, details })
    }
}

/// Where the children of a part of a listing are, and how many rows are read.
pub(crate) fn part_of(collection: ResourceId, options: &ListOptions) -> (KeyRange, usize) {
    part(collection, options.after.as_ref(), options.entries())
}

/// A part of a listing, on a view, and what the caller may do with each entry.
fn list(
    view: &View,
    caller: &Caller,
    at: &At,
    options: &ListOptions,
) -> Result<(Page, Vec<Rights>)> {
    let chain = find(view, caller, at, Operation::List)?;
    require_collection(&chain)?;
    let read = |after: &Option<Name>, most| {
        let (children, next) = children(view, chain.id(), after.as_ref(), most)?;
        Ok((visible(view, caller, &chain, &children)?, next.map(Some)))
    };
    let (seen, more) = first_seen(options.after.clone(), options.entries(), read)?;
    let (entries, rights): (Vec<Stat>, _) = seen.into_iter().unzip();
    let next = entries.last().filter(|_| more).and_then(Stat::name).cloned();
    Ok((Page { collection: chain.into(), entries, next }, rights))
}

/// The records of those children that `caller` may see.
fn visible(
    view: &View,
    caller: &Caller,
    chain: &Chain,
    children: &[(Name, Child)],
) -> Result<Vec<(Stat, Rights)>> {
    let ids: Vec<_> = children.iter().map(|(_, child)| child.id).collect();
    let records = view.values_of(&ids, keys::resource)?;
    let path = chain.path();
    let mut entries = Vec::with_capacity(children.len());
    for ((name, child), record) in children.iter().zip(records) {
        let record =
            record.ok_or_else(|| Error::damaged(format!("no record for {name:?} in {path}")))?;
        let resource = Resource::from_value(&record)?;
        let rights = chain.rights_of_child(caller, child.id, &resource);
        if rights.allow(Operation::Stat) {
            entries.push((Stat { id: child.id, path: path.child(name.clone()), resource }, rights));
        }
    }
    Ok(entries)
}
