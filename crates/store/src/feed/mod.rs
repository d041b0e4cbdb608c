//! The change feed: what changed since a position, in commit order.
//!
//! Invariant: a change names a resource only as the caller sees it now, or as they saw it then.

mod floor;
mod regrant;
mod subtree;

pub(crate) use self::floor::{floor, raise_floor};
use self::subtree::Subtree;
use cenote_kv::KeyRange;

use crate::access::{Act, Operation};
use crate::catalog::{ChangeRecord, Reads, Record, View, keys};
use crate::model::{Access, At, ChangeKind, PersonId, ResourceId, Time};
use crate::resources::locate;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A position in the feed: all changes up to it have been seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(Option<[u8; 12]>);

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its position in the feed.
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
    /// The last change here that may have taken something out of the caller's sight, without a change that they may see: of an access list
    /// that they may not see now, of their role or groups, or a move of a collection above the top of a subtree. What they knew before it
    /// is to be looked at again.
    pub access: Option<Position>,
    /// Whether the caller's role, groups or password changed here: who follows the feed has to be authenticated again.
    pub renew: bool,
    /// Where to continue.
    pub next: Position,
    /// Whether there is more now.
    pub more: bool,
}

impl Store {
    /// What changed after a position, looking at up to `limit` changes; after the first, all that is
    /// kept. A removal is shown to those who could see the resource, any other change to those who see it now. A name
    /// that it no longer has is shown to those who could see it under that name; what moved out of a caller's sight
    /// is a removal for them.
    ///
    /// # Errors
    /// [`ErrorKind::Expired`] if changes after `since` are not kept any more.
    pub fn changes(&self, caller: &Caller, since: Position, limit: usize) -> Result<ChangePage> {
        page(&self.view()?, caller, (since, limit), None)
    }

    /// The same, only for `top` and what is below it. What moved out is a removal, and what moved in has no name that it
    /// had before; either stands for all below it.
    ///
    /// # Errors
    /// Those of [`changes`](Self::changes); [`ErrorKind::NotFound`] once `top` was removed, by itself or with a collection
    /// above it, or the caller may not see it any more.
    pub fn changes_below(
        &self,
        caller: &Caller,
        top: ResourceId,
        since: Position,
        limit: usize,
    ) -> Result<ChangePage> {
        let view = self.view()?;
        let subtree = Subtree::open(&view, caller, top)?;
        page(&view, caller, (since, limit), Some(subtree))
    }

    /// The position of the newest change: who starts here misses nothing that happens from now on.
    pub fn newest_change(&self) -> Result<Position> {
        let view = self.view()?;
        newest(&view)
    }

    /// Resolves once a commit added to the change feed, whoever made it: a request or a job in the background, and, as far as the engine
    /// announces it, another process. It counts from this call on, not from the first poll.
    pub fn changed(&self) -> impl Future<Output = ()> + Send + '_ {
        self.follow_others();
        self.inner.changed.notified()
    }

    /// Whether other processes may change the catalog, too. The engine's announcements of their changes are hints: waiting requests poll by
    /// themselves now and then.
    pub fn is_shared(&self) -> bool {
        self.parts().engine.is_shared()
    }
}

/// The position of the newest change, which may be forgotten.
pub(crate) fn newest(view: &View) -> Result<Position> {
    let newest = view.last(&keys::feed_after(None))?;
    let kept = newest.map_or_else(Position::default, |(key, _)| Position::of_key(&key));
    Ok(kept.max(floor(view)?))
}

/// The changes after a position.
pub(crate) fn after(position: Position) -> KeyRange {
    keys::feed_after(position.0)
}

/// Whether a position is that of a change, or of where the feed begins.
pub(crate) fn is_position(view: &View, position: Position) -> Result<bool> {
    let first = view.rows(&after(position.previous()), 1)?.pop();
    let is_change = first.is_some_and(|(key, _)| Position::of_key(&key) == position);
    Ok(is_change || position == floor(view)?)
}

impl Position {
    /// The greatest one that is less.
    fn previous(self) -> Self {
        let mut bytes = self.0.unwrap_or_default();
        for byte in bytes.iter_mut().rev() {
            let borrows = *byte == 0;
            *byte = byte.wrapping_sub(1);
            if !borrows {
                break;
            }
        }
        Self(self.0.and((bytes != [0; 12]).then_some(bytes)))
    }

    /// The position in the key of a change.
    pub(crate) fn of_key(key: &[u8]) -> Self {
        Self(keys::feed_position(key))
    }

    /// What its key ends with; none before all changes.
    pub(crate) fn key(self) -> Option<[u8; 12]> {
        self.0
    }

    /// The version of the commit that the change at this position was made in.
    pub(crate) fn commit(self) -> u64 {
        let bytes = self.0.unwrap_or_default();
        bytes[..8].iter().fold(0, |commit, byte| commit << 8 | u64::from(*byte))
    }

    /// The position after all changes of a commit.
    pub(crate) fn end_of(commit: u64) -> Self {
        let mut bytes = [0xff; 12];
        bytes[..8].copy_from_slice(&commit.to_be_bytes());
        Self((commit > 0).then_some(bytes))
    }
}

