//! Settings of the DNAnexus opening.

use serde::{Deserialize, Serialize};

use super::Seconds;

/// What the DNAnexus opening shows its clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dnanexus {
    /// The regions in which projects can be created, of which the first is that of all others. A region is a name: all contents are in
    /// the places of the store.
    pub regions: Vec<String>,
    /// How long a file is `unarchiving` before it is `live`. The store itself takes no time for that; DNAnexus takes hours.
    pub unarchiving_seconds: Seconds,
}

impl Default for Dnanexus {
    fn default() -> Self {
        Self { regions: vec!["aws:us-east-1".to_owned()], unarchiving_seconds: Seconds::new(0) }
    }
}
