//! Giving one resource the description of another.

use crate::access::Operation;
use crate::catalog::ChangeKind;
use crate::metadata::{Stored, needed, read, replace};
use crate::model::{At, Changed, ContentHead, Resource, Stat, Time};
use crate::resources::{count_change, find, update};
use crate::{Caller, Conditions, Result, Store, versions};

impl Store {
    /// Makes the description of `to` that of `from`, in one commit: the graph, the media
    /// type, and mode and time where `from` has them. Content, access and versions stay.
    ///
    /// Needs `Rights::READ_DESCRIPTION` on `from`, and what [`Store::change_graph`] needs on `to`;
    /// `Rights::CHANGE_DESCRIPTION` for the others. What changes nothing is no change.
    pub fn copy_description(
        &self,
        caller: &Caller,
        from: &At,
        to: &At,
        conditions: &Conditions,
    ) -> Result<Stat> {
        self.transact(|tx| {
            let source = find(tx, caller, from, Operation::ReadDescription)?;
            let target = find(tx, caller, to, Operation::Stat)?;
            conditions.check_description(&target)?;
            let (old, new) = (Stored::read(tx, target.id().0)?, read(tx, source.id().0)?);
            let mut stat = Stat::from(target.clone());
            take_attributes(&mut stat.resource, source.resource(), tx.now());
            let others_differ = stat.resource != *target.resource();
            target.require(caller, needed(&old.graph, &new), to)?;
            if others_differ {
                target.require(caller, Operation::SetAttributes, to)?;
            }
            if old.graph != new || others_differ {
                let change = Some(old.redescribed(&new));
                versions::keep_replaced(tx, caller, &target, &mut stat.resource, change)?;
            }
            if old.graph != new {
                replace(tx, stat.id.0, &old, &new)?;
            }
            if old.graph != new || others_differ {
                count_change(tx, &mut stat.resource, Changed::Description, caller.user());
                update(tx, ChangeKind::Described, stat.id, target.resource(), &stat.resource);
            }
            Ok(stat)
        })
    }
}

fn take_attributes(resource: &mut Resource, source: &Resource, now: Time) {
    resource.mode = source.mode.or(resource.mode);
    resource.set_mtime(source.mtime.filter(|_| source.mtime != resource.mtime), now);
    if let (Some(content), Some(from)) = (&mut resource.content, &source.content) {
        take_media_type(content, from);
    }
}

/// Takes over a media type that was set. Otherwise a guess is not changed, since the other one may be of another content.
fn take_media_type(content: &mut ContentHead, from: &ContentHead) {
    if from.stated_media_type() != content.stated_media_type() {
        content.media_type.clone_from(&from.media_type);
        content.media_type_guessed = from.media_type_guessed;
    }
}
