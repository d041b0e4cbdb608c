//! Where a resource of the past is now, and what a caller may do with it there.

use crate::access::{Chain, Operation, permits_removed};
use crate::catalog::{Reads, TrashRecord, View, keys};
use crate::model::{PersonId, ResourceId, Rights, StorePath};
use crate::{Act, Caller, Result};

/// Where a resource is now.
#[derive(Clone)]
pub(super) enum Now {
    Tree(Chain),
    /// In the trash, itself or with a collection above it.
    Trash {
        chain: Chain,
        top: Chain,
        removed_by: PersonId,
    },
    /// It was permanently removed, or is being so.
    Gone,
}

impl Now {
    pub(super) fn of(view: &View, id: ResourceId) -> Result<Self> {
        let Some(chain) = Chain::read_removed(view, id)? else { return Ok(Self::Gone) };
        let Some(top) = chain.removed_top() else {
            let is_reached = chain.contains(ResourceId::ROOT);
            return Ok(if is_reached { Self::Tree(chain) } else { Self::Gone });
        };
        let record = view.get::<TrashRecord>(&keys::trash(top.id()))?;
        Ok(record.map_or(Self::Gone, |record| {
            let removed_by = record.removed_by;
            Self::Trash { chain, top, removed_by }
        }))
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Gone)
    }

    /// What the caller may do with it where it is.
    pub(super) fn rights(&self, caller: &Caller) -> Rights {
        self.open_chain(caller).map_or(Rights::NONE, |chain| chain.rights(caller))
    }

    /// Its chain; none if it is in the trash and hidden from the caller, or deleted.
    fn open_chain(&self, caller: &Caller) -> Option<&Chain> {
        match self {
            Self::Tree(chain) => Some(chain),
            Self::Trash { chain, top, removed_by } => {
                let seen = caller.may(Act::Trash)
                    && permits_removed(caller, top, *removed_by, Operation::Stat);
                seen.then_some(chain)
            }
            Self::Gone => None,
        }
    }

    /// Its path, if it is not in the trash.
    pub(super) fn path(&self) -> Option<StorePath> {
        match self {
            Self::Tree(chain) => Some(chain.path()),
            Self::Trash { .. } | Self::Gone => None,
        }
    }
}
