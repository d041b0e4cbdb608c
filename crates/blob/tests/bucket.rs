//! The shipped suite against a real bucket, or a server that speaks its protocol:
//!
//! ```sh
//! CENOTE_TEST_BUCKET=s3://bucket/prefix \
//! CENOTE_TEST_BUCKET_OPTIONS="endpoint=http://localhost:5000 allow_http=true region=us-east-1" \
//! cargo test -p cenote-blob --features cloud --test bucket -- --ignored
//! ```

#![cfg(feature = "cloud")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env::var;

use cenote_blob::{Place, conformance};

fn options() -> Vec<(String, String)> {
    let text = var("CENOTE_TEST_BUCKET_OPTIONS").unwrap_or_default();
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
#[ignore = "needs a bucket in CENOTE_TEST_BUCKET"]
async fn a_bucket_conforms() {
    let url = var("CENOTE_TEST_BUCKET").expect("CENOTE_TEST_BUCKET names the bucket");
    conformance::all(&Place::from_url("bucket", &url, options()).unwrap()).await;
}
