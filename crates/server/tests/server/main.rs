//! The server as seen by its clients: one program, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod batch;
mod by_id;
mod bytes;
mod catalog;
mod changesets;
mod credentials;
mod cross_site;
mod dnanexus;
mod drain;
mod embedded;
mod events;
mod framing;
mod gsd;
mod hostile;
mod irods;
mod irods_rest;
mod keys;
mod ldp;
mod leases;
mod media_types;
mod metadata;
mod model;
mod openapi;
mod outsider;
mod passwords;
mod past;
mod peers;
mod people;
mod places;
#[path = "../../../kv/tests/postgres_server/mod.rs"]
mod postgres_server;
mod quotas;
mod refusals;
mod rights;
mod rot;
mod running;
mod shares;
mod socket;
mod sparql;
mod stages;
#[path = "../subscriber/mod.rs"]
mod subscriber;
mod support;
mod tree;
mod uploads;
mod xattrs;
