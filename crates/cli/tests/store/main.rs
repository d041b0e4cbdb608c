//! The program on a store, in a local directory and through a server: what it prints, on which
//! stream, and with which exit code.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod backing;
mod backups;
mod balanced;
#[path = "../../../blob/tests/bucket_server/mod.rs"]
mod bucket_server;
mod changesets;
mod completion;
mod engines;
mod fedora;
mod filters;
mod handles;
mod history;
mod interruptions;
mod keysets;
mod links;
mod logins;
mod media_types;
mod migration;
mod mirrors;
mod ocfl;
mod places;
#[path = "../../../kv/tests/postgres_server/mod.rs"]
mod postgres_server;
mod quotas;
mod refusals;
mod resources;
mod ro_crates;
mod servers;
mod serving;
mod sharing;
mod sparql;
mod starvation;
mod threads;
mod trajectories;
mod transfers;
mod words;
mod world;
