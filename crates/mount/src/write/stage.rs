//! The stage on the server that a large draft is written to.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use cenote_client::{NewStage, Patch};
use futures_util::TryStreamExt;

use super::attempts::Attempts;
use super::sender::Sender;
use crate::error::Result;
use crate::source::Source;

/// Writes are gathered up to this size, if they follow each other.
const RUN: usize = 1 << 20;

/// What is done with a stage.
#[derive(Debug, Clone)]
pub(super) enum Work {
    /// Takes bytes for an offset.
    Write(u64, Bytes),
    /// Truncates it, or extends it with zeros.
    Truncate(u64),
    /// Reads a range.
    Read(Range<u64>),
    /// Waits until the server has all that was written.
    Settle,
}

/// A stage, and what is on its way to it.
#[derive(Debug)]
pub(super) struct Stage {
    source: Source,
    attempts: Arc<Attempts>,
    size: u64,
    sender: Sender,
    /// A run of bytes that has not been sent yet, and its offset.
    run: BytesMut,
    run_at: u64,
}

impl Stage {
    pub(super) async fn begin(source: &Source, new: &NewStage) -> Result<Self> {
        let begun = source.insist(|| source.within(source.client.begin_stage(new))).await?;
        let attempts = Arc::new(Attempts::of(begun.id));
        let sender = Sender::new(source.clone(), Arc::clone(&attempts));
        let (source, run) = (source.clone(), BytesMut::new());
        Ok(Self { source, attempts, size: begun.size, sender, run, run_at: 0 })
    }

    /// Goes on with a stage that begins from what this one was published as: what the server does not have yet is sent to that.
    pub(super) async fn begin_again(&mut self, new: &NewStage) -> Result<()> {
        let source = &self.source;
        let begun = source.insist(|| source.within(source.client.begin_stage(new))).await?;
        self.attempts.replace(begun.id);
        Ok(())
    }

    /// Does something with it; returns the bytes of a read.
    pub(super) async fn perform(&mut self, work: Work) -> Result<Bytes> {
        match work {
            Work::Write(offset, bytes) => self.write(offset, bytes).await?,
            Work::Truncate(size) => self.truncate(size).await?,
            Work::Read(range) => return self.read(range).await,
            Work::Settle => self.settle().await?,
        }
        Ok(Bytes::new())
    }

    pub(super) fn attempts(&self) -> &Attempts {
        &self.attempts
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// Takes bytes, unless those before cannot be sent. What was taken is in the run, or with the sender, until the server has it.
    pub(super) async fn write(&mut self, offset: u64, bytes: Bytes) -> Result<()> {
        let end = offset + bytes.len() as u64;
        if self.run.len() >= RUN || offset != self.run_at + self.run.len() as u64 {
            self.send().await?;
        }
        if self.run.is_empty() {
            self.run_at = offset;
        }
        if self.run.is_empty() && bytes.len() >= RUN {
            self.sender.write(offset, bytes).await?;
            self.run_at = end;
        } else {
            self.run.extend_from_slice(&bytes);
        }
        self.size = self.size.max(end);
        if self.run.len() >= RUN {
            // If it cannot be sent now, the next operation reports that.
            let _later = self.send().await;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        if self.run.is_empty() {
            return Ok(());
        }
        let run = self.run.split().freeze();
        let sent = self.sender.write(self.run_at, run.clone()).await;
        match sent {
            Ok(()) => self.run_at += run.len() as u64,
            Err(_) => self.run = BytesMut::from(run),
        }
        sent
    }

    /// Waits until the server has all that was written.
    async fn settle(&mut self) -> Result<()> {
        self.send().await?;
        self.sender.settle().await
    }

    async fn truncate(&mut self, size: u64) -> Result<()> {
        self.settle().await?;
        let (source, cut) = (&self.source, &Patch::Truncate(size));
        let cut = async || {
            let stage = self.attempts.next();
            let outcome = source.within(source.client.patch_stage(stage.attempt(), cut)).await;
            self.attempts.note(&outcome);
            outcome
        };
        self.size = source.insist(cut).await?;
        Ok(())
    }

    async fn read(&mut self, range: Range<u64>) -> Result<Bytes> {
        self.settle().await?;
        self.source.insist(|| self.read_once(range.clone())).await
    }

    async fn read_once(&self, range: Range<u64>) -> Result<Bytes> {
        let source = &self.source;
        let stage = self.attempts.next();
        let content = source.within(source.client.read_stage(stage.id(), Some(range))).await?;
        let all = content.into_stream().try_collect::<Vec<Bytes>>();
        Ok(source.within(all).await?.concat().into())
    }

    /// Cancels it on the server, which removes it after some days if that fails.
    pub(super) async fn abandon(&self) {
        let stage = self.attempts.next();
        let _stays = self.source.within(self.source.client.abandon_upload(stage.id())).await;
    }
}
