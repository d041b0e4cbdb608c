//! One connection: TLS if configured, then HTTP/1.1 or HTTP/2, whichever the client uses.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, Version};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::answer::{Answer, Pace};
use super::drain::{Drain, Rest};
use super::stall::StallGuard;
use super::state::{Closed, Connection, Times, UnderWay};
use crate::config::Limits;
use crate::layer::{Peer, Secure};

/// What all connections share.
#[derive(Clone)]
pub(super) struct Protocol {
    router: Router,
    tls: Option<TlsAcceptor>,
    http: Builder<TokioExecutor>,
    times: Times,
    pace: Pace,
    drain: Drain,
    stopping: CancellationToken,
}

/// Bytes in flight on one HTTP/2 connection: enough for a fast network, little enough
/// for many connections.
const WINDOW: u32 = 1 << 20;

/// Concurrent requests on one HTTP/2 connection.
const STREAMS: u32 = 128;

/// Bytes of a response buffered for sending on one HTTP/2 stream.
const SEND_BUFFER: usize = 128 << 10;

/// Bytes read from an HTTP/1.1 connection, or buffered for it, at a time. A part of a content keeps the
/// buffers in which it arrived: small ones are returned to the allocator by other threads without a loss.
const BUFFER: usize = 64 << 10;

impl Protocol {
    /// When `stopping` is cancelled, connections end after the requests in progress, and draining of refused
    /// bodies ends at once.
    pub(super) fn new(
        router: Router,
        tls: Option<TlsAcceptor>,
        limits: &Limits,
        stopping: &CancellationToken,
    ) -> Self {
        let times = Times { header: limits.header(), idle: limits.idle() };
        let pace = Pace { idle: limits.idle(), rate: limits.body_rate };
        let (most, idle) = (limits.refused_bytes, limits.idle());
        let drain = Drain { most, idle, stopping: stopping.clone() };
        Self { router, tls, http: http(times), times, pace, drain, stopping: stopping.clone() }
    }

    /// Serves a connection until it ends, and returns the reason if the server closed it. Other failures are
    /// visible to the client only.
    pub(super) async fn serve(
        self,
        stream: TcpStream,
        peer: IpAddr,
        connection: &Arc<Connection>,
    ) -> Option<Closed> {
        // Small responses should not wait for more bytes to fill a packet.
        let _ = stream.set_nodelay(true);
        let stream = StallGuard::new(stream, self.times.idle, Arc::clone(connection));
        let ended = tokio::select! {
            ended = self.secure(stream, peer, connection) => ended,
            () = connection.evicted() => Some(Closed::Room),
        };
        ended.or_else(|| connection.was_given_up().then_some(Closed::Unread))
    }

    async fn secure(
        &self,
        stream: StallGuard<TcpStream>,
        peer: IpAddr,
        connection: &Arc<Connection>,
    ) -> Option<Closed> {
        let Some(tls) = &self.tls else { return self.speak(stream, peer, connection).await };
        match timeout(self.times.header, tls.accept(stream)).await {
            Ok(Ok(stream)) => {
                connection.secured();
                return self.speak(stream, peer, connection).await;
            }
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => return Some(Closed::Handshake),
        }
        None
    }

    async fn speak<S>(
        &self,
        stream: S,
        peer: IpAddr,
        connection: &Arc<Connection>,
    ) -> Option<Closed>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(|mut request: Request<Incoming>| {
            let under_way = connection.begin(request.version() >= Version::HTTP_2);
            request.extensions_mut().insert(Peer(peer));
            if self.tls.is_some() {
                request.extensions_mut().insert(Secure);
            }
            request.extensions_mut().insert(under_way.handle());
            let shared = (self.router.clone(), self.drain.clone(), self.pace);
            async move { Ok::<_, Infallible>(answer(shared, request, under_way).await) }
        });
        let mut http = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let mut stopping = pin!(self.stopping.cancelled());
        let mut ends = false;
        loop {
            tokio::select! {
                ended = http.as_mut() => {
                    ended.unwrap_or_else(|error| tracing::debug!(error, "connection ended"));
                    return None;
                }
                () = stopping.as_mut(), if !ends => {
                    ends = true;
                    http.as_mut().graceful_shutdown();
                }
                closed = connection.overdue(self.times) => {
                    if closed == Closed::Idle {
                        // HTTP/2 and TLS notify the peer; bytes of the last response may still be in transit.
                        http.as_mut().graceful_shutdown();
                        let _ = timeout(self.times.idle, http).await;
                    }
                    return Some(closed);
                }
            }
        }
    }
}

/// HTTP without header timeouts: [`Connection::overdue`] implements them, starting before the first byte.
fn http(times: Times) -> Builder<TokioExecutor> {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(times.idle)
        .keep_alive_timeout(times.header)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_concurrent_streams(STREAMS)
        .max_send_buf_size(SEND_BUFFER)
        .max_header_list_size(64 << 10);
    http
}

async fn answer(
    (router, drain, pace): (Router, Drain, Pace),
    request: Request<Incoming>,
    under_way: UnderWay,
) -> Response<Body> {
    if request.version() < Version::HTTP_2 {
        let rest = Rest::default();
        let Ok(mut response) = router.oneshot(rest.lend(request)).await;
        let rest = rest.take(&mut response).map(|rest| (rest, drain));
        return response
            .map(|inner| Body::new(Answer { inner, under_way, rest, pace: None, left: None }));
    }
    let Ok(response) = router.oneshot(request.map(Body::new)).await;
    if !response.body().is_end_stream() {
        // If the peer has no room for the first byte, the body is never polled.
        under_way.handed(Some(Instant::now() + pace.idle));
    }
    let (rest, pace) = (None, Some(pace));
    response.map(|inner| Body::new(Answer { inner, under_way, rest, pace, left: None }))
}
