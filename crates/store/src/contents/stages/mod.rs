//! Staged writing: an upload that begins from what an object holds, or from nothing, and is written anywhere, truncated and read until
//! it is published as one version.
//!
//! Invariants: nothing that is written to a stage is in the object before it is published; bytes that are not written again are shared
//! with the object, not copied; a stage is published only while the object has the tag that it had when the stage began, unless the
//! caller forces it.

mod attempt;
mod fold;
mod publish;
mod ranges;
mod read;
mod write;

pub use self::attempt::Attempt;
pub use self::ranges::{Positions, Ranges};
pub use self::read::Staged;
use crate::access::{Chain, Operation, Slot};
use crate::catalog::{Reads, Transaction, UploadRecord, keys};
use crate::contents::read::content_of;
use crate::contents::uploads::upload::mine_at;
use crate::contents::{PutOptions, UploadId, resolve, store_content};
use crate::model::{At, Content, ContentHead, ContentId, Digests, Extent};
use crate::places::Destination;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// What a stage begins from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageFrom {
    /// The current content of the object.
    Object,
    /// No bytes.
    Nothing,
}

impl Store {
    /// The initial content of a stage. If it is that of the object, or of its replica in the place of `put`, the current tag of the
    /// object becomes the condition of the publication, unless `put` has one.
    pub(super) fn begin_stage(
        &self,
        tx: &mut Transaction,
        (caller, at): (&Caller, &At),
        from: StageFrom,
        put: &mut PutOptions,
    ) -> Result<ContentHead> {
        if from == StageFrom::Nothing {
            return self.new_stage(tx, no_bytes(), Vec::new());
        }
        let Slot::Occupied(chain) = Slot::of(tx, caller, at, false)? else {
            return Err(Error::not_found(at));
        };
        chain.require(caller, Operation::Read, at)?;
        let head = content_of(&chain, at)?;
        put.conditions.check_content(Some(&chain))?;
        put.conditions.if_match.get_or_insert_with(|| head.tag());
        let base = self.base(chain.resource(), &head, put.place)?.head;
        let extents = resolve(tx, &base)?;
        self.new_stage(tx, base, extents)
    }

    /// Stores extents as a content of its own. `head` has its size and digests.
    fn new_stage(
        &self,
        tx: &mut Transaction,
        head: ContentHead,
        extents: Vec<Extent>,
    ) -> Result<ContentHead> {
        let id = ContentId(self.new_id()?);
        store_content(tx, id, &Content { extents }, None)?;
        Ok(ContentHead { id, patches: 0, stamp: id.0, ..head })
    }

    /// Where the bytes of a stage go: to the place that was named, or to where the object is now.
    fn stage_destination(
        &self,
        record: &UploadRecord,
        there: Option<&Chain>,
    ) -> Result<Destination> {
        let known = self.known();
        let resource = there.map(Chain::resource).filter(|_| record.place.is_none());
        let Some((resource, head)) = resource.and_then(|it| Some((it, it.content.as_ref()?)))
        else {
            return known.destination(record.place);
        };
        let base = self.base(resource, head, None)?;
        match base.by_default {
            true => base.destination(&known),
            false => known.destination(base.places.first().map(|place| known.outermost(*place))),
        }
    }
}

/// A content without bytes, before it has an id.
fn no_bytes() -> ContentHead {
    ContentHead {
        id: ContentId(0),
        size: 0,
        digests: Digests::default(),
        media_type: None,
        patches: 0,
        stamp: 0,
        digested_later: false,
        media_type_guessed: false,
    }
}

/// The content of a stage.
fn stage(record: &UploadRecord) -> Result<&ContentHead> {
    record.stage.as_ref().ok_or_else(|| {
        Error::new(ErrorKind::WrongKind, "this upload is not a stage")
            .with_hint("send it in parts, or begin one with `from`")
    })
}

/// Refuses parts of a stage.
pub(super) fn require_parts(record: &UploadRecord) -> Result<()> {
    match &record.stage {
        None => Ok(()),
        Some(_) => {
            Err(Error::new(ErrorKind::WrongKind, "this upload is a stage, and has no parts")
                .with_hint("write to its content"))
        }
    }
}

/// The caller's upload if it is a stage that they may write to now, and what is at its path.
fn stage_to_write(
    reads: &impl Reads,
    caller: &Caller,
    upload: UploadId,
) -> Result<(UploadRecord, Option<Chain>)> {
    let (record, there) = mine_at(reads, caller, upload)?;
    if let Some(chain) = &there {
        chain.require(caller, Operation::Write, &record.at()?)?;
    }
    stage(&record)?;
    Ok((record, there))
}

/// Replaces the content of a stage, or its head.
fn restage(tx: &mut Transaction, upload: UploadId, record: UploadRecord, head: ContentHead) {
    if let Some(old) = record.stage.as_ref().filter(|old| old.id != head.id) {
        tx.mark(keys::garbage(tx.now(), old.id));
    }
    tx.put(keys::upload(upload.number), &UploadRecord { stage: Some(head), ..record });
}
