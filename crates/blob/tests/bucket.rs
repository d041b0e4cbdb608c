//! The shared suite against an S3 server: `moto` if it is installed (`scripts/setup bucket`), or the one named by
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

use bucket_server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_conforms() {
    if let Ok(url) = var("CENOTE_TEST_BUCKET") {
        let text = var("CENOTE_TEST_BUCKET_OPTIONS").unwrap_or_default();
        let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
        let options = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
        return conformance::all(&Place::from_url("bucket", &url, options).unwrap()).await;
    }
    let Some(server) = Server::start() else { return };
    server.make_bucket("bucket");
    let place = Place::from_url("bucket", "s3://bucket/some/prefix", server.options()).unwrap();
    conformance::all(&place).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_bucket_is_reported() {
    let Some(server) = Server::start() else { return };
    let place = Place::from_url("bucket", "s3://none", server.options()).unwrap();
    let error =
        place.writer(cenote_blob::BlobId::from_bytes([1; 16]), []).finish().await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("NoSuchBucket"), "{error}");
}
