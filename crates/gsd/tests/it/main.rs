//! Tests of the file format from outside, by theme.

mod common;
mod crash;
mod damage;
mod golden;
mod growth;
mod headers;
mod inherit;
mod long_index;
mod model;
mod read;
mod read_ahead;
mod recovery;
mod repair;
mod writing;
