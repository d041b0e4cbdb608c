//! One content in parts, in any order, over as many connections and as many tries as it takes.

use bytes::Bytes;
use http::header::HeaderName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Payload};
use crate::digest::Sha256Digest;
use crate::{At, Client, Resource, Result};

/// What is going to be uploaded, and where to.
#[derive(Debug, Clone, Serialize)]
pub struct NewUpload {
    /// Where; an id names an object that is there.
    #[serde(flatten)]
    pub at: At,
    /// Its size in bytes.
    pub size: u64,
    /// The media type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Mode bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// The modification time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtime: Option<Timestamp>,
    /// Only if the content there has this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<String>,
    /// `*`: only if nothing is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<String>,
    /// Create the collections above that are missing.
    pub parents: bool,
    /// The place or group that the bytes go to, instead of the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A part that has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Part {
    /// Its first byte, in the content.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// Its SHA-256 in hexadecimal.
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
struct Begun {
    id: String,
}

#[derive(Deserialize)]
struct Arrived {
    parts: Vec<Part>,
}

impl Client {
    /// Begins an upload and gives its id.
    pub async fn begin_upload(&self, new: &NewUpload) -> Result<String> {
        let begun: Begun = self.json(Call::post("/v1/uploads").json(new).repeatable()).await?;
        Ok(begun.id)
    }

    /// What has arrived.
    pub async fn upload_parts(&self, id: &str) -> Result<Vec<Part>> {
        let arrived: Arrived = self.json(Call::get(&format!("/v1/uploads/{id}"))).await?;
        Ok(arrived.parts)
    }

    /// Sends a part; the server checks what arrives.
    pub async fn put_part(
        &self,
        id: &str,
        offset: u64,
        bytes: Bytes,
        digest: Sha256Digest,
    ) -> Result<Part> {
        let call = Call::put(&format!("/v1/uploads/{id}/{offset}")).body(Payload::Bytes(bytes));
        let call = call.header(HeaderName::from_static("repr-digest"), &digest.header())?;
        self.json(call.repeatable()).await
    }

    /// Publishes the content.
    pub async fn complete_upload(&self, id: &str) -> Result<Resource> {
        let call = Call::post(&format!("/v1/uploads/{id}/complete"));
        self.json(call.json(&serde_json::json!({}))).await
    }

    /// Gives an upload up.
    pub async fn abandon_upload(&self, id: &str) -> Result<()> {
        self.done(Call::delete(&format!("/v1/uploads/{id}")).repeatable()).await
    }
}
