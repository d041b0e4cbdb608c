//! Tests of the public interface of the file format, by topic.

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
