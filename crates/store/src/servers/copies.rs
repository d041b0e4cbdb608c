//! Claims on copies of blobs over a catalog that several servers share, so that none deletes a copy that another one is making.
//!
//! Invariant: the copy of a blob that the catalog knows is made, rewritten or deleted by the server that the row of its claim names. It is
//! recorded in the commit that still finds that row, and deleted only while the server is sure of it. A blob that is new has an id that
//! no other server knows, and is claimed in memory alone.

use crate::catalog::{HolderRecord, Reads, ServerId, Transaction, keys};
use crate::model::PlaceId;
use crate::servers::CopyClaim;
use crate::{BlobId, Bytes, Error, ErrorKind, Result, Store};

impl Store {
    /// The right to make, rewrite or delete the copy of a blob that other servers may know; none if somebody else has it.
    pub(crate) fn claim_copy(&self, blob: BlobId, place: PlaceId) -> Result<Option<CopyClaim>> {
        let Some(claim) = self.inner.claims.take(blob, place) else { return Ok(None) };
        if !self.is_shared() {
            return Ok(Some(CopyClaim::alone(claim)));
        }
        let row = keys::copy_claim(blob, place);
        let claim = CopyClaim::shared(self, row.clone(), claim);
        let taken = self.itself().write_claim(&row);
        if !matches!(taken, Ok(true)) {
            // Nothing was made, so there is nothing to look at.
            claim.settle();
        }
        if matches!(taken, Ok(false)) {
            claim.was_used();
        }
        Ok(taken?.then_some(claim))
    }

    /// A row that this server has already is one that it could not remove, since it has the claim in memory.
    fn write_claim(&self, row: &Bytes) -> Result<bool> {
        let own = self.present()?;
        self.transact(|tx| {
            tx.frees_space();
            let holder = tx.get::<HolderRecord>(row)?;
            if holder.is_none() {
                require_present(tx, own)?;
                tx.put(row.clone(), &HolderRecord { server: own });
            }
            Ok(holder.is_none_or(|holder| holder.server == own))
        })
    }

    /// The id of this server, which shows itself first if it has not.
    fn present(&self) -> Result<ServerId> {
        if self.own_id().is_none() {
            self.beat()?;
        }
        self.own_id().ok_or_else(gone)
    }

    /// Has the commit of `tx` rest on the claim of this server, and return it.
    pub(crate) fn use_claim(
        &self,
        tx: &mut Transaction,
        blob: BlobId,
        place: PlaceId,
    ) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        let (own, row) = (self.own_id().ok_or_else(gone)?, keys::copy_claim(blob, place));
        match tx.get::<HolderRecord>(&row)?.is_some_and(|holder| holder.server == own) {
            true => tx.delete(row),
            false => return Err(gone()),
        }
        Ok(())
    }

    /// Whether a copy may be deleted now under a claim of this server.
    pub(crate) fn is_sure_of_claims(&self) -> bool {
        !self.is_shared() || self.own_id().is_some()
    }

    /// Removes the row of a claim, if it is still that of this server.
    pub(super) fn return_claim(&self, row: &Bytes) -> Result<()> {
        let Some(own) = self.inner.servers.own() else { return Ok(()) };
        self.transact(|tx| {
            tx.frees_space();
            if tx.get::<HolderRecord>(row)?.is_some_and(|holder| holder.server == own.id) {
                tx.delete(row.clone());
            }
            Ok(())
        })
    }
}

fn require_present(tx: &Transaction, own: ServerId) -> Result<()> {
    match tx.has(&keys::server(own))? {
        true => Ok(()),
        false => Err(gone()),
    }
}

