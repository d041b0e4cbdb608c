//! Kept versions of contents.

use serde::{Deserialize, Serialize};

use super::resources::On;
use crate::call::Call;
use crate::{At, Client, Result, Version};

/// What to do with the versions of an object.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum VersionChange {
    /// Keep the current content as a version.
    Keep {
        /// Its label.
        #[serde(skip_serializing_if = "Option::is_none")]
        label: Option<String>,
    },
    /// Make a version the current content.
    Restore {
        /// The version.
        version: u64,
    },
    /// Drop the oldest versions.
    Prune {
        /// How many to keep.
        keep: u32,
    },
}

#[derive(Deserialize)]
struct Versions {
    items: Vec<Version>,
}

impl Client {
    /// The versions of an object, the newest first.
    pub async fn versions(&self, at: &At) -> Result<Vec<Version>> {
        let versions: Versions = self.json(Call::get("/v1/versions").at(at)).await?;
        Ok(versions.items)
    }

    /// Keeps, restores or prunes versions.
    pub async fn change_versions(&self, at: &At, change: &VersionChange) -> Result<()> {
        self.done(Call::post("/v1/versions").json(&On { at, body: change })).await
    }
}
