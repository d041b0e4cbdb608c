//! Queries over everything that the caller may read.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};

use crate::call::{Call, Payload};
use crate::{Client, Result};

impl Client {
    /// The result of a SPARQL 1.1 query, in the media type that `accept` requests. Resources are called `cenote:/path`.
    ///
    /// # Errors
    /// [`Kind::Invalid`](crate::Kind::Invalid) if the query is malformed, or needs more than the server
    /// allows.
    pub async fn sparql(&self, query: &str, accept: &str) -> Result<Bytes> {
        let body = Payload::Bytes(Bytes::copy_from_slice(query.as_bytes()));
        let call = Call::post("/sparql").query("iris", "paths").body(body).repeatable();
        let call = call.header(CONTENT_TYPE, "application/sparql-query")?;
        self.bytes(call.header(ACCEPT, accept)?).await
    }
}
