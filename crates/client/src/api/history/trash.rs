//! The trash: resources that were removed and are kept for a while.

use futures_util::Stream;
use http::HeaderMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Client, Resource, ResourceKind, Result};

/// How to restore a removed resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Its id in the trash, which is its former id.
    pub id: u64,
    /// How long it is kept.
    pub until: Timestamp,
}

impl Kept {
    /// `None` if the headers of a removal or a move do not mention the trash.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let text = |name| headers.get(name)?.to_str().ok();
        let id = text("cenote-trash")?.parse().ok()?;
        let until = text("cenote-trash-until")?.parse().ok()?;
        Some(Self { id, until })
    }
}

/// A removed resource that can be restored, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashItem {
    /// Its id, which is preserved when it is restored.
    pub id: u64,
    /// Its kind.
    pub kind: ResourceKind,
    /// Its path when it was removed.
    pub path: String,
    /// When it was removed.
    pub removed: Timestamp,
    /// Who removed it.
    pub removed_by: String,
    /// How long it is kept.
    pub until: Timestamp,
    /// The number of resources, including itself; `None` while they are being counted.
    pub resources: Option<u64>,
    /// The total size of their contents; `None` while it is being counted.
    pub bytes: Option<u64>,
}

/// What to restore, and where.
#[derive(Debug, Clone, Serialize)]
pub struct RestoreRemoved {
    /// The id of a removed resource.
    pub id: u64,
    /// Where to restore it, if not to its former collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Create missing parent collections.
    pub parents: bool,
}

#[derive(Deserialize)]
struct Emptied {
    items: u64,
}

impl Client {
    /// All removed resources that the caller can restore, or those that were below a collection, page by page.
    pub fn trash<'a>(
        &'a self,
        below: Option<&'a str>,
    ) -> impl Stream<Item = Result<TrashItem>> + 'a {
        self.pages(move |after| {
            Call::get("/v1/trash").query_opt("path", below).query_opt("after", after)
        })
    }

    /// Restores a removed resource, with everything below it.
    pub async fn restore_removed(&self, restore: &RestoreRemoved) -> Result<Resource> {
        self.json(Call::post("/v1/trash/restore").json(restore)).await
    }

    /// Permanently deletes a removed resource, or all that the caller could restore; returns how many.
    pub async fn empty_trash(&self, id: Option<u64>) -> Result<u64> {
        let body = match id {
            Some(id) => serde_json::json!({ "id": id }),
            None => serde_json::json!({ "all": true }),
        };
        let emptied: Emptied = self.json(Call::post("/v1/trash/empty").json(&body)).await?;
        Ok(emptied.items)
    }
}
