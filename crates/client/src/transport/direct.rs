//! Large responses, whose bytes are read from the connection into the reader's own memory.
//!
//! `hyper` sends the request and reads the head of the response; then the connection is taken from it, with what it has read of the body. Thus the bytes are
//! not received into a buffer of the connection, and copied from there. Invariant: a connection is kept for the next request only if the body was read to
//! its end.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures_util::FutureExt;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST};
use http::request::Parts as Head;
use http::uri::Authority;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Parts};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tower::ServiceExt;

use super::TransportError;
use crate::body::Body;

/// How many connections are kept, and how long.
const KEPT: usize = 16;
const IDLE: Duration = Duration::from_secs(20);
/// The memory in which frames are received, and the least that is left of it for one.
const CHUNK: usize = 256 << 10;
const SMALLEST: usize = 32 << 10;

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Marks a request whose response is expected to be large.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Large;

/// Connections of HTTP/1.1 for large responses.
#[derive(Debug, Clone)]
pub(super) struct DirectConnections {
    connector: HttpsConnector<HttpConnector>,
    host: HeaderValue,
    idle: Arc<Idle>,
}

#[derive(Debug, Default)]
struct Idle(Mutex<VecDeque<(Instant, Stream)>>);

impl Idle {
    /// The connection that was used last, if that was not long ago.
    fn take(&self) -> Option<Stream> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain_mut(|(since, stream)| since.elapsed() < IDLE && is_silent(stream));
        all.pop_back().map(|(_, stream)| stream)
    }

    fn keep(&self, stream: Stream) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() == KEPT {
            all.pop_front();
        }
        all.push_back((Instant::now(), stream));
    }
}

/// Whether nothing came over a connection without a request: its end, or what would be taken for the next response.
fn is_silent(stream: &mut Stream) -> bool {
    TokioIo::new(stream).read(&mut [0]).now_or_never().is_none()
}

impl DirectConnections {
    pub(super) fn new(connector: HttpsConnector<HttpConnector>, server: &Authority) -> Self {
        // An authority consists of characters that a header can have.
        let host = HeaderValue::from_str(server.as_str()).unwrap_or(HeaderValue::from_static(""));
        Self { connector, host, idle: Arc::default() }
    }

    /// Sends a request without a body to a server. It may be sent twice: the server may have closed a connection that was kept.
    pub(super) async fn send(
        &self,
        server: &Uri,
        head: &Head,
    ) -> Result<Response<Body>, TransportError> {
        if let Some(kept) = self.idle.take()
            && let Ok(answer) = self.exchange(kept, self.request(head)).await
        {
            return Ok(answer);
        }
        let connected = self.connector.clone().oneshot(server.clone()).await;
        let stream = connected.map_err(|error| TransportError(Unconnected(error).into()))?;
        self.exchange(stream, self.request(head)).await
    }

    /// The request as it is sent over a connection.
    fn request(&self, head: &Head) -> Request<Body> {
        let mut request = Request::from_parts(head.clone(), Body::default());
        request.headers_mut().insert(HOST, self.host.clone());
        request
    }

