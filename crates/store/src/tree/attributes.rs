//! Attributes of a resource that a client may set, other than content, description and access.

use crate::access::Operation;
use crate::catalog::ChangeKind;
use crate::model::{At, Changed, LinkIntegrity, Stat, Time, Versioning, check_media_type};
use crate::people::{by_name, nobody};
use crate::resources::{count_change, find, update};
use crate::{Caller, Result, Store, describe, quotas, versions};

/// Attributes to set; `None` leaves one unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttributeChange {
    /// Mode bits as in `st_mode & 0o7777`.
    pub mode: Option<u32>,
    /// The modification time to show.
    pub mtime: Option<Time>,
    /// What happens to replaced states of this collection and everything below it; needs `Rights::CONTROL`.
    pub versioning: Option<Option<Versioning>>,
    /// For how many seconds resources removed below this collection are kept; needs `Rights::CONTROL`.
    pub keep_removed: Option<Option<u64>>,
    /// The maximum number of bytes of resources removed below this collection to keep; needs `Rights::CONTROL`.
    pub keep_removed_bytes: Option<Option<u64>>,
    /// The requirement for links in descriptions of this collection and below it; needs `Rights::CONTROL`.
    pub link_integrity: Option<Option<LinkIntegrity>>,
    /// The name of its owner; needs `Rights::CONTROL`.
    pub owner: Option<String>,
    /// The media type of the content; with none it is removed, and unknown until the content is replaced.
    pub media_type: Option<Option<String>>,
}

impl Store {
    /// Sets attributes. Needs `Rights::CHANGE_DESCRIPTION`, or `Rights::CONTROL` for some.
    pub fn set_attributes(
        &self,
        caller: &Caller,
        at: &At,
        change: &AttributeChange,
    ) -> Result<Stat> {
        let media_type = change.media_type.iter().flatten().next();
        media_type.map_or(Ok(()), |media_type| check_media_type(media_type))?;
        let owning = change.versioning.is_some()
            || change.keep_removed.is_some()
            || change.keep_removed_bytes.is_some()
            || change.link_integrity.is_some()
            || change.owner.is_some();
        let plain = change.mode.is_some() || change.mtime.is_some() || change.media_type.is_some();
        let first = if owning { Operation::SetOwner } else { Operation::SetAttributes };
        self.transact_at(at, |tx| {
            let chain = find(tx, caller, at, first)?;
            if plain {
                chain.require(caller, Operation::SetAttributes, at)?;
            }
            let mut stat = Stat::from(chain.clone());
            let resource = &mut stat.resource;
            resource.mode = change.mode.map(|mode| mode & 0o7777).or(resource.mode);
            resource.set_mtime(change.mtime, tx.now());
            resource.versioning = change.versioning.unwrap_or(resource.versioning);
            resource.keep_removed = change.keep_removed.unwrap_or(resource.keep_removed);
            resource.keep_removed_bytes =
                change.keep_removed_bytes.unwrap_or(resource.keep_removed_bytes);
            resource.link_integrity = change.link_integrity.unwrap_or(resource.link_integrity);
            if change.link_integrity.is_some() {
                describe::note_late(tx, &chain, resource)?;
            }
            if let Some(name) = &change.owner {
                resource.owner = by_name(tx, name)?.ok_or_else(|| nobody(name))?.0;
            }
            if let (Some(content), Some(media_type)) = (&mut resource.content, &change.media_type) {
                content.media_type.clone_from(media_type);
                content.media_type_guessed = false;
            }
            versions::keep_replaced(tx, caller, &chain, resource, None)?;
            count_change(tx, resource, Changed::Description, caller.user());
            update(tx, ChangeKind::Described, stat.id, chain.resource(), resource);
            if change.owner.is_some() {
                quotas::change_owner(tx, stat.id, chain.resource(), resource)?;
            }
            Ok(stat)
        })
    }
}
