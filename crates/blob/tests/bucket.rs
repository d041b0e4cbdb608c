//! The shared suite against an S3 server: `moto` if it is installed (`scripts/setup bucket`), or the one named by
//! `CENOTE_TEST_BUCKET`:
//!
//! ```sh
//! CENOTE_TEST_BUCKET=s3://bucket/prefix \
//! CENOTE_TEST_BUCKET_OPTIONS="endpoint=https://s3.example.org region=us-east-1" \
//! cargo test -p cenote-blob --test bucket
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env::var;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use cenote_blob::{Error, Place, conformance};

/// A server in its own process, which ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(program: &Path) -> Self {
        let mut command = Command::new(program);
        let mut process =
            command.args(["-H", "127.0.0.1", "-p", "0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            line.split_once("Running on http://").map(|(_, address)| address.trim().to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address: address.unwrap() }
    }

    fn make_bucket(&self, name: &str) {
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

    fn options(&self) -> Vec<(String, String)> {
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

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_conforms() {
    if let Ok(url) = var("CENOTE_TEST_BUCKET") {
        let text = var("CENOTE_TEST_BUCKET_OPTIONS").unwrap_or_default();
        let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let options = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        return conformance::all(&Place::from_url("bucket", &url, options).unwrap()).await;
    }
    let Some(program) = moto() else { return };
    let server = Server::start(&program);
    server.make_bucket("bucket");
    let place = Place::from_url("bucket", "s3://bucket/some/prefix", server.options()).unwrap();
    conformance::all(&place).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_not_there_is_told() {
    let Some(program) = moto() else { return };
    let server = Server::start(&program);
    let place = Place::from_url("bucket", "s3://none", server.options()).unwrap();
    let error =
        place.writer(cenote_blob::BlobId::from_bytes([1; 16]), []).finish().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("NoSuchBucket"), "{error}");
}
