//! The client of cenote's native opening (`docs/native-api.md`): typed calls, and transfers that are parallel,
//! resumable and verified.
//!
//! * [`Client`] makes calls over a [`Transport`]: [`HttpTransport`] reaches a server, and
//!   [`ServiceTransport`] any `tower` service, such as the server's router in the same process.
//! * [`transfer`] moves files and trees between a local disk and the store.
//!
//! Invariant: a call is sent again only if sending it twice leaves the store in the same state as sending it once.

#![forbid(unsafe_code)]

mod api;
mod body;
mod call;
mod client;
mod digest;
mod error;
mod model;
mod retry;
pub mod transfer;

mod transport;

pub use api::*;
pub use body::{Body, BoxError};
pub use client::{Client, Credential};
pub use digest::Sha256Digest;
pub use error::{Error, Kind, Result};
pub use model::*;
pub use retry::Retry;
pub use transport::{HttpTransport, ServiceTransport, Transport, TransportError};
