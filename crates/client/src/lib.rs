//! The client of cenote's native opening (`docs/native-api.md`): typed calls, and transfers that are parallel,
//! resumable and verified.
//!
//! * [`Client`] makes calls over a [`Transport`]: [`HttpTransport`] reaches a server, and
//!   [`ServiceTransport`] any `tower` service, such as the server's router in the same process.
//! * [`dnanexus`] calls servers that speak the DNAnexus API, to migrate data from them.
//! * [`ldp`] calls linked data servers, for the same purpose.
//! * [`settings`] finds the store and the credentials that a program on this machine uses.
//! * [`transfer`] moves files and trees between a local disk and the store.
//!
//! Invariant: a call is sent again only if sending it twice leaves the store in the same state as sending it once.

#![forbid(unsafe_code)]

mod api;
mod body;
mod call;
mod client;
mod digest;
pub mod dnanexus;
mod error;
pub mod ldp;
mod model;
mod retry;
pub mod settings;
pub mod transfer;

mod transport;

pub use api::*;
pub use body::{Body, BoxError, body_of};
pub use client::{Client, Credential};
pub use digest::{CrcDigest, Sha256Digest};
pub use error::{Error, Kind, Result};
pub use model::*;
pub use retry::Retry;
pub use transport::{HttpTransport, ServiceTransport, Transport, TransportError};
