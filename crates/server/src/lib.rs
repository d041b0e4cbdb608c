//! The HTTP server: listening, authentication, limits, metrics, and one module per opening.
//!
//! * [`router`] is the whole server as a service; [`Server`] gives it a socket.
//! * `layer` has what every request passes, `problem` the one form of every failure.
//! * `native` is the native opening (`docs/native-api.md`). An opening only translates:
//!   access is decided in the store, and no opening knows another.
//! * `irods` is the iRODS opening (`docs/irods.md`).
//! * `ldp` is the linked-data opening (`docs/ldp.md`), and `sparql` answers queries (`docs/sparql.md`).
//! * `dnanexus` is the DNAnexus opening (`docs/dnanexus.md`).
//! * [`embedded`] composes the store that lives in one directory.

#![forbid(unsafe_code)]

mod app;
mod changes;
mod config;
mod dnanexus;
pub mod embedded;
mod front;
mod irods;
mod layer;
mod ldp;
mod listen;
mod log;
mod metrics;
mod native;
mod opener;
mod page;
mod problem;
mod router;
mod sparql;
mod statements;
mod status;
mod texts;

#[cfg(any(test, feature = "fuzzing"))]
pub use ldp::fuzzing;

pub use config::{
    Broker, Config, Dnanexus, Irods, Ldp, Limits, Log, LogFormat, Search, Seconds, Tls, Upkeep,
    Webhook,
};
pub use layer::LocalCaller;
pub use ldp::Allowed as ExternalPrefix;
pub use listen::{ServeError, Server, raise_descriptor_limit, stop_signal};
pub use log::start_log;
pub use router::router;
