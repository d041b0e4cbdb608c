//! Accepting: each new connection gets a free slot, or that of another connection which is closed for it, or
//! a short refusal.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::Protocol;
use super::connections::{Connections, Place, Refused};
use crate::app::App;

/// Maximum number of connections that are being closed: beyond that, new ones wait to be accepted.
const ENDING: usize = 16;

/// How long accepting pauses after an error of `accept`.
const PAUSE: Duration = Duration::from_millis(20);

/// All connections of a server.
pub(super) struct Crowd {
    app: App,
    connections: Connections,
    /// One permit for each connection that has a task.
    tasks: Arc<Semaphore>,
    most: u32,
}

impl Crowd {
    pub(super) fn new(app: App) -> Self {
        let connections = Connections::new(app.limits());
        let most = app.limits().connections.clamp(1, 1 << 30) + ENDING;
        Self { app, connections, tasks: Arc::new(Semaphore::new(most)), most: most as u32 }
    }

    /// Accepts and serves, until it is dropped.
    pub(super) async fn serve(&self, listener: &TcpListener, protocol: &Protocol) {
        loop {
            let (stream, peer, task) = self.accept(listener).await;
            match self.connections.admit(peer.ip()) {
                Ok(place) => self.spawn(protocol, (stream, peer), place, task),
                Err(refused) => self.refuse(&stream, refused),
            }
        }
    }

    /// Resolves when all connections have ended.
    pub(super) async fn ended(&self) {
        let _all = self.tasks.acquire_many(self.most).await;
    }

    async fn accept(
        &self,
        listener: &TcpListener,
    ) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
        let task = Arc::clone(&self.tasks).acquire_owned().await.expect("it is never closed");
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => return (stream, peer, task),
                Err(error) => self.not_accepted(&error).await,
            }
        }
    }

    async fn not_accepted(&self, error: &io::Error) {
        if let Some(Errno::MFILE | Errno::NFILE) = Errno::from_io_error(error) {
            self.connections.make_room();
        }
        tracing::warn!(target: "cenote", %error, "could not accept a connection");
        tokio::time::sleep(PAUSE).await;
    }

    fn spawn(
        &self,
        protocol: &Protocol,
        (stream, peer): (TcpStream, SocketAddr),
        place: Place,
        task: OwnedSemaphorePermit,
    ) {
        let (app, protocol) = (self.app.clone(), protocol.clone());
        tokio::spawn(async move {
            let _counted = app.metrics().connection();
            if let Some(closed) = protocol.serve(stream, peer.ip(), place.connection()).await {
                app.metrics().closed(closed.reason());
                tracing::debug!(%peer, ?closed, "closed a connection");
            }
            drop((place, task));
        });
    }

    /// Sends a refusal where that does not block; over TLS the connection is just closed.
    fn refuse(&self, stream: &TcpStream, refused: Refused) {
        let (reason, answer) = match refused {
            Refused::Address => ("address", TOO_MANY),
            Refused::Full => ("full", OVERLOADED),
        };
        self.app.metrics().refused(reason);
        let _ = stream.try_write(answer.as_bytes());
    }
}

const TOO_MANY: &str = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
const OVERLOADED: &str = "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
