//! A server with few descriptors and many peers that send nothing, or half of something: a client with a login puts and
//! gets, which always succeeds, and the store stays ready.
//!
//! `CENOTE_PEERS` sets the number of peers, and `CENOTE_DESCRIPTORS` the number of descriptors of the server; then the
//! times of the client are printed.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cenote_client::{Client, PutOptions, ReadOptions};
use futures_util::TryStreamExt;
use tokio::time::Instant;

use crate::world::World;

/// What a peer sends before it falls silent.
const STARTS: [&str; 4] = [
    "",
    "GET / HTTP/1.1\r\nhost:",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "POST /v1/create HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
];

/// How often the peers check which of their connections were closed.
const ROUND: Duration = Duration::from_millis(20);

fn number(name: &str) -> Option<usize> {
    Some(std::env::var(name).ok()?.parse().expect("a number"))
}

/// Keeps this many connections open, reopening those that the server closes, until `stop` is dropped.
fn crowd(server: SocketAddr, count: usize, stop: &Receiver<()>) {
    let open = |start: &str| {
        let mut stream = TcpStream::connect_timeout(&server, Duration::from_secs(10)).ok()?;
        stream.write_all(start.as_bytes()).ok()?;
        stream.set_nonblocking(true).ok()?;
        Some(stream)
    };
    let starts = STARTS.iter().cycle();
    let mut peers: Vec<_> = starts.take(count).map(|start| (*start, open(start))).collect();
    while stop.recv_timeout(ROUND) == Err(RecvTimeoutError::Timeout) {
        for (start, peer) in &mut peers {
            let is_open = peer.as_ref().is_some_and(|peer| {
                let peeked = peer.peek(&mut [0]);
                peeked.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
            });
            if !is_open {
                *peer = open(start);
            }
        }
    }
}

/// Puts and gets an object that is stored in a file; returns the time it took.
async fn put_and_get(client: &Client, n: usize) -> Duration {
    let begun = Instant::now();
    let (path, bytes) = (format!("/objects/{n}"), vec![n as u8; 100_000]);
    let options = PutOptions { parents: true, ..PutOptions::default() };
    client.put_bytes(&path, bytes.clone().into(), &options).await.unwrap();
    let content = client.read(&path, &ReadOptions::default()).await.unwrap();
    let got: Vec<bytes::Bytes> = content.into_stream().try_collect().await.unwrap();
    assert!(got.concat() == bytes);
    begun.elapsed()
}

#[test]
fn a_server_with_few_descriptors_and_many_silent_peers_serves_its_users() {
    cenote_server::raise_descriptor_limit();
    let peers = number("CENOTE_PEERS");
    let descriptors = number("CENOTE_DESCRIPTORS").unwrap_or(256);
    let world = World::local().serve_with_descriptors(descriptors, &[]);
    let server = world.url().strip_prefix("http://").unwrap().parse().unwrap();
    let (goes_on, stop) = channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let crowd = scope.spawn(move || crowd(server, peers.unwrap_or(512), &stop));
        let client = world.client();
        let rounds = if peers.is_some() { 1_000 } else { 60 };
        let each = async {
            let mut times = Vec::new();
            for n in 0..rounds {
                times.push(put_and_get(&client, n).await);
            }
            times
        };
        let times = runtime.block_on(each);
        drop(goes_on);
        crowd.join().unwrap();
        times
    });
    assert!(world.get("/readyz").contains("200 OK"));
    assert!(world.get("/metrics").contains("closed_total{reason=\"room\"}"));
    times.sort_unstable();
    if let Some(peers) = peers {
        let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
        println!(
            "{peers} peers, {descriptors} descriptors: a put and a get of 100 kB: p50 {:?}, p99 {:?}",
            at(50),
            at(99)
        );
    }
}
