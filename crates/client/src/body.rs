//! The bytes of requests and responses.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};

use crate::transport::TransportError;
use crate::transport::direct::Direct;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body from any source. Its error is a type of its own, not [`BoxError`]: the compiler cannot prove that futures
/// are `Send` if they hold a body whose error is a trait object.
#[derive(Debug)]
pub struct Body(Source);

#[derive(Debug)]
enum Source {
    /// Any body, and the rest of its last frame.
    Frames(UnsyncBoxBody<Bytes, TransportError>, Bytes),
    /// What is still on a connection, whose state is large.
    Direct(Box<Direct>),
}

impl Body {
    /// A body of frames.
    pub fn new(
        frames: impl http_body::Body<Data = Bytes, Error = TransportError> + Send + 'static,
    ) -> Self {
        Self(Source::Frames(frames.boxed_unsync(), Bytes::new()))
    }

    pub(crate) fn direct(direct: Direct) -> Self {
        Self(Source::Direct(Box::new(direct)))
    }

    /// Appends what arrives next to `room`, within its capacity. Returns the number of bytes, which is 0 at the end.
    pub(crate) async fn fill(&mut self, room: &mut BytesMut) -> Result<usize, TransportError> {
        match &mut self.0 {
            Source::Direct(direct) => direct.fill(room).await,
            Source::Frames(frames, rest) => {
                while rest.is_empty() {
                    let Some(frame) = frames.frame().await else { return Ok(0) };
                    *rest = frame?.into_data().unwrap_or_default();
                }
                let now = rest.split_to(rest.len().min(room.capacity() - room.len()));
                room.put_slice(&now);
                Ok(now.len())
            }
        }
    }
}

impl Default for Body {
    /// No bytes.
    fn default() -> Self {
        body_of(Bytes::new())
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        match &mut self.0 {
            Source::Direct(direct) => direct.poll_chunk(cx).map_ok(Frame::data),
            Source::Frames(_, rest) if !rest.is_empty() => {
                Poll::Ready(Some(Ok(Frame::data(std::mem::take(rest)))))
            }
            Source::Frames(frames, _) => Pin::new(frames).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Direct(direct) => direct.left() == 0,
            Source::Frames(frames, rest) => rest.is_empty() && frames.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Direct(direct) => SizeHint::with_exact(direct.left()),
            Source::Frames(frames, rest) if rest.is_empty() => frames.size_hint(),
            Source::Frames(..) => SizeHint::default(),
        }
    }
}

/// A body that is already in memory, with a known length.
pub fn body_of(bytes: Bytes) -> Body {
    Body::new(Full::new(bytes).map_err(|never| match never {}))
}

/// A body read from a stream.
pub(crate) fn stream<S>(stream: S) -> Body
where
    S: futures_util::Stream<Item = std::io::Result<Bytes>> + Send + 'static,
{
    use futures_util::TryStreamExt;
    let frames = stream.map_ok(Frame::data).map_err(|error| TransportError(error.into()));
    Body::new(StreamBody::new(frames))
}