    async fn exchange(
        &self,
        stream: Stream,
        request: Request<Body>,
    ) -> Result<Response<Body>, TransportError> {
        let (mut sender, mut connection) = http1::handshake(stream).await?;
        let mut answer = pin!(sender.send_request(request));
        let answer = poll_fn(|cx| {
            if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            let ended = connection.poll_without_shutdown(cx);
            match (answer.as_mut().poll(cx), ended) {
                (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
                (answer, _) => answer,
            }
        });
        let answer = answer.await?;
        let Some(length) = length(&answer) else {
            tokio::spawn(connection.map(drop));
            return Ok(answer.map(|body| Body::new(body.map_err(TransportError::from))));
        };
        let idle = may_be_kept(&answer).then(|| Arc::clone(&self.idle));
        let (head, body) = answer.into_parts();
        let direct = Direct::new(connection.into_parts(), body, length, idle)?;
        Ok(Response::from_parts(head, Body::direct(direct)))
    }
}

/// The length of a body that can be read directly.
fn length<B>(answer: &Response<B>) -> Option<u64> {
    let length = answer.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    length.filter(|_| answer.status().is_success())
}

fn may_be_kept<B>(answer: &Response<B>) -> bool {
    let stated = answer.headers().get_all(CONNECTION);
    let closes = |value: &HeaderValue| {
        let mut options = value.as_bytes().split(|byte| *byte == b',');
        options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"))
    };
    answer.version() == http::Version::HTTP_11 && !stated.iter().any(closes)
}

/// The rest of a body that is still on its connection.
#[derive(Debug)]
pub(crate) struct Direct {
    /// What was received with the head.
    early: VecDeque<Bytes>,
    stream: Option<TokioIo<Stream>>,
    /// How many bytes have not been received.
    missing: u64,
    /// Where the connection is kept afterwards.
    idle: Option<Arc<Idle>>,
    /// Where frames are received.
    chunk: BytesMut,
}

impl Direct {
    fn new(
        parts: Parts<Stream>,
        mut body: Incoming,
        length: u64,
        idle: Option<Arc<Idle>>,
    ) -> Result<Self, TransportError> {
        let mut early = VecDeque::new();
        while let Some(Some(Ok(frame))) = body.frame().now_or_never() {
            early.extend(frame.into_data());
        }
        early.push_back(parts.read_buf);
        let received = early.iter().map(|bytes| bytes.len() as u64).sum();
        let missing = length.checked_sub(received).ok_or_else(|| {
            TransportError(io::Error::other("more was received than was announced").into())
        })?;
        let stream = Some(TokioIo::new(parts.io));
        let mut direct = Self { early, stream, missing, idle, chunk: BytesMut::new() };
        direct.end();
        Ok(direct)
    }

    /// The number of bytes that were not read.
    pub(crate) fn left(&self) -> u64 {
        self.missing + self.early.iter().map(|bytes| bytes.len() as u64).sum::<u64>()
    }

    /// Keeps the connection if nothing is missing.
    fn end(&mut self) {
        if self.missing == 0
            && let Some(stream) = self.stream.take()
            && let Some(idle) = self.idle.take()
        {
            idle.keep(stream.into_inner());
        }
    }

    /// Appends what arrives next to `room`, within its capacity.
    pub(crate) async fn fill(&mut self, room: &mut BytesMut) -> Result<usize, TransportError> {
        poll_fn(|cx| self.poll_fill(cx, room)).await
    }

    fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        room: &mut BytesMut,
    ) -> Poll<Result<usize, TransportError>> {
        let free = room.capacity() - room.len();
        if let Some(early) = self.next_early(free) {
            room.put_slice(&early);
            return Poll::Ready(Ok(early.len()));
        }
        let Some(stream) = &mut self.stream else { return Poll::Ready(Ok(0)) };
        let most = usize::try_from(self.missing).unwrap_or(free).min(free);
        let mut room = room.limit(most);
        let received = ready!(pin!(stream.read_buf(&mut room)).poll(cx));
        match received.map_err(|error| TransportError(error.into()))? {
            0 => Poll::Ready(Err(TransportError(
                io::Error::from(io::ErrorKind::UnexpectedEof).into(),
            ))),
            received => {
                self.missing -= received as u64;
                self.end();
                Poll::Ready(Ok(received))
            }
        }
    }

    /// What was received with the head, at most so many bytes.
    fn next_early(&mut self, most: usize) -> Option<Bytes> {
        self.early.retain(|bytes| !bytes.is_empty());
        let first = self.early.front_mut()?;
        Some(first.split_to(first.len().min(most)))
    }

    /// The next bytes, as a frame.
    pub(crate) fn poll_chunk(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, TransportError>>> {
        if let Some(early) = self.next_early(usize::MAX) {
            return Poll::Ready(Some(Ok(early)));
        }
        if self.missing == 0 {
            return Poll::Ready(None);
        }
        let mut chunk = std::mem::take(&mut self.chunk);
        if chunk.capacity() - chunk.len() < SMALLEST {
            chunk = BytesMut::with_capacity(self.missing.min(CHUNK as u64) as usize);
        }
        let filled = self.poll_fill(cx, &mut chunk);
        let frame = chunk.split().freeze();
        self.chunk = chunk;
        filled.map_ok(|_| frame).map(Some)
    }
}

/// There was no connection over which a request could be sent.
#[derive(Debug, thiserror::Error)]
#[error("no connection to the server")]
pub(super) struct Unconnected(#[source] crate::BoxError);
