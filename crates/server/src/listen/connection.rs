//! One connection: TLS if it is wanted, then HTTP/1.1 or HTTP/2, whichever the client speaks.

use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::Watcher;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::drain::{Drain, Rest};
use super::stall::StallGuard;
use crate::config::Limits;
use crate::layer::Peer;

/// What all connections share.
#[derive(Clone)]
pub(super) struct Protocol {
    router: Router,
    tls: Option<TlsAcceptor>,
    http: Builder<TokioExecutor>,
    header: Duration,
    idle: Duration,
    drain: Drain,
}

/// Bytes in flight on one HTTP/2 connection: enough for a fast network, little enough
/// for many connections.
const WINDOW: u32 = 1 << 20;

/// Bytes read from an HTTP/1.1 connection, or gathered for it, at a time. A part of a content keeps the buffers
/// in which it came: small ones come back to the allocator in other threads without a loss.
const BUFFER: usize = 64 << 10;

impl Protocol {
    /// Draining what was refused ends when `stopping` is cancelled.
    pub(super) fn new(
        router: Router,
        tls: Option<TlsAcceptor>,
        limits: &Limits,
        stopping: &CancellationToken,
    ) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header())
            .max_buf_size(BUFFER);
        http.http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.idle())
            .keep_alive_timeout(limits.header())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_header_list_size(64 << 10);
        let drain = Drain { most: limits.refused_bytes, stopping: stopping.clone() };
        Self { router, tls, http, header: limits.header(), idle: limits.idle(), drain }
    }

    /// Serves a connection to its end. What goes wrong on it is the client's to see.
    pub(super) async fn serve(self, stream: TcpStream, peer: IpAddr, watcher: Watcher) {
        // Small answers should not wait for more bytes to fill a packet.
        let _ = stream.set_nodelay(true);
        let stream = StallGuard::new(stream, self.idle);
        let Some(tls) = &self.tls else { return self.speak(stream, peer, watcher).await };
        match tokio::time::timeout(self.header, tls.accept(stream)).await {
            Ok(Ok(stream)) => self.speak(stream, peer, watcher).await,
            Ok(Err(error)) => tracing::debug!(%error, "TLS handshake failed"),
            Err(_) => tracing::debug!("TLS handshake took too long"),
        }
    }

    async fn speak<S>(&self, stream: S, peer: IpAddr, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            let (router, drain) = (self.router.clone(), self.drain.clone());
            async move { Ok::<_, Infallible>(answer(router, drain, request).await) }
        });
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection.into_owned()).await {
            tracing::debug!(error, "connection ended");
        }
    }
}

async fn answer(router: Router, drain: Drain, request: Request<Incoming>) -> Response<Body> {
    if request.version() >= Version::HTTP_2 {
        let Ok(response) = router.oneshot(request.map(Body::new)).await;
        return response;
    }
    let rest = Rest::default();
    let Ok(response) = router.oneshot(rest.lend(request)).await;
    rest.answer(response, &drain)
}
