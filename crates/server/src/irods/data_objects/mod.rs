//! `data-objects`: reading and writing, parallel writes, checksums and replicas.

pub(crate) mod checksums;
pub(crate) mod intake;
pub(crate) mod lock;
pub(crate) mod objects;
pub(crate) mod parallel;
pub(crate) mod read;
pub(crate) mod replicas;
pub(crate) mod write;
