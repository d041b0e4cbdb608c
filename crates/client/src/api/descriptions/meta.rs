//! Descriptions.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH};
use serde::Serialize;

use crate::api::tree::On;
use crate::call::{Call, Payload};
use crate::{At, Avu, Client, MetaOperation, Resource, Result};

impl Client {
    /// The statements about a resource.
    pub async fn meta(&self, at: &At) -> Result<Vec<Avu>> {
        self.items(Call::get("/v1/meta").at(at)).await
    }

    /// Changes a description, atomically.
    pub async fn change_meta(&self, at: &At, operations: &[MetaOperation]) -> Result<()> {
        let body = On { at, body: serde_json::json!({ "operations": operations }) };
        self.done(Call::post("/v1/meta").json(&body)).await
    }

    /// Copies the description of `from` to `to`: the graph, the media type, and mode and time if `from` has them; if
    /// `expected_state` is given, only if `to` is still in that state.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if it is not.
    pub async fn copy_description(
        &self,
        from: &At,
        to: &At,
        expected_state: Option<&str>,
    ) -> Result<Resource> {
        #[derive(Serialize)]
        struct Copy<'a> {
            from: &'a At,
            to: &'a At,
        }
        let mut call = Call::post("/v1/meta/copy").json(&Copy { from, to });
        if let Some(state) = expected_state {
            call = call.header(IF_MATCH, state)?;
        }
        self.json(call).await
    }

    /// The whole graph of a resource as N-Triples; `<>` is the resource itself.
    pub async fn graph(&self, at: &At) -> Result<Bytes> {
        self.bytes(Call::get("/v1/graph").at(at)).await
    }

    /// The graph that a resource had as a version.
    pub async fn graph_of_version(&self, at: &At, version: u64) -> Result<Bytes> {
        self.bytes(Call::get("/v1/graph").at(at).query("version", version)).await
    }

    /// Replaces the graph of a resource with these N-Triples.
    pub async fn set_graph(&self, at: &At, triples: Bytes) -> Result<()> {
        let call = Call::put("/v1/graph").at(at).body(Payload::Bytes(triples));
        self.done(call.header(CONTENT_TYPE, "application/n-triples")?.repeatable()).await
    }
}
