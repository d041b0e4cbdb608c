//! Leases: contents that stay as they are for a while, and their local files, for a client on the server's machine.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;

use crate::api::tree::On;
use crate::call::Call;
use crate::{At, Client, Content, ReadOptions, Result};

/// A lease of the local files of a content: until it expires they may be read, but never written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lease {
    /// Its id.
    pub lease: String,
    /// When it expires, unless it is renewed.
    pub until: Timestamp,
    /// The id of the object.
    pub id: u64,
    /// Bytes of the content.
    pub size: u64,
    /// The tag of the content.
    pub etag: String,
    /// Where the bytes are stored, in order and without gaps.
    pub pieces: Vec<LocalPiece>,
}

/// A run of bytes of a content.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LocalPiece {
    /// Its first byte in the content.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// Where they are stored.
    #[serde(flatten)]
    pub bytes: LocalBytes,
}

/// Where bytes of a content are stored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "in", rename_all = "lowercase")]
pub enum LocalBytes {
    /// In a file.
    File {
        /// Its absolute path.
        file: PathBuf,
        /// The offset of the first byte in it.
        start: u64,
    },
    /// They are zeros.
    Zeros,
    /// They are read through the server.
    Server,
}

/// A content that stays as it is until the lease expires, whatever happens to the object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ContentLease {
    /// Its id.
    pub lease: String,
    /// When it expires, unless it is renewed.
    pub until: Timestamp,
}

#[derive(Deserialize)]
struct Renewed {
    until: Timestamp,
}

impl Client {
    /// Leases the local files of the content of an object for this many seconds, at most 600.
    ///
    /// # Errors
    /// [`Kind::Denied`](crate::Kind::Denied) if the server does not lease files, or is on another machine.
    pub async fn lease(&self, at: &At, seconds: u32) -> Result<Lease> {
        let body = On { at, body: serde_json::json!({ "seconds": seconds }) };
        self.json(Call::post("/v1/leases").json(&body)).await
    }

    /// Leases the content of an object that has this tag for this many seconds, at most 600, so that [`Client::read_leased`] returns it even if the
    /// object is replaced or removed.
    ///
    /// # Errors
    /// [`Kind::Precondition`](crate::Kind::Precondition) if it has another tag, [`Kind::Denied`](crate::Kind::Denied) if the server does not lease
    /// contents, and [`Kind::Invalid`](crate::Kind::Invalid) from a server that does not know such leases.
    pub async fn lease_content(&self, at: &At, etag: &str, seconds: u32) -> Result<ContentLease> {
        let how = serde_json::json!({ "seconds": seconds, "files": false, "if_match": etag });
        self.json(Call::post("/v1/leases").json(&On { at, body: how })).await
    }

    /// Reads the content of a lease, or a range of it.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if it has expired.
    pub async fn read_leased(&self, lease: &str, options: &ReadOptions) -> Result<Content> {
        self.content(options.of(Call::get(&format!("/v1/leases/{lease}/content")))?).await
    }

    /// Renews a lease for this many seconds from now; returns when it expires.
    ///
    /// # Errors
    /// [`Kind::NotFound`](crate::Kind::NotFound) if it has expired.
    pub async fn renew_lease(&self, lease: &str, seconds: u32) -> Result<Timestamp> {
        let call = Call::put(&format!("/v1/leases/{lease}")).query("seconds", seconds);
        let renewed: Renewed = self.json(call.repeatable()).await?;
        Ok(renewed.until)
    }

    /// Ends a lease.
    pub async fn end_lease(&self, lease: &str) -> Result<()> {
        self.done(Call::delete(&format!("/v1/leases/{lease}"))).await
    }
}
