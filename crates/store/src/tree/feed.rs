//! The change feed: what changed since a position, in commit order.

use super::feed_floor::floor;
use crate::catalog::{ChangeRecord, Reads, Record, keys};
use crate::model::{At, ChangeKind, Level, PersonId, ResourceId, Time};
use crate::tree::find;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A position in the feed: all changes up to it have been seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub(super) Option<[u8; 12]>);

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where it stands in the feed.
    pub position: Position,
    /// What happened.
    pub kind: ChangeKind,
    /// To which resource.
    pub id: ResourceId,
    /// The collection it is in now; it was in, for a removal.
    pub parent: ResourceId,
    /// Its name there.
    pub name: String,
    /// The collection and the name it had before, for a move.
    pub from: Option<(ResourceId, String)>,
    /// When.
    pub at: Time,
    /// By whom.
    pub by: PersonId,
    /// The revision of the resource after it.
    pub revision: u64,
}

/// Part of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangePage {
    /// Changes that the caller may see, in commit order.
    pub changes: Vec<Change>,
    /// Where to go on.
    pub next: Position,
    /// Whether there is more now.
    pub more: bool,
}

impl Store {
    /// What changed after a position, looking at up to `limit` changes; after the first, all that is
    /// kept. A removal is shown to those who may read the collection it was in; anything else to
    /// those who may see the resource.
    ///
    /// # Errors
    /// [`ErrorKind::Expired`] if changes after `since` are not kept any more.
    pub fn changes(&self, caller: &Caller, since: Position, limit: usize) -> Result<ChangePage> {
        let view = self.view()?;
        let limit = limit.clamp(1, 10_000);
        if since != Position::default() && since < floor(&view)? {
            return Err(Error::new(ErrorKind::Expired, format!("not all after {since} is kept"))
                .with_hint("follow the feed from `now` on, then read everything afresh"));
        }
        let rows = view.rows(&keys::feed_after(since.0), limit + 1)?;
        let mut page = ChangePage { changes: Vec::new(), next: since, more: rows.len() > limit };
        for (key, value) in rows.iter().take(limit) {
            page.next = Position(keys::feed_position(key));
            let change = Change::from_record(page.next, ChangeRecord::from_value(value)?);
            if visible(&view, caller, &change)? {
                page.changes.push(change);
            }
        }
        Ok(page)
    }

    /// The position of the newest change: who starts here misses nothing that happens from now on.
    pub fn newest_change(&self) -> Result<Position> {
        let view = self.view()?;
        let newest = view.last(&keys::feed_after(None))?;
        newest.map_or_else(|| floor(&view), |(key, _)| Ok(Position(keys::feed_position(&key))))
    }
}

fn visible(reads: &impl Reads, caller: &Caller, change: &Change) -> Result<bool> {
    let (id, needed) = match change.kind {
        ChangeKind::Removed => (change.parent, Level::ReadObject),
        _ => (change.id, Level::ReadMetadata),
    };
    Ok(caller.is_admin() || find(reads, caller, &At::Id(id), needed).is_ok())
}

impl Change {
    fn from_record(position: Position, record: ChangeRecord) -> Self {
        let ChangeRecord { kind, id, parent, name, from, at, by, revision } = record;
        Self { position, kind, id, parent, name, from, at, by, revision }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.0.unwrap_or_default();
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::str::FromStr for Position {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid(format!("not a position of the change feed: {text:.64?}"));
        if text.len() != 24 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 12];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
        }
        Ok(Self((bytes != [0; 12]).then_some(bytes)))
    }
}
