//! Many put in one commit, each with an answer of its own.

use super::{CreateOptions, Draft};
use crate::access::Slot;
use crate::catalog::Transaction;
use crate::contents::{NewBlob, PutOptions, Received};
use crate::model::{At, Stat, StorePath};
use crate::quotas::{in_use, require_room, settle};
use crate::{Caller, ErrorKind, Result, Store, resources};

/// One of many to put in one commit.
#[derive(Debug, Clone)]
pub struct BatchItem {
    /// Where.
    pub path: StorePath,
    /// What.
    pub what: BatchWhat,
    /// Options; for resources other than objects, only `parents`, `mode` and `mtime` count.
    pub options: PutOptions,
}

/// What to put.
#[derive(Debug, Clone)]
pub enum BatchWhat {
    /// An object with these bytes.
    Object(Box<Received>),
    /// A collection; it is not an error if it exists already.
    Collection,
    /// A symbolic link.
    Link(String),
}

/// How often a batch is tried for which a quota had room until others took it.
const BATCH_ATTEMPTS: usize = 8;

impl BatchItem {
    fn blob(&self) -> Option<NewBlob> {
        match &self.what {
            BatchWhat::Object(received) => received.blob.clone(),
            BatchWhat::Collection | BatchWhat::Link(_) => None,
        }
    }
}

impl Store {
    /// Puts many in one commit; each has its own answer, and those that are refused change nothing.
    ///
    /// # Errors
    /// If the store itself fails, for all of them: nothing is put.
    pub fn publish_many(&self, caller: &Caller, items: &[BatchItem]) -> Result<Vec<Result<Stat>>> {
        for _ in 0..BATCH_ATTEMPTS {
            match self.publish_all(caller, items) {
                // Concurrent changes used up the quota that would have been enough for all of them:
                // determine which ones still fit.
                Err(error) if error.kind() == ErrorKind::Quota => {}
                answers => return answers,
            }
        }
        self.publish_all(caller, items)
    }

    fn publish_all(&self, caller: &Caller, items: &[BatchItem]) -> Result<Vec<Result<Stat>>> {
        let paths: Vec<At> = items.iter().map(|item| At::from(&item.path)).collect();
        self.transact(|tx| {
            resources::read_ahead(tx, paths.iter())?;
            let is_limited = in_use(tx)?;
            let mut publish = |item| {
                if is_limited {
                    self.require_room_for(tx, caller, item)?;
                }
                self.publish_item(tx, caller, item)
            };
            let answers = items.iter().map(|item| match publish(item) {
                Err(error) if !error.is_refusal() => Err(error),
                answer => Ok(answer),
            });
            answers.collect()
        })
    }

    /// The same; what was received for those that are refused is not kept.
    pub async fn put_many(
        &self,
        caller: &Caller,
        items: Vec<BatchItem>,
    ) -> Result<Vec<Result<Stat>>> {
        let blobs: Vec<_> = items.iter().map(BatchItem::blob).collect();
        let caller = caller.clone();
        let outcomes = self.blocking(move |store| store.publish_many(&caller, &items)).await;
        for (n, blob) in blobs.into_iter().enumerate() {
            let fault = match &outcomes {
                Ok(outcomes) => outcomes[n].as_ref().err(),
                Err(error) => Some(error),
            };
            self.settle_blob(blob, fault).await;
        }
        outcomes
    }

    fn publish_item(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        item: &BatchItem,
    ) -> Result<Stat> {
        let options = &item.options;
        let create = CreateOptions {
            parents: options.parents,
            exist_ok: true,
            mode: options.mode,
            mtime: options.mtime,
        };
        match &item.what {
            BatchWhat::Object(received) => {
                self.publish_in(tx, caller, &At::from(&item.path), received, options)
            }
            BatchWhat::Collection => {
                self.create_in(tx, caller, &item.path, &Draft::Collection, create)
            }
            BatchWhat::Link(target) => {
                self.create_in(tx, caller, &item.path, &Draft::Link(target.clone()), create)
            }
        }
    }

    /// Refuses an item for which a quota leaves no room beside those before it.
    fn require_room_for(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        item: &BatchItem,
    ) -> Result<()> {
        settle(tx)?;
        let size = match &item.what {
            BatchWhat::Object(received) => received.size,
            BatchWhat::Collection | BatchWhat::Link(_) => 0,
        };
        match Slot::find(tx, caller, &item.path, item.options.parents) {
            Ok(slot) => require_room(tx, tx.now(), &slot, size, caller),
            // Reported below.
            Err(_) => Ok(()),
        }
    }
}
