//! Lists in responses: whole, or in pages that continue at a cursor.

use futures_util::{Stream, TryStreamExt, stream};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::{Client, Error, Result};

#[derive(Deserialize)]
struct Items<T> {
    items: Vec<T>,
}

#[derive(Deserialize)]
struct Page<T> {
    items: Vec<T>,
    /// Where the next page begins; `None` at the end.
    next: Option<String>,
}

impl Client {
    /// Sends a call whose response is a list.
    pub(in crate::api) async fn items<T: DeserializeOwned>(&self, call: Call) -> Result<Vec<T>> {
        let answer: Items<T> = self.json(call).await?;
        Ok(answer.items)
    }

    /// All items of a list, page by page. `page` is the call for the page after a cursor, or for the first one.
    pub(in crate::api) fn pages<'a, T: DeserializeOwned + 'a>(
        &'a self,
        page: impl Fn(Option<String>) -> Call + Copy + 'a,
    ) -> impl Stream<Item = Result<T>> + 'a {
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let found: Page<T> = self.json(page(after)).await?;
            let items = stream::iter(found.items.into_iter().map(Ok));
            Ok::<_, Error>(Some((items, found.next.map(Some))))
        });
        pages.try_flatten()
    }
}
