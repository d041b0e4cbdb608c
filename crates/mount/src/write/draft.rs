//! The data written to one file, before it is published.

use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use cenote_client::{
    Address, At, Attributes, NewStage, PutOptions, ReadOptions, Resource, StageFrom,
};

use super::memory::{Memory, Reservation};
use super::publication::{self, Lost};
use super::stage::{Stage, Work};
use super::target::{Base, Target, With};
use crate::error::{Fault, Result};
use crate::source::Source;

/// The data written to a file.
#[derive(Debug)]
pub(crate) struct Draft {
    source: Source,
    memory: Arc<Memory>,
    base: Base,
    body: Body,
    /// Whether there is something to publish.
    dirty: bool,
    /// Whether the answer to a publication was lost.
    lost: Lost,
    /// The sizes with which the stage was to be published.
    tried: Vec<u64>,
}

/// Where the bytes of a draft are.
#[derive(Debug)]
enum Body {
    /// Where its base is: nothing was written yet.
    Unread,
    Memory {
        bytes: BytesMut,
        reservation: Reservation,
    },
    Stage(Box<Stage>),
}

impl Draft {
    /// A draft of an object, which is read when it is needed.
    pub(crate) fn of(source: Source, memory: &Arc<Memory>, base: Base) -> Self {
        Self::with(source, memory, (base, Body::Unread), false)
    }

    /// A draft of a new file, or of one whose content is replaced.
    pub(crate) fn empty(source: Source, memory: &Arc<Memory>) -> Self {
        let body = Body::Memory { bytes: BytesMut::new(), reservation: Reservation::none(memory) };
        Self::with(source, memory, (Base::Nothing, body), true)
    }

