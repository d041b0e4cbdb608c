//! Listening: sockets, TLS, and what a connection may take; no word of HTTP's meaning.
//!
//! Invariant: a connection that does not move (no header, no byte taken) ends by itself, and a
//! stop waits for requests under way, but not for ever.

mod connection;
mod drain;
mod server;
mod stall;
mod stop;
mod tls;

pub use server::{ServeError, Server};
pub use stop::stop_signal;
