//! An S3 server (`moto`) for the duration of a test. Also for tests of other crates that store contents in
//! buckets.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::env::var;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A server in its own process, which ends with the test.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// None if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let mut command = Command::new(moto()?);
        let mut process =
            command.args(["-H", "127.0.0.1", "-p", "0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("Running on http://").map(|(_, address)| address.trim().to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self { process, address: address.unwrap() })
    }

    pub(crate) fn make_bucket(&self, name: &str) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let host = &self.address;
        write!(
            stream,
            "PUT /{name} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// How a place connects to it, as options of `object_store`.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://{}", self.address);
        let options = [
            ("endpoint", endpoint.as_str()),
            ("allow_http", "true"),
            ("region", "us-east-1"),
            ("access_key_id", "key"),
            ("secret_access_key", "secret"),
        ];
        options.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program, if it is installed; `CENOTE_REQUIRE_BUCKET` makes it required.
fn moto() -> Option<PathBuf> {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/moto_server");
    let program = var("CENOTE_MOTO").map_or(installed, PathBuf::from);
    let found = program.exists().then_some(program);
    assert!(found.is_some() || var("CENOTE_REQUIRE_BUCKET").is_err(), "run `scripts/setup bucket`");
    found
}
