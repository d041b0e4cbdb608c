//! The format of the store.

use cenote_store::Upgraded;
use serde::Serialize;
use utoipa::ToSchema;

/// The format of the store before and after it was upgraded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Upgrade {
    /// The former format; the same if there was nothing to do.
    pub(crate) from: u32,
    /// The format that it has now.
    pub(crate) to: u32,
}

impl From<Upgraded> for Upgrade {
    fn from(Upgraded { from, to }: Upgraded) -> Self {
        Self { from, to }
    }
}