fn gone() -> Error {
    let message = "the other servers over this catalog take this one for gone";
    Error::new(ErrorKind::Conflict, message).with_hint("try again")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use cenote_blob::Place;
    use futures_util::{StreamExt, stream};

    use super::*;
    use crate::catalog::{BlobCopy, BlobRecord};
    use crate::servers::testing::{ManualClock, pair};
    use crate::{At, Caller, PutOptions};

    const MAIN: PlaceId = PlaceId::MAIN;

    struct Copy {
        a: Store,
        b: Store,
        clock: Arc<ManualClock>,
        blob: BlobId,
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(work)
    }

    /// A blob in the main place that two servers know.
    fn copy() -> Copy {
        let (a, b, clock) = pair();
        let admin = admin(&a);
        let bytes = stream::iter([Ok::<_, Error>(Bytes::from(vec![7; 100_000]))]);
        let put = a.put(&admin, x(), bytes, PutOptions::default());
        run(put).unwrap();
        let rows = a.view().unwrap().rows(&keys::blobs(), 1).unwrap();
        let blob = keys::blob_id(&rows[0].0).unwrap();
        Copy { a, b, clock, blob }
    }

    fn x() -> At {
        At::Path("/x".parse().unwrap())
    }

    fn admin(store: &Store) -> Caller {
        store.caller_for(store.person_named("root").unwrap().0).unwrap()
    }

    fn kept(store: &Store) -> usize {
        let place: Place = store.known().open(MAIN).unwrap().clone();
        run(place.list().count())
    }

    impl Copy {
        /// Has the catalog forget the copy, as a trim does, and deletes it.
        fn trim(&self) {
            let forget = |tx: &mut Transaction| {
                let mut record = tx.get::<BlobRecord>(&keys::blob(self.blob))?.unwrap();
                record.copies.clear();
                tx.put(keys::blob(self.blob), &record);
                Ok(())
            };
            self.a.transact(forget).unwrap();
            run(self.a.delete_copy(self.blob, &BlobCopy::Kept(MAIN)));
        }

        fn retry(&self) {
            self.a.inner.due.retry();
            run(self.a.sweep_due()).unwrap();
        }

        fn beat(&self, secs: u64, servers: &[&Store]) {
            for _ in 0..secs / 2 {
                self.clock.advance(Duration::from_secs(2));
                servers.iter().for_each(|server| server.beat().unwrap());
            }
        }
    }

    #[test]
    fn a_copy_that_another_server_makes_is_deleted_only_once_its_claim_has_ended() {
        let it = copy();
        let claim = it.b.claim_copy(it.blob, MAIN).unwrap().unwrap();
        assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_none());
        it.trim();
        assert_eq!(kept(&it.a), 1);
        claim.settle();
        claim.end();
        it.retry();
        assert_eq!(kept(&it.a), 0);
        assert!(it.a.view().unwrap().rows(&keys::copy_claims(), 1).unwrap().is_empty());
    }

    /// What it was about to record is refused then.
    #[test]
    fn the_claim_of_a_server_that_is_gone_is_taken_over() {
        let it = copy();
        let claim = it.b.claim_copy(it.blob, MAIN).unwrap().unwrap();
        it.beat(18, &[&it.a]);
        it.trim();
        assert_eq!(kept(&it.a), 1);
        it.beat(6, &[&it.a]);
        it.retry();
        assert_eq!(kept(&it.a), 0);
        it.b.beat().unwrap();
        let late = it.b.transact(|tx| it.b.use_claim(tx, it.blob, MAIN));
        assert_eq!(late.unwrap_err().kind(), ErrorKind::Conflict);
        drop(claim);
    }

    #[test]
    fn a_server_that_is_not_sure_of_its_claim_deletes_nothing() {
        let it = copy();
        let claim = it.a.claim_copy(it.blob, MAIN).unwrap().unwrap();
        it.clock.advance(Duration::from_secs(10));
        run(it.a.delete_claimed(it.blob, MAIN, &claim));
        assert_eq!(kept(&it.a), 1, "the catalog knows it");
        let forget = |tx: &mut Transaction| {
            tx.delete(keys::blob(it.blob));
            Ok(())
        };
        it.b.transact(forget).unwrap();
        assert!(!run(it.a.delete_claimed(it.blob, MAIN, &claim)));
        assert_eq!(kept(&it.a), 1);
        it.a.beat().unwrap();
        assert!(run(it.a.delete_claimed(it.blob, MAIN, &claim)));
        assert_eq!(kept(&it.a), 0);
    }

    #[test]
    fn claims_end_with_what_they_were_for() {
        let it = copy();
        assert!(!run(it.a.copy_blob(it.blob, MAIN)).unwrap());
        it.trim();
        let found = it.b.open(&admin(&it.b), &x(), &Default::default());
        assert!(run(found.unwrap().read_all()).is_err());
        assert!(run(it.b.copy_blob(it.blob, MAIN)).is_err(), "there is no other copy");
        it.b.beat().unwrap();
        assert!(it.a.view().unwrap().rows(&keys::copy_claims(), 1).unwrap().is_empty());
    }
    /// Work under a claim that never ends by itself.
    async fn work_under_a_claim(it: &Copy) {
        let _claim = it.b.claim_copy(it.blob, MAIN).unwrap().unwrap();
        std::future::pending().await
    }

    #[test]
    fn the_claim_of_work_that_is_cancelled_ends_soon() {
        let it = copy();
        run(async {
            let mut work = Box::pin(work_under_a_claim(&it));
            assert!(futures_util::poll!(&mut work).is_pending());
            assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_none());
            drop(work);
            it.b.return_dropped(Duration::from_millis(200)).await;
        });
        assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_some());
        assert!(it.b.claim_copy(it.blob, MAIN).unwrap().is_none(), "others have it by now");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a thread that panics")]
    fn the_claim_of_work_that_panics_ends_with_the_next_sign_of_life() {
        let it = copy();
        let b = it.b.clone();
        let blob = it.blob;
        let work = std::thread::spawn(move || {
            let _claim = b.claim_copy(blob, MAIN).unwrap().unwrap();
            panic!("while it is held");
        });
        assert!(work.join().is_err());
        assert!(it.b.claim_copy(it.blob, MAIN).unwrap().is_none(), "its row is still there");
        it.b.beat().unwrap();
        assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_some());
    }

    #[test]
    fn a_claim_lasts_as_long_as_any_clone_of_it() {
        let it = copy();
        let claim = it.b.claim_copy(it.blob, MAIN).unwrap().unwrap();
        let clone = claim.clone();
        drop(claim);
        it.b.beat().unwrap();
        assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_none(), "a clone is left");
        drop(clone);
        it.b.beat().unwrap();
        assert!(it.a.claim_copy(it.blob, MAIN).unwrap().is_some());
    }
}
