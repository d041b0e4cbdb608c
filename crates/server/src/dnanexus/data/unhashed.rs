//! The MD5 of files that another opening stored, which clients compare with what they downloaded: computed once, when
//! their parts are requested.
//!
//! What a call may have read for this is bounded. A larger file has no MD5, and clients do not check it.

use std::sync::{Arc, Mutex, PoisonError};

use cenote_store::{Algorithm, ResourceId, Stat};

use crate::dnanexus::call::question::Call;

/// The most bytes that a call reads.
const MOST: u64 = 1 << 30;

/// The files that a call has found, and their bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unhashed(Arc<Mutex<(Vec<ResourceId>, u64)>>);

impl Unhashed {
    /// A file without an MD5.
    pub(crate) fn note(&self, file: &Stat) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sum) = noted.1.checked_add(file.size()).filter(|sum| *sum <= MOST) {
            noted.0.push(file.id);
            noted.1 = sum;
        }
    }

    fn take(&self) -> Vec<ResourceId> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).0)
    }
}

/// Computes what a call has noted; whether there was something.
pub(crate) async fn compute(call: &Call) -> bool {
    let files = call.unhashed.take();
    for id in &files {
        let _turn = call.app.format_turn().await;
        if let Err(error) = call.store().compute_digest_by(*id, Algorithm::Md5).await {
            tracing::warn!(%id, %error, "could not compute an MD5");
        }
    }
    !files.is_empty()
}
