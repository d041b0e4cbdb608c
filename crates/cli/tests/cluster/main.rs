//! Several servers over one PostgreSQL and one bucket, both behind proxies that count round trips and make faults.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod broker;
mod bucket;
#[path = "../../../blob/tests/bucket_server/mod.rs"]
mod bucket_server;
mod database;
mod load;
mod model;
#[path = "../../../kv/tests/postgres_server/mod.rs"]
mod postgres_server;
mod requests;
mod rolling;
mod servers;
mod storm;
#[path = "../../../server/tests/subscriber/mod.rs"]
mod subscriber;
mod takeover;
mod trips;
mod unread;
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../store/world.rs"]
mod world;
