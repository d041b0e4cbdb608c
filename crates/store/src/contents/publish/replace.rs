//! Replacing the content of an object: the previous one is kept as a version if requested.

use super::described::Redescription;
use crate::access::Chain;
use crate::catalog::{ChangeKind, Transaction, VersionRecord};
use crate::metadata::Redescribed;
use crate::model::{Changed, ContentHead, Kind, Placement, Stat, Time};
use crate::resources::{count_change, update};
use crate::{Caller, Result, Store, versions};

impl Store {
    /// Gives a resource the content and the attributes of a version; its previous state is kept as a version if that is
    /// wanted. The caller replaces the description.
    pub(crate) fn replace_state(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        chain: Chain,
        version: VersionRecord,
        redescribed: Redescribed<'_>,
    ) -> Result<Stat> {
        let mut stat = Stat::from(chain.clone());
        versions::keep_replaced(tx, caller, &chain, &mut stat.resource, Some(redescribed))?;
        let new = &mut stat.resource;
        new.placement = self.placement_after_replacement(tx, new, version.content.as_ref())?;
        new.content = version.content;
        new.mtime = None;
        if let Some(was) = version.attributes {
            (new.mode, new.target) = (was.mode, was.target);
            new.set_mtime(was.mtime, tx.now());
        }
        let (changed, kind) = match new.kind {
            Kind::Object => (Changed::ContentAndDescription, ChangeKind::Written),
            _ => (Changed::Description, ChangeKind::Described),
        };
        count_change(tx, new, changed, caller.user());
        update(tx, kind, stat.id, chain.resource(), &stat.resource);
        Ok(stat)
    }
}

/// What a put changes: the content, and the description if it says another mode or media type. A guess belongs to the content.
pub(super) fn changed_by_put(
    chain: &Chain,
    new: Option<&ContentHead>,
    mode: Option<u32>,
) -> Changed {
    let old = chain.resource();
    let stated = |content: Option<&ContentHead>| content?.stated_media_type().map(str::to_owned);
    let same_mode = mode.is_none() || mode == old.mode;
    match same_mode && stated(old.content.as_ref()) == stated(new) {
        true => Changed::Content,
        false => Changed::ContentAndDescription,
    }
}

pub(super) fn replace_with(
    tx: &mut Transaction,
    caller: &Caller,
    chain: Chain,
    changed: Changed,
    (content, placement): (Option<ContentHead>, Placement),
    (mode, mtime): (Option<u32>, Option<Time>),
    redescription: Option<&Redescription>,
) -> Result<Stat> {
    let mut stat = Stat::from(chain.clone());
    let redescribed = redescription.map(|it| it.old.redescribed(&it.new));
    versions::keep_replaced(tx, caller, &chain, &mut stat.resource, redescribed)?;
    redescription.map_or(Ok(()), |it| it.write(tx, stat.id))?;
    (stat.resource.content, stat.resource.placement) = (content, placement);
    stat.resource.mode = mode.or(stat.resource.mode);
    stat.resource.mtime = mtime;
    count_change(tx, &mut stat.resource, changed, caller.user());
    update(tx, ChangeKind::Written, stat.id, chain.resource(), &stat.resource);
    Ok(stat)
}
