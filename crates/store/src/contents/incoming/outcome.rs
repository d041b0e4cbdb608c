//! What becomes of a blob that was written: the catalog knows it, or it is deleted.

use super::received::{NewBlob, ReceivedBlob};
use crate::catalog::BlobCopy;
use crate::places::Claim;
use crate::{Error, ErrorKind, Result, Store};

impl Store {
    /// Passes the outcome of a publication on. If that is certain to have failed, the blob is deleted.
    pub(crate) async fn published<T>(
        &self,
        blob: Option<NewBlob>,
        outcome: Result<T>,
    ) -> Result<T> {
        self.settle_blob(blob, outcome.as_ref().err()).await;
        outcome
    }

    /// The same for a part of what was published.
    pub(crate) async fn settle_blob(&self, blob: Option<NewBlob>, fault: Option<&Error>) {
        match (blob, fault) {
            // A change set holds it until its end.
            (Some(_), None) if self.is_within() => {}
            (Some(blob), None) => blob.settle(),
            (Some(blob), Some(error)) if error.kind() != ErrorKind::Unknown => {
                self.discard(blob).await;
            }
            _ => {}
        }
    }

    /// Deletes the blob of received bytes that were not used after all, unless the catalog knows it. Not for bytes
    /// of which it is unknown whether they were published: [`ErrorKind::Unknown`].
    pub async fn discard_unused(&self, blob: ReceivedBlob) {
        self.discard(blob.0).await;
    }

    /// Deletes a blob that nothing has referred to. If that fails, the sweep finds it.
    pub(crate) async fn discard(&self, blob: NewBlob) {
        let ours = blob.record.copies.iter().filter(|copy| matches!(copy, BlobCopy::Kept(_)));
        for (copy, claim) in ours.zip(&blob.claims) {
            self.delete_claimed(blob.id, copy.place(), claim).await;
        }
    }
}

impl NewBlob {
    /// The catalog knows it.
    pub(crate) fn settle(&self) {
        self.claims.iter().for_each(Claim::settle);
    }
}
