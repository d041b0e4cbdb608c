//! The file system without a kernel, against the real server in this process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod defects;
mod dxfuse;
mod evicting;
mod faults;
mod kept;
mod model;
mod offline;
mod outages;
mod places;
mod posix;
mod reading;
mod replaced;
mod rights;
mod support;
mod writing;
