//! Contents: reading and writing, uploads, versions and replicas.

mod bytes;
mod lease;
mod replica;
mod upload;
mod version;

pub(in crate::native) use bytes::*;
pub(in crate::native) use lease::*;
pub(in crate::native) use replica::*;
pub(in crate::native) use upload::*;
pub(in crate::native) use version::*;
