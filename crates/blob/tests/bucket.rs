//! The shared suite against S3 servers: `moto` and `versitygw`, if they are installed (`scripts/setup bucket`), and the one named by
//! `CENOTE_TEST_BUCKET`:
//!
//! ```sh
//! CENOTE_TEST_BUCKET=s3://bucket/prefix \
//! CENOTE_TEST_BUCKET_OPTIONS="endpoint=https://s3.example.org region=us-east-1" \
//! cargo test -p cenote-blob --test bucket
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bucket_server;

use std::env::var;

use cenote_blob::{Error, Place, conformance};

use bucket_server::{Program, Server};

#[tokio::test(flavor = "multi_thread")]
async fn a_named_bucket_conforms() {
    let Ok(url) = var("CENOTE_TEST_BUCKET") else { return };
    let text = var("CENOTE_TEST_BUCKET_OPTIONS").unwrap_or_default();
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    let options = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    conformance::all(&Place::from_url("bucket", &url, options).unwrap()).await;
}

async fn conforms(program: Program) {
    let Some(server) = Server::start(program) else { return };
    server.make_bucket("bucket");
    let place = Place::from_url("bucket", "s3://bucket/some/prefix", server.options()).unwrap();
    conformance::all(&place).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_conforms() {
    conforms(Program::Moto).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_of_versitygw_conforms() {
    conforms(Program::Versitygw).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_bucket_is_reported() {
    for program in [Program::Moto, Program::Versitygw] {
        let Some(server) = Server::start(program) else { continue };
        let place = Place::from_url("bucket", "s3://none", server.options()).unwrap();
        let error =
            place.writer(cenote_blob::BlobId::from_bytes([1; 16]), []).finish().await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
        assert!(error.to_string().contains("NoSuchBucket"), "{error}");
    }
}