/// The changes after a position, or those of a subtree, as far as the caller may know of them.
fn page(
    view: &View,
    caller: &Caller,
    (since, limit): (Position, usize),
    mut subtree: Option<Subtree>,
) -> Result<ChangePage> {
    let limit = limit.clamp(1, 10_000);
    let floor = floor(view)?;
    if since != Position::default() && since < floor {
        return Err(Error::new(
            ErrorKind::Expired,
            format!("some changes after {since} are no longer kept"),
        )
        .with_hint("follow the feed from `now`, then read everything again"));
    }
    let since = since.max(floor);
    let rows = view.rows(&keys::feed_after(since.0), limit + 1)?;
    let more = rows.len() > limit;
    let (changes, next) = (Vec::new(), since);
    let mut page = ChangePage { changes, access: None, renew: false, next, more };
    for (key, value) in rows.iter().take(limit) {
        page.next = Position(keys::feed_position(key));
        let record = ChangeRecord::from_value(value)?;
        if let Some(person) = record.person() {
            page.renews(caller.user() == person);
            continue;
        }
        let hides = regrant::may_hide(caller, &record)
            || lost_classes(view, caller, &record)?
            || subtree.as_ref().is_some_and(|subtree| subtree.moves_with(caller, &record));
        let part = match &mut subtree {
            Some(subtree) => subtree.part(view, record)?,
            None => Some(record),
        };
        let shown = part.map(|record| shown(view, caller, record)).transpose()?.flatten();
        match shown {
            Some(record) => page.changes.push(Change::from_record(page.next, record)),
            None if hides => page.access = Some(page.next),
            None => {}
        }
    }
    Ok(page)
}

impl ChangePage {
    /// The last record that was looked at is of what a person may do: the caller, if `own`.
    fn renews(&mut self, own: bool) {
        if own {
            (self.access, self.renew) = (Some(self.next), true);
        }
    }
}

/// A change, for who looks at a part of the tree: whether that has the resource now, and the place there that it had before.
/// What left the part is a removal.
fn seen_from(
    record: ChangeRecord,
    here: bool,
    before: Option<(ResourceId, String)>,
) -> Option<ChangeRecord> {
    match (here, before) {
        (true, from) => Some(ChangeRecord { from, ..record }),
        (false, Some((parent, name))) => {
            Some(ChangeRecord { kind: ChangeKind::Removed, parent, name, ..record })
        }
        (false, None) => None,
    }
}

/// A change as far as the caller may know of it.
fn shown(
    reads: &impl Reads,
    caller: &Caller,
    mut record: ChangeRecord,
) -> Result<Option<ChangeRecord>> {
    if caller.may(Act::AllChanges) {
        return Ok(Some(record));
    }
    let before = match record.from.take() {
        Some(from) if was_seen(reads, caller, &record, from.0)? => Some(from),
        _ => None,
    };
    let here = match record.kind {
        ChangeKind::Removed => was_seen(reads, caller, &record, record.parent)?,
        _ => is_seen(reads, caller, &record)?,
    };
    Ok(seen_from(record, here, before))
}

/// Whether the caller sees the resource now; under another name than now, only if they saw it then, too.
fn is_seen(reads: &impl Reads, caller: &Caller, record: &ChangeRecord) -> Result<bool> {
    let chain = locate(reads, &At::Id(record.id))?;
    let seen = chain.filter(|chain| chain.rights(caller).allow(Operation::Stat));
    let Some(chain) = seen else { return Ok(false) };
    let now = chain.resource();
    match now.parent == record.parent && now.name == record.name {
        true => Ok(true),
        false => was_seen(reads, caller, record, record.parent),
    }
}

/// Whether the caller could see the resource in this collection, by the access list that it had. Of an entry without
/// one, only what the collections above grant counts.
fn was_seen(
    reads: &impl Reads,
    caller: &Caller,
    record: &ChangeRecord,
    parent: ResourceId,
) -> Result<bool> {
    let access = record.access.clone().unwrap_or_default();
    sees(reads, caller, parent, (record.id, &access))
}

/// Whether the caller could see the resource by the classes that it had before this change, if it had others.
fn lost_classes(reads: &impl Reads, caller: &Caller, record: &ChangeRecord) -> Result<bool> {
    match regrant::with_other_classes(record) {
        Some(before) if !caller.may(Act::AllChanges) => {
            sees(reads, caller, record.parent, (record.id, before))
        }
        _ => Ok(false),
    }
}

/// Whether the caller would see a resource with this access list in this collection.
fn sees(
    reads: &impl Reads,
    caller: &Caller,
    parent: ResourceId,
    (id, access): (ResourceId, &Access),
) -> Result<bool> {
    let Some(collection) = locate(reads, &At::Id(parent))? else { return Ok(false) };
    Ok(collection.rights_below(caller, id, access).allow(Operation::Stat))
}

impl Change {
    fn from_record(position: Position, record: ChangeRecord) -> Self {
        let ChangeRecord { kind, id, parent, name, from, at, by, revision, .. } = record;
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
