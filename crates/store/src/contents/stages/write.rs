//! Writing to a stage: as to an object in place, a write adds one patch over its extents.

use super::attempt::{Attempt, attempted};
use super::ranges::Positions;
use super::{restage, stage, stage_to_write};
use crate::catalog::UploadRecord;
use crate::contents::incoming::intake::{Intake, Running};
use crate::contents::patches::write_at::{FOLD_AT, add_patches, too_large};
use crate::contents::{Expected, Received, overlay, resolve};
use crate::model::{ContentHead, Digests, Extent};
use crate::{Bytes, Caller, Error, ErrorKind, Result, Store, Stream};

impl Store {
    /// Writes bytes to a stage, and returns its size then. Needs what [`Store::put`] needs.
    ///
    /// # Errors
    /// [`ErrorKind::WrongKind`] for an upload in parts, [`ErrorKind::Conflict`] if a later attempt has changed the stage.
    pub async fn write_stage<E>(
        &self,
        caller: &Caller,
        stage: impl Into<Attempt>,
        position: impl Into<Positions>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        expected: &Expected,
    ) -> Result<u64>
    where
        E: std::fmt::Display,
    {
        let (owned_caller, stage) = (caller.clone(), stage.into());
        let destination = self.blocking(move |store| {
            let view = store.view()?;
            let (record, there) = stage_to_write(&view, &owned_caller, stage.upload)?;
            store.stage_destination(&record, there.as_ref())
        });
        let inline = self.parts().limits.inline;
        let destination = destination.await?;
        let intake = Intake { destination, expected, inline, running: Running::Apart };
        let received = intake.receive(self, bytes).await?;
        self.write_stage_received(caller, stage, position, received).await
    }

    /// Writes bytes that have been received to a stage, and returns its size then. If they went to other places than those of the
    /// object, they are copied there when the stage is published. Needs what [`Store::put`] needs.
    ///
    /// # Errors
    /// [`ErrorKind::WrongKind`] for an upload in parts, [`ErrorKind::Conflict`] if a later attempt has changed the stage.
    pub async fn write_stage_received(
        &self,
        caller: &Caller,
        stage: impl Into<Attempt>,
        position: impl Into<Positions>,
        received: Received,
    ) -> Result<u64> {
        let (owned_caller, blob, stage) = (caller.clone(), received.blob.clone(), stage.into());
        let positions = position.into();
        let patch =
            move |store: &Self| store.patch_stage(&owned_caller, stage, &positions, &received);
        let written = self.blocking(patch).await;
        let head = self.published(blob, written).await?;
        if head.patches >= FOLD_AT {
            self.try_to_fold(caller, stage.upload).await;
        }
        Ok(head.size)
    }

    fn patch_stage(
        &self,
        caller: &Caller,
        Attempt { upload, number }: Attempt,
        positions: &Positions,
        received: &Received,
    ) -> Result<ContentHead> {
        self.transact(|tx| {
            let (record, _) = stage_to_write(tx, caller, upload)?;
            let record = attempted(record, number)?;
            let mut head = stage(&record)?.clone();
            if received.size() == 0 {
                return Ok(head);
            }
            let patches = positions.patches(received, head.size)?;
            let end = patches.last().map_or(0, Extent::end);
            self.check_stage_size(&record, end)?;
            (head.size, head.stamp) = (head.size.max(end), self.new_id()?);
            head.digests = Digests::default();
            add_patches(tx, &mut head, patches, received.blob.as_ref())?;
            restage(tx, upload, record, head.clone());
            Ok(head)
        })
    }

    /// Truncates a stage to `size` bytes, or extends it with zeros. Needs what [`Store::put`] needs.
    ///
    /// # Errors
    /// [`ErrorKind::WrongKind`] for an upload in parts, [`ErrorKind::Conflict`] if a later attempt has changed the stage.
    pub async fn truncate_stage(
        &self,
        caller: &Caller,
        stage: impl Into<Attempt>,
        size: u64,
    ) -> Result<u64> {
        let stage = stage.into();
        // Bytes of patches would otherwise stay in the record, and each truncation would add to it.
        self.try_to_fold(caller, stage.upload).await;
        let caller = caller.clone();
        self.blocking(move |store| store.cut_stage(&caller, stage, size)).await
    }

    fn cut_stage(
        &self,
        caller: &Caller,
        Attempt { upload, number }: Attempt,
        size: u64,
    ) -> Result<u64> {
        self.transact(|tx| {
            let (record, _) = stage_to_write(tx, caller, upload)?;
            let record = attempted(record, number)?;
            let head = stage(&record)?.clone();
            if head.size == size {
                return Ok(size);
            }
            self.check_stage_size(&record, size)?;
            let extents = overlay(resolve(tx, &head)?, Vec::new(), size);
            let digests = Digests::default();
            let cut = self.new_stage(tx, ContentHead { size, digests, ..head }, extents)?;
            restage(tx, upload, record, cut);
            Ok(size)
        })
    }

    fn check_stage_size(&self, record: &UploadRecord, size: u64) -> Result<()> {
        if size > self.parts().limits.content {
            return Err(too_large());
        }
        match record.size.is_some_and(|announced| size > announced) {
            true => Err(Error::new(ErrorKind::Mismatch, "more bytes than were announced")),
            false => Ok(()),
        }
    }
}
