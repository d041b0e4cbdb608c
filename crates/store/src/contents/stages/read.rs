//! Reading a stage.

use std::ops::Range;

use super::stage;
use crate::access::Operation;
use crate::contents::UploadId;
use crate::contents::layout::{ContentStream, Layout};
use crate::contents::uploads::upload::mine_at;
use crate::model::ContentHead;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// What a stage holds.
#[derive(Debug, Clone)]
pub struct Staged {
    head: ContentHead,
    layout: Layout,
}

impl Staged {
    /// How many bytes there are.
    pub fn size(&self) -> u64 {
        self.head.size
    }

    /// Differs after each change of them.
    pub fn tag(&self) -> String {
        format!("s{}", self.head.stamp)
    }

    /// The bytes of `range`, which must be within them.
    pub fn bytes(self, range: Range<u64>) -> Result<ContentStream> {
        if range.start > range.end || range.end > self.size() {
            let message = format!("bytes {}..{} of {}", range.start, range.end, self.size());
            return Err(Error::new(ErrorKind::Range, message));
        }
        Ok(self.layout.bytes(range))
    }
}

impl Store {
    /// Opens a stage for reading. Needs `Rights::READ_CONTENT` on the object, if there is one.
    ///
    /// # Errors
    /// [`ErrorKind::WrongKind`] for an upload in parts.
    pub fn open_stage(&self, caller: &Caller, upload: UploadId) -> Result<Staged> {
        loop {
            let view = self.view()?;
            let (record, there) = mine_at(&view, caller, upload)?;
            if let Some(chain) = &there {
                chain.require(caller, Operation::Read, &record.at()?)?;
            }
            let head = stage(&record)?.clone();
            // If the content was swept between lookup and pin, the next lookup finds another one.
            if let Some(layout) = self.lay_out(&view, &head)? {
                return Ok(Staged { head, layout });
            }
        }
    }
}
