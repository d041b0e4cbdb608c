//! The program on a store, in a local directory and through a server: what it prints, on which
//! stream, and with which exit code.

mod refusals;
mod resources;
mod transfers;
mod world;
