//! The records of servers that have one catalog open.

use minicbor::{Decode, Encode};

use super::{JobRecord, Tally};
use crate::model::Time;

/// Names a server from when it shows itself until it leaves, or is missed. Random.
pub(crate) type ServerId = [u8; 16];

/// A server that has the catalog open.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct ServerRecord {
    /// Counts its signs of life.
    #[n(0)]
    pub(crate) beat: u64,
    /// When its oldest reader, hold or change set began; none without any.
    #[n(1)]
    pub(crate) reading: Option<Time>,
    /// The newest format that it knows; none from programs before [`UNSAID`] had a successor.
    #[n(2)]
    pub(crate) newest_format: Option<u32>,
}

/// The format of programs whose servers do not say which they know.
const UNSAID: u32 = 8;

impl ServerRecord {
    /// The newest format that the server knows.
    pub(crate) fn newest_format(&self) -> u32 {
        self.newest_format.unwrap_or(UNSAID)
    }
}

/// The server that holds a claim, or does the background work.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct HolderRecord {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) server: ServerId,
}

/// A job that is over, for those who ask another server about it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct FinishedRecord {
    #[n(0)]
    pub(crate) job: JobRecord,
    #[n(1)]
    pub(crate) tally: Tally,
    /// What the last failure was.
    #[n(2)]
    pub(crate) fault: Option<String>,
    #[n(3)]
    pub(crate) ended: Time,
}

/// A key that all servers have.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct KeyRecord {
    #[cbor(n(0), with = "minicbor::bytes")]
    pub(crate) key: [u8; 32],
}
