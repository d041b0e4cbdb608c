//! Listening: sockets, TLS, and the resources of connections; nothing about the meaning of HTTP requests.
//!
//! Invariants: a connection that makes no progress (no header, no byte read) is closed; connections never
//! take the descriptors that the store needs, and a new one is served while others are idle; a shutdown waits
//! for requests in progress, but not forever.

mod answer;
mod connection;
mod connections;
mod crowd;
mod descriptors;
mod drain;
mod server;
mod stall;
mod state;
mod stop;
mod tls;

pub(crate) use descriptors::for_catalog as descriptors_for_catalog;
pub use descriptors::raise_descriptor_limit;
pub use server::{ServeError, Server};
pub(crate) use state::Handle;
pub use stop::stop_signal;
