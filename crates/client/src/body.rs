//! The bytes of requests and responses.

use bytes::Bytes;
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};

use crate::transport::TransportError;

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A body from any source. Its error is a type of its own, not [`BoxError`]: the compiler cannot prove that futures
/// are `Send` if they hold a body whose error is a trait object.
pub type Body = UnsyncBoxBody<Bytes, TransportError>;

/// A body that is already in memory, with a known length.
pub fn body_of(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// A body read from a stream.
pub(crate) fn stream<S>(stream: S) -> Body
where
    S: futures_util::Stream<Item = std::io::Result<Bytes>> + Send + 'static,
{
    use futures_util::TryStreamExt;
    StreamBody::new(stream.map_ok(Frame::data).map_err(|error| TransportError(error.into())))
        .boxed_unsync()
}
