//! The free space, as shown by `df`.

use cenote_client::{Quota, QuotaTarget, Record};
use futures_util::join;

use super::FileSystem;
use crate::error::Result;

/// A limit, and how much of it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The most that there can be.
    pub limit: u64,
    /// What is left of that.
    pub free: u64,
}

/// Room for bytes, and for files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Room for contents.
    pub bytes: Room,
    /// Room for files and directories.
    pub files: Room,
}

/// The space reported if it is unknown: enough for programs that check it to continue.
const AMPLE: Space = Space { bytes: Room::empty(1 << 50), files: Room::empty(1 << 40) };

impl Room {
    const fn empty(limit: u64) -> Self {
        Self { limit, free: limit }
    }

    fn of(limit: u64, used: u64) -> Self {
        Self { limit, free: limit.saturating_sub(used) }
    }

    /// The one that has less left.
    fn tighter(self, other: Option<Self>) -> Self {
        other.filter(|other| other.free < self.free).unwrap_or(self)
    }
}

impl FileSystem {
    /// The minimum of the space left by the quotas that apply to the mount and its user, and in the place for new
    /// contents. Values that this user cannot see, or that are unavailable, are ignored.
    pub async fn space(&self) -> Space {
        let root = QuotaTarget::Path(self.options().root.clone());
        let (above, own, free) = join!(self.quotas(root), self.own_quotas(), self.free());
        let quotas = [above, own].into_iter().flatten().flatten();
        let space = quotas.fold(AMPLE, Space::within);
        Space { bytes: space.bytes.tighter(free.ok().flatten()), ..space }
    }

    async fn quotas(&self, of: QuotaTarget) -> Result<Vec<Quota>> {
        self.0.source.within(self.0.source.client.quotas(Some(&of))).await
    }

    /// The quotas of the user, and of the groups that the user is in.
    async fn own_quotas(&self) -> Result<Vec<Quota>> {
        let me = self.0.source.within(self.0.source.client.whoami()).await?;
        let mut found = self.quotas(QuotaTarget::User(me.name)).await?;
        for group in me.groups {
            // The caller may lack the right to see the quotas of a group.
            found.extend(self.quotas(QuotaTarget::Group(group)).await.unwrap_or_default());
        }
        Ok(found)
    }

    /// The free space of the place for new contents.
    async fn free(&self) -> Result<Option<Room>> {
        let places = self.0.source.within(self.0.source.client.places()).await?;
        let number = |place: &Record, name: &str| place.get(name).and_then(|value| value.as_u64());
        let default = places.iter().find(|place| place.get("default") == Some(&true.into()));
        Ok(default.and_then(|place| {
            let free = number(place, "free")?;
            Some(Room { limit: free + number(place, "bytes").unwrap_or(0), free })
        }))
    }
}

impl Space {
    fn within(self, quota: Quota) -> Self {
        let used = quota.total.unwrap_or_default();
        let bytes = quota.hard.bytes.map(|limit| Room::of(limit, used.bytes));
        let files = quota.hard.resources.map(|limit| Room::of(limit, used.resources));
        Self { bytes: self.bytes.tighter(bytes), files: self.files.tighter(files) }
    }
}
