//! The server compared with for small writes: a bare HTTP server that appends the body of each
//! request to one file, synced before it answers.

use std::convert::Infallible;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::Outcome;

/// A server that runs until it is dropped.
pub(crate) struct AppendServer {
    /// Its address.
    pub(crate) url: String,
    _runtime: Runtime,
}

impl AppendServer {
    /// Starts a server that appends to a file.
    pub(crate) fn start(file: &Path) -> Outcome<Self> {
        let file = Arc::new(Mutex::new(File::create(file)?));
        let runtime = Runtime::new()?;
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let url = format!("http://{}", listener.local_addr()?);
        runtime.spawn(accept(listener, file));
        Ok(Self { url, _runtime: runtime })
    }
}

async fn accept(listener: TcpListener, file: Arc<Mutex<File>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let file = file.clone();
        let service = service_fn(move |request| append(request, file.clone()));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn append(
    request: Request<Incoming>,
    file: Arc<Mutex<File>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let written = match request.into_body().collect().await {
        Ok(body) => tokio::task::spawn_blocking(move || synced(&file, &body.to_bytes()))
            .await
            .is_ok_and(|done| done.is_ok()),
        Err(_) => false,
    };
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() =
        if written { hyper::StatusCode::CREATED } else { hyper::StatusCode::INTERNAL_SERVER_ERROR };
    Ok(response)
}

fn synced(file: &Mutex<File>, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    file.write_all(bytes)?;
    file.sync_data()
}
