//! Changes that lose nothing: read, change, and write if nobody else has written in the meantime.

use std::convert::Infallible;

use bytes::Bytes;
use cenote_keyset::{KeyName, KeySet};
use cenote_store::{At, Caller, Conditions, ErrorKind, Expected, PutOptions, Stat, StorePath};
use futures_util::stream;

use super::content::{Content, check_size};
use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// How often others may be faster. Those of this server take turns, so it takes many servers.
const ATTEMPTS: u32 = 64;

/// A change of a key set in the store.
pub(super) struct Change {
    pub(super) at: At,
    pub(super) parent: KeyName,
    pub(super) conditions: Conditions,
}

impl Change {
    /// Makes it; `edit` runs again on what another writer has left.
    pub(super) async fn make<T: Send + 'static>(
        &self,
        app: &App,
        caller: Caller,
        edit: impl Fn(&mut KeySet) -> Result<T, Problem> + Clone + Send + 'static,
    ) -> Result<(T, Stat), Problem> {
        let _turn = app.key_set_turn().await;
        for _ in 0..ATTEMPTS {
            let content = Content::open(app, caller.clone(), self.at.clone(), None).await?;
            if !content.meets(&self.conditions) {
                return Err(changed(content.path()));
            }
            let (path, tag) = (content.path().clone(), content.tag());
            let (answer, bytes) = self.edited(app, content, edit.clone()).await?;
            match self.put(app, &caller, &path, tag, bytes).await {
                Err(error) if self.is_overtaken(&error) => {}
                stat => return Ok((answer, stat?)),
            }
        }
        let kind = ProblemKind::Store(ErrorKind::Conflict);
        Err(Problem::new(kind, "the key set kept changing").with_hint("try again"))
    }

    async fn edited<T: Send + 'static>(
        &self,
        app: &App,
        content: Content,
        edit: impl Fn(&mut KeySet) -> Result<T, Problem> + Send + 'static,
    ) -> Result<(T, Bytes), Problem> {
        let (stored, parent) = (content.read().await?, self.parent.clone());
        let most = app.limits().keyset_bytes;
        app.compute(move || {
            let mut keys = stored.keys(&parent)?;
            let answer = edit(&mut keys)?;
            let bytes = stored.rewritten(&keys, &parent)?;
            check_size(bytes.len() as u64, most)?;
            Ok((answer, bytes))
        })
        .await
    }

    /// Puts the bytes in the place of those that have this tag. The media type stays.
    async fn put(
        &self,
        app: &App,
        caller: &Caller,
        path: &StorePath,
        tag: String,
        bytes: Bytes,
    ) -> cenote_store::Result<Stat> {
        let if_match = self.conditions.if_match.clone().or(Some(tag));
        let options = PutOptions {
            conditions: Conditions { if_match, if_absent: false },
            expected: Expected { length: Some(bytes.len() as u64), ..Expected::default() },
            ..PutOptions::default()
        };
        let bytes = stream::iter([Ok::<_, Infallible>(bytes)]);
        app.store().put(caller, path, bytes, options).await
    }

    /// Whether another writer came first, where the caller named no state that must not have changed.
    fn is_overtaken(&self, error: &cenote_store::Error) -> bool {
        self.conditions.if_match.is_none()
            && matches!(error.kind(), ErrorKind::Precondition | ErrorKind::Conflict)
    }
}

fn changed(path: &StorePath) -> Problem {
    let kind = ProblemKind::Store(ErrorKind::Precondition);
    Problem::new(kind, format!("it has changed: {path}")).with_hint("read it again, then decide")
}
