//! The record of a note about a resource.

use minicbor::{Decode, Encode};

use crate::model::ResourceId;

/// A note of an opening about a resource. The same record is stored by its name and by its resource.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct NoteRecord {
    #[n(0)]
    pub(crate) resource: ResourceId,
    #[cbor(n(1), with = "minicbor::bytes")]
    pub(crate) note: Vec<u8>,
}
