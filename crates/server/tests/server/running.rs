//! A server on a socket.

use std::net::SocketAddr;

use cenote_server::{Config, Server};
use cenote_store::Store;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::store;

/// A server that runs until it is stopped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<()>,
    pub(crate) store: Store,
}

impl Running {
    pub(crate) async fn start(config: Config) -> Self {
        Self::with_store(store(), config).await
    }

    pub(crate) async fn with_store(store: Store, config: Config) -> Self {
        let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..config };
        let server = Server::bind(store.clone(), &config).await.unwrap();
        let address = server.local_addr();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self { address, stop, task, store }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends these bytes, and reads until the server closes the connection.
    pub(crate) async fn raw(&self, request: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}
