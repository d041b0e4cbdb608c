//! The listening server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use cenote_store::{Pace, Store};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::connection::Protocol;
use super::crowd::Crowd;
use super::{descriptors, tls};
use crate::app::App;
use crate::config::Config;
use crate::irods;
use crate::ldp::{self, Publication};
use crate::router::app_router;

/// Why a server failed to start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be bound.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    /// The certificate or the key cannot be used.
    #[error("cannot use the certificate or key: {0}")]
    Tls(String),
    /// A webhook or a broker of the settings cannot be used.
    #[error("{0}")]
    Receiver(String),
}

/// A server for a store.
pub struct Server {
    app: App,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    pace: Pace,
    publications: Vec<Arc<Publication>>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Server {
    /// Binds the address. Clients can connect from now on, and are served once [`Server::run`] is polled.
    pub async fn bind(store: Store, config: &Config) -> Result<Self, ServeError> {
        let listener = TcpListener::bind(config.listen).await;
        Self::on(listener.map_err(|error| ServeError::Listen(config.listen, error))?, store, config)
    }

    /// Serves on a socket that is listening already, instead of the address of the settings.
    pub fn inherit(
        socket: std::net::TcpListener,
        store: Store,
        config: &Config,
    ) -> Result<Self, ServeError> {
        let listener = socket.set_nonblocking(true).and_then(|()| TcpListener::from_std(socket));
        Self::on(listener.map_err(|error| ServeError::Listen(config.listen, error))?, store, config)
    }

    fn on(listener: TcpListener, store: Store, config: &Config) -> Result<Self, ServeError> {
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let publications = Publication::all(&config.ldp).map_err(ServeError::Receiver)?;
        let failed = |error| ServeError::Listen(config.listen, error);
        let address = listener.local_addr().map_err(failed)?;
        let limits = descriptors::fit(&config.limits);
        let app = App::new(store, Config { limits, ..config.clone() });
        Ok(Self { app, listener, address, tls, pace: config.upkeep.pace(), publications })
    }

    /// The bound address, with the port that was chosen if 0 was configured.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients on this machine.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `stop` resolves, and then until the requests in progress have ended or
    /// [`stop_seconds`](crate::Limits::stop_seconds) have passed.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { app, listener, tls, pace, publications, .. } = self;
        let limits = app.limits();
        let protocol = Protocol::new(app_router(app.clone()), tls, limits, app.stopping());
        let upkeep = tokio::spawn(maintain(app.clone(), pace, publications));
        let crowd = Crowd::new(app.clone());
        tokio::select! {
            () = crowd.serve(&listener, &protocol) => {}
            () = stop => {}
        }
        drop(listener);
        app.stopping().cancel();
        let ended = async {
            crowd.ended().await;
            let _ = upkeep.await;
            leave(&app).await;
        };
        if tokio::time::timeout(app.limits().stop(), ended).await.is_err() {
            tracing::warn!(target: "cenote", "stopped with requests under way");
        }
    }
}

/// Lets other servers over the same catalog take over at once.
async fn leave(app: &App) {
    if let Err(problem) = app.blocking(Store::leave).await {
        tracing::warn!(target: "cenote", %problem, "the other servers will miss this one");
    }
}

/// Maintains the store, and publishes changes to others, until the server stops. The last position is kept even then.
async fn maintain(app: App, pace: Pace, publications: Vec<Arc<Publication>>) {
    let store = async {
        tokio::select! {
            () = app.store().maintain(pace) => {}
            () = irods::maintain(app.clone()) => {}
            () = app.stopping().cancelled() => {}
        }
    };
    tokio::join!(store, ldp::maintain(app.clone(), publications));
}
