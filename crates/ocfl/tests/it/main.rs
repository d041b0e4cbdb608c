//! Storage roots and objects on a disk.

mod drafts;
mod faults;
mod fixtures;
mod roots;
mod support;
