//! The trash: what was removed and is kept for a while.

use futures_util::{Stream, TryStreamExt, stream};
use http::HeaderMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Client, Error, Resource, ResourceKind, Result};

/// How what was removed can be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Its id in the trash: the one that it had.
    pub id: u64,
    /// It is kept until then.
    pub until: Timestamp,
}

impl Kept {
    /// None if the headers of a removal say nothing of the trash.
    pub(crate) fn read(headers: &HeaderMap) -> Option<Self> {
        let text = |name| headers.get(name)?.to_str().ok();
        let id = text("cenote-trash")?.parse().ok()?;
        let until = text("cenote-trash-until")?.parse().ok()?;
        Some(Self { id, until })
    }
}

/// A removed resource that can be restored, with all below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashItem {
    /// Its id, which it has again when it is restored.
    pub id: u64,
    /// What it is.
    pub kind: ResourceKind,
    /// Its path when it was removed.
    pub path: String,
    /// When it was removed.
    pub removed: Timestamp,
    /// Who removed it.
    pub removed_by: String,
    /// It is kept until then.
    pub until: Timestamp,
    /// How many resources there are, itself among them; none while they are counted.
    pub resources: Option<u64>,
    /// Bytes of their contents; none while they are counted.
    pub bytes: Option<u64>,
}

/// What to restore, and where to.
#[derive(Debug, Clone, Serialize)]
pub struct RestoreRemoved {
    /// The id of a removed resource.
    pub id: u64,
    /// Where to, if not to the collection that it was in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Create the collections on the way, where they are gone.
    pub parents: bool,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<TrashItem>,
    next: Option<String>,
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
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let call = Call::get("/v1/trash").query_opt("path", below).query_opt("after", after);
            let page: Page = self.json(call).await?;
            let items = stream::iter(page.items.into_iter().map(Ok));
            Ok::<_, Error>(Some((items, page.next.map(Some))))
        });
        pages.try_flatten()
    }

    /// Restores a removed resource, with all below it.
    pub async fn restore_removed(&self, restore: &RestoreRemoved) -> Result<Resource> {
        self.json(Call::post("/v1/trash/restore").json(restore)).await
    }

    /// Removes a removed resource for good, or all that the caller could restore; says how many that were.
    pub async fn empty_trash(&self, id: Option<u64>) -> Result<u64> {
        let body = match id {
            Some(id) => serde_json::json!({ "id": id }),
            None => serde_json::json!({ "all": true }),
        };
        let emptied: Emptied = self.json(Call::post("/v1/trash/empty").json(&body)).await?;
        Ok(emptied.items)
    }
}
