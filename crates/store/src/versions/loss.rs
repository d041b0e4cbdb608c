//! Versions are lost for good with their object, so removing or replacing one that has some needs explicit permission.

use crate::access::Chain;
use crate::catalog::{Child, Reads, Record, VersionRecord, View, keys};
use crate::metadata::Ancestors;
use crate::model::{Kind, ResourceId};
use crate::{Error, ErrorKind, Result};

/// A subtree of at most so many resources is looked at one by one; of a larger one, all that has versions is.
const SMALL: usize = 10_000;

/// Refuses if a resource has versions.
pub(crate) fn refuse_loss(reads: &impl Reads, chain: &Chain) -> Result<()> {
    let versions = VersionRecord::all_of(reads, chain.id())?;
    if versions.is_empty() {
        return Ok(());
    }
    let labels: Vec<&str> = versions.iter().filter_map(|(_, kept)| kept.label.as_deref()).collect();
    let labels = match labels.is_empty() {
        true => String::new(),
        false => format!(" (labelled {})", labels.join(", ")),
    };
    let count = match versions.len() {
        1 => "1 version".to_owned(),
        more => format!("{more} versions"),
    };
    Err(refused(format!("{count}{labels} would be lost with {}", chain.path())))
}

/// Refuses if a collection, or anything below it, has versions. What the caller may not see counts, and is not named.
pub(crate) fn refuse_loss_below(view: &View, chain: &Chain) -> Result<()> {
    let lost = match of_small(view, chain.id())? {
        Some(lost) => lost,
        None => among_all(view, chain.id())?,
    };
    match lost {
        true => Err(refused(format!("versions of resources below {} would be lost", chain.path()))),
        false => Ok(()),
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::NotEmpty, message)
        .with_hint("allow versions to be removed as well (`--versions`); they cannot be restored")
}

/// Looks at a subtree; none if it is too large for that.
fn of_small(view: &View, top: ResourceId) -> Result<Option<bool>> {
    if view.rows(&keys::all_versions(), 1)?.is_empty() {
        return Ok(Some(false));
    }
    let (mut left, mut seen) = (vec![(top, Kind::Collection)], 0);
    while let Some((id, kind)) = left.pop() {
        if !view.rows(&keys::versions(id), 1)?.is_empty() {
            return Ok(Some(true));
        }
        if kind != Kind::Collection {
            continue;
        }
        for (_, value) in view.rows(&keys::children(id), SMALL + 1)? {
            let child = Child::from_value(&value)?;
            left.push((child.id, child.kind));
            seen += 1;
        }
        if seen > SMALL {
            return Ok(None);
        }
    }
    Ok(Some(false))
}

/// Looks whether anything that has versions is in a subtree.
fn among_all(view: &View, top: ResourceId) -> Result<bool> {
    let mut ancestors = Ancestors::new(view, top);
    let mut range = keys::all_versions();
    while let Some((key, _)) = view.rows(&range, 1)?.pop() {
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        if ancestors.reach(id)? {
            return Ok(true);
        }
        let Some(next) = keys::versions(id).end else { break };
        range.start = next;
    }
    Ok(false)
}