    fn with(source: Source, memory: &Arc<Memory>, (base, body): (Base, Body), dirty: bool) -> Self {
        Self {
            source,
            memory: Arc::clone(memory),
            base,
            body,
            dirty,
            lost: Lost::default(),
            tried: Vec::new(),
        }
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Whether it was created from the current content of the object.
    pub(crate) fn is_of(&self, etag: Option<&str>) -> bool {
        match &self.base {
            Base::Nothing => true,
            Base::Content { etag: base, .. } => base.as_deref() == etag,
        }
    }

    pub(crate) fn size(&self) -> u64 {
        match (&self.body, &self.base) {
            (Body::Memory { bytes, .. }, _) => bytes.len() as u64,
            (Body::Stage(stage), _) => stage.size(),
            (Body::Unread, Base::Content { size, .. }) => *size,
            (Body::Unread, Base::Nothing) => 0,
        }
    }

    /// Writes bytes at an offset; a gap is filled with zeros.
    pub(crate) async fn write(&mut self, to: &Target, offset: u64, bytes: Bytes) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).ok_or_else(too_large)?;
        self.begin(to).await?;
        self.dirty = true;
        if let Body::Memory { bytes: all, reservation } = &mut self.body {
            let length = end.max(all.len() as u64);
            if reservation.resize(length) {
                all.resize(length as usize, 0);
                all[offset as usize..end as usize].copy_from_slice(&bytes);
                return Ok(());
            }
        }
        self.move_to_stage(to).await?;
        self.on_stage(to, Work::Write(offset, bytes)).await.map(drop)
    }

    /// Truncates it, or extends it with zeros.
    pub(crate) async fn truncate(&mut self, to: &Target, size: u64) -> Result<()> {
        if size == 0 {
            self.abandon().await;
            let body = Body::Memory {
                bytes: BytesMut::new(),
                reservation: Reservation::none(&self.memory),
            };
            (self.body, self.base, self.dirty) = (body, Base::Nothing, true);
            return Ok(());
        }
        if self.size() == size {
            return Ok(());
        }
        self.begin(to).await?;
        self.dirty = true;
        if let Body::Memory { bytes, reservation } = &mut self.body
            && reservation.resize(size)
        {
            bytes.resize(size as usize, 0);
            return Ok(());
        }
        self.move_to_stage(to).await?;
        self.on_stage(to, Work::Truncate(size)).await.map(drop)
    }

    /// The bytes of a range, as far as it reaches.
    pub(crate) async fn read(&mut self, to: &Target, range: Range<u64>) -> Result<Bytes> {
        let range = range.start..range.end.min(self.size());
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        self.begin(to).await?;
        match &mut self.body {
            Body::Memory { bytes, .. } => {
                Ok(Bytes::copy_from_slice(&bytes[range.start as usize..range.end as usize]))
            }
            Body::Stage(_) => self.on_stage(to, Work::Read(range)).await,
            Body::Unread => Err(not_begun()),
        }
    }

    /// Makes one version of it.
    pub(crate) async fn publish(&mut self, to: &Target, with: With) -> Result<Resource> {
        let published = self.try_publish(to, with).await;
        published.map_err(|fault| match fault.errno {
            libc::ESTALE if to.is_exclusive() => Fault::new(libc::EEXIST, fault.message),
            _ => fault,
        })
    }

    async fn try_publish(&mut self, to: &Target, with: With) -> Result<Resource> {
        let source = self.source.clone();
        if let Body::Stage(_) = self.body {
            self.on_stage(to, Work::Settle).await?;
        }
        let base = self.if_match();
        let resource = match &mut self.body {
            Body::Stage(stage) => {
                self.tried.push(stage.size());
                let attempts = stage.attempts();
                let made = publication::publish_stage(&source, attempts, to, &self.lost).await?;
                let attributes =
                    Attributes { mode: with.mode, mtime: with.mtime, ..Attributes::default() };
                let at = At::Id(made.id);
                let set = || source.within(source.client.set_attributes(&at, &attributes));
                source.insist(set).await?
            }
            Body::Memory { bytes, .. } => {
                let options = PutOptions {
                    if_match: base,
                    create_only: to.is_exclusive(),
                    mode: with.mode,
                    mtime: with.mtime,
                    ..PutOptions::default()
                };
                let bytes = bytes.clone().freeze();
                publication::put(&source, to, (&bytes, &options), &self.lost).await?
            }
            Body::Unread => return Err(Fault::new(libc::EINVAL, "nothing was written")),
        };
        self.base = Base::Content { etag: resource.etag.clone(), size: self.size() };
        (self.dirty, self.lost, self.tried) = (false, Lost::default(), Vec::new());
        if let Body::Stage(_) = self.body {
            self.body = Body::Unread;
        }
        Ok(resource)
    }

    /// Reads its initial content, or creates a stage, so that it no longer depends on the object.
    pub(crate) async fn begin(&mut self, to: &Target) -> Result<()> {
        let Body::Unread = self.body else { return Ok(()) };
        let mut reservation = Reservation::none(&self.memory);
        let size = self.size();
        if !reservation.resize(size) {
            return self.begin_stage(to, StageFrom::Object).await;
        }
        let bytes = if size == 0 { BytesMut::new() } else { self.read_base(to).await? };
        self.body = Body::Memory { bytes, reservation };
        Ok(())
    }

    /// The same before the object loses its name: `name` is that name, since a stage of an object does not outlive the object.
    pub(crate) async fn detach(&mut self, object: &Target, name: &Target) -> Result<()> {
        let is_small = Reservation::none(&self.memory).resize(self.size());
        match self.body {
            Body::Unread if !is_small => self.begin_stage(name, StageFrom::Object).await,
            _ => self.begin(object).await,
        }
    }

    async fn read_base(&self, to: &Target) -> Result<BytesMut> {
        let Target::Object(id) = to else {
            return Err(Fault::warning(libc::EIO, "a new file has no content to read"));
        };
        let options = ReadOptions { if_match: self.if_match(), ..ReadOptions::default() };
        let read = async || {
            let content = self.source.within(self.source.client.read(*id, &options)).await?;
            let mut bytes = BytesMut::with_capacity(self.size() as usize);
            let mut stream = content.into_stream();
            while let Some(more) = self.source.next(&mut stream).await? {
                bytes.extend_from_slice(&more);
            }
            Ok(bytes)
        };
        self.source.insist(read).await
    }

    /// Moves the data in memory to a stage, if there is none yet.
    async fn move_to_stage(&mut self, to: &Target) -> Result<()> {
        let Body::Memory { bytes, .. } = &mut self.body else { return Ok(()) };
        let bytes = std::mem::take(bytes).freeze();
        let kept = bytes.clone();
        if let Err(fault) = self.begin_stage(to, StageFrom::Nothing).await {
            if let Body::Memory { bytes, .. } = &mut self.body {
                bytes.extend_from_slice(&kept);
            }
            return Err(fault);
        }
        match &mut self.body {
            Body::Stage(stage) => stage.write(0, bytes).await,
            _ => Err(not_begun()),
        }
    }

    /// Does something with the stage. If that is gone after the answer to its publication was lost, it was published, and what was written since is written
    /// to what it was published as.
    async fn on_stage(&mut self, to: &Target, work: Work) -> Result<Bytes> {
        let Body::Stage(stage) = &mut self.body else { return Err(not_begun()) };
        match stage.perform(work.clone()).await {
            Err(fault) if fault.errno == libc::ENOENT && self.lost.is_noted() => {
                let made = publication::present(&self.source, to).await?;
                let new = next_stage(&made, &self.tried)?;
                stage.begin_again(&new).await?;
                let size = made.size.unwrap_or_default();
                self.base = Base::Content { etag: made.etag, size };
                (self.lost, self.tried) = (Lost::default(), Vec::new());
                stage.perform(work).await
            }
            outcome => outcome,
        }
    }

    async fn begin_stage(&mut self, to: &Target, from: StageFrom) -> Result<()> {
        let new = NewStage {
            at: to.address(),
            from,
            media_type: None,
            mode: None,
            if_match: self.if_match(),
            if_none_match: to.is_exclusive().then(|| "*".to_owned()),
        };
        self.body = Body::Stage(Box::new(Stage::begin(&self.source, &new).await?));
        Ok(())
    }

    fn if_match(&self) -> Option<String> {
        match &self.base {
            Base::Nothing => None,
            Base::Content { etag, .. } => etag.clone(),
        }
    }

    /// Cancels the stage on the server.
    pub(crate) async fn abandon(&mut self) {
        if let Body::Stage(stage) = &self.body {
            stage.abandon().await;
        }
    }
}

/// The stage that goes on from what this one was published as, if the object still looks like that.
fn next_stage(made: &Resource, tried: &[u64]) -> Result<NewStage> {
    if !made.size.is_some_and(|size| tried.contains(&size)) {
        return Err(Fault::new(libc::ESTALE, "the published file was replaced"));
    }
    Ok(NewStage {
        at: Address::At(At::Id(made.id)),
        from: StageFrom::Object,
        media_type: None,
        mode: None,
        if_match: made.etag.clone(),
        if_none_match: None,
    })
}

fn not_begun() -> Fault {
    Fault::warning(libc::EIO, "a draft was not begun")
}

fn too_large() -> Fault {
    Fault::new(libc::EFBIG, "the file would be too large")
}
