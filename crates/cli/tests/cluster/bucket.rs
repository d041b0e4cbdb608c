//! A proxy before an S3 server, with one connection for each request.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::database::listening;

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is answered with this status, and not passed on.
    Status(u16),
    /// It is passed on later.
    Slow(Duration),
    /// Half of its answer arrives.
    HalfAnswer,
    /// It is carried out, and not answered.
    LoseAnswer,
}

/// A running proxy, on a port of its own.
#[derive(Debug)]
pub(crate) struct Bucket {
    address: String,
    state: Arc<State>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Debug)]
struct State {
    target: String,
    armed: Mutex<Option<(Fault, usize)>>,
}

impl Bucket {
    /// Before the server at this address.
    pub(crate) fn before(target: &str) -> Self {
        let state = Arc::new(State { target: target.to_owned(), armed: Mutex::default() });
        let (runtime, listener) = listening();
        let address = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(accept(listener, state.clone()));
        Self { address, state, _runtime: runtime }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Does this to the next requests.
    pub(crate) fn arm(&self, fault: Fault, requests: usize) {
        *self.state.armed.lock().unwrap() = Some((fault, requests));
    }

    pub(crate) fn disarm(&self) {
        *self.state.armed.lock().unwrap() = None;
    }
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    while let Ok((client, _)) = listener.accept().await {
        let state = state.clone();
        tokio::spawn(async move {
            // A client that has gone away.
            let _ = pass(client, &state).await;
        });
    }
}

async fn pass(mut client: TcpStream, state: &State) -> io::Result<()> {
    let request = read_request(&mut client).await?;
    let fault = state.next_fault();
    match fault {
        Some(Fault::Status(status)) => {
            let answer = format!("HTTP/1.1 {status} Fault\r\nContent-Length: 0\r\n\r\n");
            return client.write_all(&closing(answer.into_bytes())).await;
        }
        Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
        _ => {}
    }
    let mut server = TcpStream::connect(&state.target).await?;
    server.write_all(&closing(request)).await?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).await?;
    match fault {
        Some(Fault::LoseAnswer) => Ok(()),
        Some(Fault::HalfAnswer) => client.write_all(&answer[..answer.len() / 2]).await,
        _ => client.write_all(&closing(answer)).await,
    }
}

/// A message, with a header that says that its connection ends with it.
fn closing(mut message: Vec<u8>) -> Vec<u8> {
    let line = message.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    message.splice(line..line, *b"Connection: close\r\n");
    message
}

async fn read_request(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let head = loop {
        if client.read_buf(&mut request).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(end) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let length = length_of(&String::from_utf8_lossy(&request[..head]));
    let mut body = client.take((head + length - request.len()) as u64);
    body.read_to_end(&mut request).await?;
    Ok(request)
}

/// What `Content-Length` says; without it there is no body.
fn length_of(head: &str) -> usize {
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
    });
    length.unwrap_or_default()
}

impl State {
    fn next_fault(&self) -> Option<Fault> {
        let mut armed = self.armed.lock().unwrap();
        let (fault, left) = armed.take()?;
        *armed = (left > 1).then_some((fault, left - 1));
        Some(fault)
    }
}
