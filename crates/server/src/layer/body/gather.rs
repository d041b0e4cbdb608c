//! Request bodies read into memory: each within a limit, and all together within the memory set aside for them.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;

use crate::layer::Admission;
use crate::problem::Problem;

/// Why a body was not read.
#[derive(Debug)]
pub(crate) enum NotGathered {
    /// It is larger than this many bytes.
    TooLarge(usize),
    /// It ended early.
    Early(axum::Error),
    /// There is no memory for it, or no slot for the request.
    Refused(Problem),
}

/// Memory for a body is reserved in steps of this many bytes: the length that a client declares is not trusted.
const STEP: usize = 16 << 10;

/// A body being read.
#[derive(Debug)]
pub(crate) struct Gathering<'a> {
    admission: &'a Admission,
    bytes: BytesMut,
    most: usize,
    kept: usize,
}

impl<'a> Gathering<'a> {
    pub(crate) fn new(admission: &'a Admission, most: usize) -> Self {
        Self { admission, bytes: BytesMut::new(), most, kept: 0 }
    }

    /// Appends the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), NotGathered> {
        let length = self.bytes.len() + bytes.len();
        if length > self.most {
            return Err(NotGathered::TooLarge(self.most));
        }
        if length > self.kept {
            let more = (length - self.kept).next_multiple_of(STEP);
            self.admission.keep(more).map_err(NotGathered::Refused)?;
            self.kept += more;
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    pub(crate) fn finish(self) -> Bytes {
        self.bytes.freeze()
    }
}

/// Reads a whole body of at most `most` bytes. The request holds no slot while the client sends.
pub(crate) async fn gather(
    admission: &Admission,
    body: Body,
    most: usize,
) -> Result<Bytes, NotGathered> {
    let all = admission.aside(gather_here(admission, body, most)).await;
    all.map_err(NotGathered::Refused)?
}

async fn gather_here(
    admission: &Admission,
    mut body: Body,
    most: usize,
) -> Result<Bytes, NotGathered> {
    let mut gathering = Gathering::new(admission, most);
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame.map_err(NotGathered::Early)?.into_data() {
            gathering.push(&bytes)?;
        }
    }
    Ok(gathering.finish())
}
