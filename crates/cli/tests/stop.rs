//! A server that is asked to stop ends within its time limit, whatever is running.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const PASSWORD: &str = "a secret of the tests";
/// The password, in the form of HTTP.
const BASIC: &str = "Basic YWRhOmEgc2VjcmV0IG9mIHRoZSB0ZXN0cw==";
/// The maximum time: the second that it is given, and a margin for a busy machine.
const MOST: Duration = Duration::from_secs(15);

fn cenote(arguments: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cenote"));
    command.args(arguments).env_clear().current_dir(dir).env("CENOTE_CONFIG", dir.join("none"));
    command
}

/// A server that is given a second to stop, and its address.
fn start(dir: &Path) -> (Child, String) {
    std::fs::write(dir.join("none"), "").unwrap();
    std::fs::write(dir.join("settings"), "[limits]\nstop_seconds = 1\n").unwrap();
    let init = ["init", "store", "--admin", "ada", "--password-stdin"];
    let mut init = cenote(&init, dir).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    init.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(init.wait().unwrap().success());
    let serve = ["serve", "store", "--listen", "127.0.0.1:0", "--settings", "settings"];
    let mut process =
        cenote(&serve, dir).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    (process, address)
}

/// Sends a request, and as much of its body as is given.
fn send(address: &str, request: &str, length: usize, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "{request} HTTP/1.1\r\nhost: {address}\r\nauthorization: {BASIC}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    stream
}

/// The same, with the response.
fn send_and_read(address: &str, request: &str, body: &[u8]) -> String {
    let mut answer = String::new();
    send(address, request, body.len(), body).read_to_string(&mut answer).unwrap();
    answer
}

/// Checks that it exits successfully in time; otherwise it is killed.
fn ends(mut process: Child) -> bool {
    let (sender, ended) = mpsc::channel();
    let id = process.id().to_string();
    let waiter = std::thread::spawn(move || sender.send(process.wait().unwrap().success()));
    let ended = ended.recv_timeout(MOST);
    if ended.is_err() {
        Command::new("kill").args(["-9", &id]).status().unwrap();
    }
    waiter.join().unwrap().ok();
    ended == Ok(true)
}

#[test]
fn a_server_stops_in_time_whatever_is_running() {
    let dir = tempfile::tempdir().unwrap();
    let (process, address) = start(dir.path());
    assert!(
        send_and_read(&address, "PUT /v1/fs/large", &vec![7; 32 << 20]).starts_with("HTTP/1.1 201")
    );
    let operation = |n: usize| format!(r#"{{"op":"add","attribute":"a","value":"{n}"}}"#);
    let operations: Vec<_> = (0..60_000).map(operation).collect();
    let change = format!(r#"{{"path":"/large","operations":[{}]}}"#, operations.join(","));
    let waits = [
        // A wait for changes, a client that does not read, one that stops sending, and long computations.
        send(&address, "GET /v1/changes?wait=20&since=now", 0, b""),
        send(&address, "GET /v1/archive?path=/", 0, b""),
        send(&address, "GET /v1/fs/large", 0, b""),
        send(&address, "PUT /v1/fs/late", 1_000_000, b"the beginning"),
        send(&address, "POST /v1/check", 2, b"{}"),
        send(&address, "POST /v1/meta", change.len(), change.as_bytes()),
    ];
    let stopped = Command::new("kill").args(["-TERM", &process.id().to_string()]).status();
    assert!(stopped.unwrap().success());
    assert!(ends(process), "it took longer than {MOST:?}");
    drop(waits);
}
