//! What searches for words take.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The index of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Its directory, which has nothing else in it; `text` in the store's directory unless it is set. It is made when somebody searches
    /// for words, and may be deleted while the server is stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<PathBuf>,
}
