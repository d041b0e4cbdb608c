//! Parts of an upload come in.
//!
//! Invariants: a part is taken only from a caller who may write to the path of the upload, when it begins and when it ends; it is
//! durable when it is acknowledged; a later part at the same offset takes the place of an
//! earlier one, unless it was cut short and the earlier one is longer. Beside a part that came in order, after one that did, lies where
//! the SHA-256 of the whole stands, so that a digest of the whole costs no reading.

use cenote_blob::Sha256State;
use cenote_kv::KeyRange;

use super::upload::{mine_to_write, put_part};
use crate::catalog::keys::Counter;
use crate::catalog::{PartRecord, Reads, Record, RunningRecord, Transaction, View, keys};
use crate::contents::incoming::intake::{Intake, Running};
use crate::contents::stages::require_parts;
use crate::contents::{Expected, Part, Received, UploadId};
use crate::model::ContentId;
use crate::{Bytes, Caller, Error, ErrorKind, Result, Store, Stream};

/// A part that ends where another is to begin, and where the SHA-256 of the whole stands there.
struct Before {
    content: ContentId,
    state: Sha256State,
}

/// How a part is kept.
#[derive(Default)]
struct Keeping {
    /// The part that the SHA-256 of the whole continued from.
    after: Option<ContentId>,
    /// Whether a longer part stays.
    longest: bool,
}

impl Store {
    /// Stores a part, completely or not at all; with [`Expected::keep_short`], whatever arrived of it. Needs what [`Store::put`] needs.
    pub async fn put_part<E>(
        &self,
        caller: &Caller,
        upload: UploadId,
        offset: u64,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<Part>
    where
        E: std::fmt::Display,
    {
        let owned_caller = caller.clone();
        let begun = self.blocking(move |store| {
            let view = store.view()?;
            let record = mine_to_write(&view, &owned_caller, upload)?;
            require_parts(&record)?;
            store.check_room(&view, upload.number, offset)?;
            Ok((record.place, before(&view, upload.number, offset)?))
        });
        let (place, before) = begun.await?;
        let destination = self.known().destination(place)?;
        let inline = self.inline_in(&destination);
        let after = before.as_ref().map(|before| before.content);
        let running = match before {
            Some(before) => Running::After(before.state),
            None if offset == 0 => Running::Begin,
            None => Running::Apart,
        };
        let intake = Intake { destination, expected, inline, running };
        let received = intake.receive(self, bytes).await?;
        let how = Keeping { after, longest: expected.keep_short };
        let (caller, blob) = (caller.clone(), received.blob.clone());
        let kept = self
            .blocking(move |store| store.keep_part_as(&caller, upload, offset, &received, &how))
            .await;
        self.published(blob, kept).await
    }

    /// Refuses what [`Store::keep_part`] would refuse now, before any byte is sent.
    pub fn may_keep_part(&self, caller: &Caller, upload: UploadId, offset: u64) -> Result<()> {
        let view = self.view()?;
        require_parts(&mine_to_write(&view, caller, upload)?)?;
        self.check_room(&view, upload.number, offset)
    }

    /// Takes a part that has been received.
    pub async fn keep_part(
        &self,
        caller: &Caller,
        upload: UploadId,
        offset: u64,
        received: Received,
    ) -> Result<Part> {
        let (caller, blob) = (caller.clone(), received.blob.clone());
        let kept = self
            .blocking(move |store| {
                store.check_room(&store.view()?, upload.number, offset)?;
                store.keep_part_as(&caller, upload, offset, &received, &Keeping::default())
            })
            .await;
        self.published(blob, kept).await
    }

    /// Refuses one part more than an upload may have. Looked at outside of the transaction, which would conflict with
    /// that of every other part; so those that come at the same time may all find the last room.
    fn check_room(&self, view: &View, upload: u64, offset: u64) -> Result<()> {
        let most = self.parts().limits.parts;
        if view.counter(upload, Counter::Parts)? < most as i64
            || view.has(&keys::part(upload, offset))?
        {
            return Ok(());
        }
        Err(Error::new(ErrorKind::TooLarge, format!("an upload has at most {most} parts"))
            .with_hint("begin again, and send larger parts"))
    }

    fn keep_part_as(
        &self,
        caller: &Caller,
        upload: UploadId,
        offset: u64,
        received: &Received,
        how: &Keeping,
    ) -> Result<Part> {
        let end = offset.checked_add(received.size);
        if end.is_none_or(|end| end > self.parts().limits.content) {
            let message = "the part ends beyond the largest content";
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        let content = ContentId(self.new_id()?);
        self.transact(|tx| {
            let record = mine_to_write(tx, caller, upload)?;
            require_parts(&record)?;
            if record.size.is_some_and(|size| offset + received.size > size) {
                let message = "the part ends beyond the size announced";
                return Err(Error::new(ErrorKind::Mismatch, message));
            }
            if how.longest {
                check_longest(tx, upload.number, offset, received.size)?;
            }
            crate::contents::store_content(tx, content, &received.content, received.blob.as_ref())?;
            let (length, digests) = (received.size, received.digests.clone());
            let running = received
                .state
                .as_ref()
                .map(|state| RunningRecord { state: state.to_bytes(), after: how.after });
            let record = PartRecord { length, digests: digests.clone(), content, running };
            put_part(tx, (upload.number, offset), &record)?;
            Ok(Part { offset, length, digests })
        })
    }
}

/// The part before `offset`, if the SHA-256 can continue from there.
fn before(view: &View, upload: u64, offset: u64) -> Result<Option<Before>> {
    let earlier = KeyRange::new(keys::part(upload, 0), keys::part(upload, offset));
    let Some((key, value)) = view.last(&earlier)? else { return Ok(None) };
    let part = PartRecord::from_value(&value)?;
    let ends_there = keys::last_id(&key).is_some_and(|begin| begin + part.length == offset);
    let state = part.running.and_then(|running| Sha256State::from_bytes(&running.state));
    Ok(state.filter(|_| ends_there).map(|state| Before { content: part.content, state }))
}

/// A client that was cut off may have sent the part again before the server noticed.
fn check_longest(tx: &Transaction, upload: u64, offset: u64, length: u64) -> Result<()> {
    let there = tx.get::<PartRecord>(&keys::part(upload, offset))?;
    match there.is_some_and(|part| part.length > length) {
        false => Ok(()),
        true => Err(Error::new(ErrorKind::Conflict, "a longer part has already arrived")
            .with_hint("check which parts have arrived")),
    }
}
