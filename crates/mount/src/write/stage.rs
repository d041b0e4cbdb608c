//! The stage on the server that a large draft is written to.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use cenote_client::{NewStage, Patch};
use futures_util::TryStreamExt;

use super::ahead::Ahead;
use super::attempts::Attempts;
use super::gathered::{Gathered, RUN};
use super::kept::{Kept, Written};
use super::pieced::Pieced;
use super::sender::Sender;
use crate::error::Result;
use crate::source::Source;

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
    /// What is on its way, and what waits for that.
    kept: Arc<Kept>,
    gathered: Gathered,
    ahead: Ahead,
}

impl Stage {
    pub(super) async fn begin(source: &Source, new: &NewStage) -> Result<Self> {
        let begun = source.insist(|| source.within(source.client.begin_stage(new))).await?;
        let attempts = Arc::new(Attempts::of(begun.id));
        let kept = Arc::<Kept>::default();
        kept.set_at_server(begun.size);
        let sender = Sender::new(source.clone(), Arc::clone(&attempts), Arc::clone(&kept));
        let (source, gathered, ahead) = (source.clone(), Gathered::default(), Ahead::default());
        Ok(Self { source, attempts, size: begun.size, sender, kept, gathered, ahead })
    }

    /// Goes on with a stage that begins from what this one was published as: what the server does not have yet is sent to that.
    pub(super) async fn begin_again(&mut self, new: &NewStage) -> Result<()> {
        let source = &self.source;
        let begun = source.insist(|| source.within(source.client.begin_stage(new))).await?;
        self.attempts.replace(begun.id);
        self.ahead = Ahead::default();
        self.kept.set_at_server(begun.size);
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

    /// Takes bytes, unless those before cannot be sent. What was taken is gathered, or with the sender, until the server has it.
    pub(super) async fn write(&mut self, offset: u64, bytes: Bytes) -> Result<()> {
        let end = offset + bytes.len() as u64;
        self.ahead.cut(&(offset..end));
        if self.gathered.is_full() {
            self.send().await?;
        }
        if self.gathered.is_empty() && bytes.len() as u64 >= RUN {
            self.sender.write(Written::one(offset, bytes)).await?;
        } else {
            self.gathered.write(offset, &bytes);
        }
        self.size = self.size.max(end);
        if self.gathered.is_full() {
            // If it cannot be sent now, the next operation reports that.
            let _later = self.send().await;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let written = self.gathered.take();
        let sent = self.sender.write(written.clone()).await;
        if sent.is_err() {
            self.gathered.put_back(&written);
        }
        sent
    }

    /// Waits until the server has all that was written.
    async fn settle(&mut self) -> Result<()> {
        self.send().await?;
        self.sender.settle().await
    }

    async fn truncate(&mut self, size: u64) -> Result<()> {
        self.ahead = Ahead::default();
        self.settle().await?;
        let (source, cut) = (&self.source, &Patch::Truncate(size));
        let cut = async || {
            let stage = self.attempts.next();
            let outcome = source.within(source.client.patch_stage(stage.attempt(), cut)).await;
            self.attempts.note(&outcome);
            outcome
        };
        self.size = source.insist(cut).await?;
        self.kept.set_at_server(self.size);
        Ok(())
    }

    /// Reads a range, and ahead of it if it follows the range that was read last.
    async fn read(&mut self, range: Range<u64>) -> Result<Bytes> {
        if let Some(bytes) = self.ahead.get(&range) {
            return Ok(bytes);
        }
        let window = self.ahead.window(&range, self.size);
        let bytes = self.put_together(window).await?;
        Ok(self.ahead.take(&range, bytes))
    }

    /// The bytes of a range. What was written is seen at once, without waiting until the server has it.
    async fn put_together(&self, range: Range<u64>) -> Result<Bytes> {
        let mut read = Pieced::new(range);
        let at_server = self.kept.lay_over(&mut read);
        self.gathered.lay_over(&mut read);
        let missing = read.missing();
        if let (Some(first), Some(last)) = (missing.first(), missing.last()) {
            let there = first.start..last.end.min(at_server);
            if !there.is_empty() {
                let bytes = self.source.insist(|| self.read_once(there.clone())).await?;
                read.fill(&missing, (there.start, &bytes));
            }
        }
        Ok(read.into_bytes())
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
