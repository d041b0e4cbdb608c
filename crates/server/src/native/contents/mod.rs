//! Bytes: reading and writing them, uploads, versions and replicas.

pub(crate) mod leases;
mod ranges;
pub(crate) mod read;
pub(crate) mod replicas;
pub(crate) mod stages;
pub(crate) mod uploads;
pub(crate) mod versions;
pub(crate) mod write;
