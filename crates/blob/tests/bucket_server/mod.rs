//! S3 servers for the duration of a test: `moto`, which keeps all in memory and checks little, and `versitygw`, which keeps files and
//! checks signatures, checksums and conditions as a provider does. Also for tests of other crates that store contents in buckets.
//!
//! Invariant: a server has a port that nobody else has, answers before a test uses it, and ends with the test.

#![allow(dead_code, reason = "each of the tests that share this uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod moto;
mod versitygw;

use std::env::var;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;

/// What both take; `versitygw` checks it.
const KEY: &str = "key";
const SECRET: &str = "secret";

/// A program that serves buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    Moto,
    Versitygw,
}

/// A server in its own process.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    address: String,
    /// Where it keeps its buckets, each a directory; None if that is in memory.
    files: Option<tempfile::TempDir>,
}

impl Server {
    /// None if it is not installed.
    pub(crate) fn start(program: Program) -> Option<Self> {
        let path = program.installed()?;
        Some(match program {
            Program::Moto => moto::start(&path),
            Program::Versitygw => versitygw::start(&path),
        })
    }

    pub(crate) fn make_bucket(&self, name: &str) {
        match &self.files {
            Some(files) => std::fs::create_dir(files.path().join(name)).unwrap(),
            None => {
                let answer = send(&self.address, &format!("PUT /{name}")).unwrap();
                assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            }
        }
    }

    /// How a place connects to it, as options of `object_store`.
    pub(crate) fn options(&self) -> Vec<(String, String)> {
        let endpoint = format!("http://{}", self.address);
        let options = [
            ("endpoint", endpoint.as_str()),
            ("allow_http", "true"),
            ("region", "us-east-1"),
            ("access_key_id", KEY),
            ("secret_access_key", SECRET),
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

impl Program {
    /// Where it is; `CENOTE_REQUIRE_MOTO` and `CENOTE_REQUIRE_VERSITYGW` make it required.
    fn installed(self) -> Option<PathBuf> {
        let (variable, required, place) = match self {
            Self::Moto => ("CENOTE_MOTO", "CENOTE_REQUIRE_MOTO", ".venv/bin/moto_server"),
            Self::Versitygw => {
                ("CENOTE_VERSITYGW", "CENOTE_REQUIRE_VERSITYGW", "target/tools/bin/versitygw")
            }
        };
        let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(place);
        let path = var(variable).map_or(usual, PathBuf::from);
        let found = path.exists().then_some(path);
        let missing = format!("no {place}: run `scripts/setup bucket`");
        assert!(found.is_some() || var(required).is_err(), "{missing}");
        if found.is_none() {
            eprintln!("SKIPPED, NOT TESTED: {missing}");
        }
        found
    }
}

/// Its answer to a request without a login and a body.
fn send(address: &str, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let head = format!("Host: {address}\r\nConnection: close\r\nContent-Length: 0");
    write!(stream, "{request} HTTP/1.1\r\n{head}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
