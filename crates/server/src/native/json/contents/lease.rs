//! Leases of contents, and of local files.

use cenote_store::{LocalBytes, LocalPiece};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::layer::conditional::quoted;
use crate::native::json::Instant;

/// A new lease.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLease {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    /// A version, instead of the current content.
    pub(crate) version: Option<u64>,
    /// Seconds until it has to be renewed; 60 by default.
    #[schema(minimum = 1, maximum = 600)]
    pub(crate) seconds: Option<u64>,
    /// Whether it is of local files, which the answer names; otherwise the content is read through the server, at `/v1/leases/{id}/content`.
    #[serde(default = "yes")]
    pub(crate) files: bool,
    /// Only if the content has this tag; without `files`.
    pub(crate) if_match: Option<String>,
}

fn yes() -> bool {
    true
}

/// For how long to renew a lease.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LeaseQuery {
    /// Seconds from now on; 60 by default.
    #[param(minimum = 1, maximum = 600)]
    pub(crate) seconds: Option<u64>,
}

/// A lease of a content.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Lease {
    /// Its id, 32 hexadecimal digits.
    pub(crate) lease: String,
    /// When it ends, unless it is renewed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Instant,
    /// The id of the object.
    pub(crate) id: u64,
    /// Bytes of the content.
    pub(crate) size: u64,
    /// The tag of the content.
    pub(crate) etag: String,
    /// The location of the bytes, in order and without gaps; none of a lease without `files`.
    pub(crate) pieces: Vec<Piece>,
}

/// A run of bytes of a content.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LocalPiece)]
pub(crate) struct Piece {
    /// Its first byte in the content.
    offset: u64,
    /// How many bytes.
    length: u64,
    /// Where they are.
    #[serde(rename = "in")]
    place: Holder,
    /// The absolute path of the file, which must not be written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The first byte in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
}

/// Where bytes are.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Holder {
    /// In a file on the server's machine.
    File,
    /// They are zeros.
    Zeros,
    /// They are read through the server.
    Server,
}

/// A lease that was renewed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Renewed {
    /// When it ends, unless it is renewed again.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) until: Instant,
}

impl From<cenote_store::Lease> for Lease {
    fn from(lease: cenote_store::Lease) -> Self {
        Self {
            lease: lease.id.to_string(),
            until: Instant(lease.until),
            id: lease.stat.id.0,
            size: lease.head.size,
            etag: quoted(&lease.head.tag()),
            pieces: lease.pieces.into_iter().map(Piece::from).collect(),
        }
    }
}

impl From<LocalPiece> for Piece {
    fn from(piece: LocalPiece) -> Self {
        let LocalPiece { offset, length, bytes } = piece;
        let (place, file, start) = match bytes {
            LocalBytes::Zeros => (Holder::Zeros, None, None),
            LocalBytes::Store => (Holder::Server, None, None),
            LocalBytes::File(path, start) => match path.into_os_string().into_string() {
                Ok(path) => (Holder::File, Some(path), Some(start)),
                // JSON cannot represent a path that is not UTF-8.
                Err(_) => (Holder::Server, None, None),
            },
        };
        Self { offset, length, place, file, start }
    }
}
