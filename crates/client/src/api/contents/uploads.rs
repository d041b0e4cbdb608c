//! One content in parts, in any order, over any number of connections and attempts.

use bytes::Bytes;
use http::header::HeaderName;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::{Call, Payload};
use crate::digest::CrcDigest;
use crate::{At, Client, Resource, Result};

/// What to upload, and where.
#[derive(Debug, Clone, Serialize)]
pub struct NewUpload {
    /// The path, or the id of an existing object.
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
    /// Only if the existing content has this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<String>,
    /// `*`: only if the path is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<String>,
    /// Create missing parent collections.
    pub parents: bool,
    /// The place or group that stores the bytes, instead of the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// A part that has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Part {
    /// Its offset in the content.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Its CRC-64/NVME in hexadecimal.
    pub crc64nvme: Option<String>,
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
    /// Starts an upload and returns its id.
    pub async fn begin_upload(&self, new: &NewUpload) -> Result<String> {
        let begun: Begun = self.json(Call::post("/v1/uploads").json(new).repeatable()).await?;
        Ok(begun.id)
    }

    /// The parts that have arrived.
    pub async fn upload_parts(&self, id: &str) -> Result<Vec<Part>> {
        let arrived: Arrived = self.json(Call::get(&format!("/v1/uploads/{id}"))).await?;
        Ok(arrived.parts)
    }

    /// Sends a part; the server verifies it.
    pub async fn put_part(
        &self,
        id: &str,
        offset: u64,
        bytes: Bytes,
        digest: CrcDigest,
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

    /// Abandons an upload.
    pub async fn abandon_upload(&self, id: &str) -> Result<()> {
        self.done(Call::delete(&format!("/v1/uploads/{id}")).repeatable()).await
    }
}
