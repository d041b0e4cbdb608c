//! The heart's promises, each held by a test. `docs/SEMANTICS.md` names them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access;
mod batch;
mod changesets;
mod check;
mod clocks;
mod contents;
mod credentials;
mod depth;
mod described_versions;
mod documents;
mod explain;
mod extents;
mod faults;
mod feed;
mod full;
mod leases;
mod listings;
mod media_types;
mod metadata;
mod mirrors;
mod model;
mod moves;
mod names;
mod notes;
mod past;
mod past_walks;
mod people;
mod places;
#[path = "../../../kv/tests/postgres_server/mod.rs"]
mod postgres_server;
mod quotas;
mod raw;
mod reading;
mod replicas;
mod rights;
mod rot;
mod rot_files;
mod round_trips;
mod search;
mod shared;
mod small_parts;
mod stages;
mod statements;
mod sweep;
mod tickets;
mod trash;
mod tree;
mod upgrade;
mod upkeep;
mod uploads;
mod versions;
mod waiting;
mod world;
mod xattrs;
