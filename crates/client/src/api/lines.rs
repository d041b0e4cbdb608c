//! Responses with one JSON value per line (`application/x-ndjson`), read as they arrive.

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::Response;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;
use memchr::memchr;
use serde::de::DeserializeOwned;

use crate::body::Body;
use crate::{Error, Result, TransportError};

/// Longer than any line that the server sends.
const LONGEST_LINE: usize = 16 << 20;

const MEDIA_TYPE: &str = "application/x-ndjson";

/// The lines of a response. One of another type is none of a cenote server.
pub(crate) fn lines<T: DeserializeOwned>(
    answer: Response<Body>,
) -> Result<impl Stream<Item = Result<T>>> {
    match answer.headers().get(CONTENT_TYPE) {
        Some(media_type) if media_type == MEDIA_TYPE => Ok(lines_of(answer.into_body())),
        _ => Err(Error::protocol("it has no lines of JSON")),
    }
}

/// The lines of a body. An unterminated last line means that the response was truncated.
fn lines_of<T: DeserializeOwned>(body: Body) -> impl Stream<Item = Result<T>> {
    let state = Lines { body, rest: BytesMut::new(), data: Bytes::new() };
    stream::try_unfold(state, |mut lines| async move {
        match lines.next().await? {
            Some(line) => {
                let value = serde_json::from_slice(&line).map_err(Error::protocol)?;
                Ok(Some((value, lines)))
            }
            None => Ok(None),
        }
    })
}

struct Lines {
    body: Body,
    /// The beginning of a line whose end has not arrived.
    rest: BytesMut,
    /// What arrived last, as far as it has not been read.
    data: Bytes,
}

impl Lines {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        loop {
            match self.arrived()? {
                Some(line) if line.trim_ascii().is_empty() => continue,
                Some(line) => return Ok(Some(line)),
                None => {}
            }
            match self.body.frame().await {
                Some(frame) => self.data = frame?.into_data().unwrap_or_default(),
                None if self.rest.is_empty() => return Ok(None),
                None => return Err(cut_off()),
            }
        }
    }

    /// The next line, if all of it is there. It is copied only if it arrived in several pieces.
    fn arrived(&mut self) -> Result<Option<Bytes>> {
        let end = memchr(b'\n', &self.data);
        let piece = self.data.split_to(end.map_or(self.data.len(), |end| end + 1));
        if end.is_some() && self.rest.is_empty() {
            return Ok(Some(piece));
        }
        self.rest.extend_from_slice(&piece);
        match self.rest.len() > LONGEST_LINE {
            true => Err(Error::protocol("a line is too long")),
            false => Ok(end.map(|_| self.rest.split().freeze())),
        }
    }
}

fn cut_off() -> Error {
    TransportError("the answer ends in the middle of a line".into()).into()
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt;

    use super::*;
    use crate::body;

    async fn read(pieces: &[&'static [u8]]) -> Result<Vec<u32>> {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from_static(piece))).collect();
        lines_of::<u32>(body::stream(stream::iter(pieces))).try_collect().await
    }

    #[tokio::test]
    async fn lines_may_be_split_across_chunks_anywhere() {
        assert_eq!(read(&[b"1\n2", b"3\n", b"\n4", b"", b"\n"]).await.unwrap(), [1, 23, 4]);
        assert_eq!(read(&[]).await.unwrap(), [0; 0]);
    }

    #[tokio::test]
    async fn a_truncated_response_is_an_error() {
        assert_eq!(read(&[b"1\n2"]).await.unwrap_err().kind(), crate::Kind::Unreachable);
        assert_eq!(read(&[b"x\n"]).await.unwrap_err().kind(), crate::Kind::Protocol);
    }
}
