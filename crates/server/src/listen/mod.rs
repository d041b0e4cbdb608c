//! Listening: sockets, TLS, and what a connection may take; no word of HTTP's meaning.
//!
//! Invariants: a connection that does not move (no header, no byte taken) ends by itself; connections never take the
//! descriptors that the store needs, and a new one is served while others are idle; a stop waits for requests under way,
//! but not for ever.

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
