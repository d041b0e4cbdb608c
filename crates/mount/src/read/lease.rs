//! Leases of contents that are read with several requests, so that the server has them even if the objects are replaced or removed meanwhile.
//!
//! Invariant: nothing waits for a lease unless the object has another content already: it is taken beside the second request, and renewed for as long as the
//! reader exists. A server that does not lease contents is asked once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cenote_client::At;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::remote::Remote;
use crate::error::Fault;
use crate::source::Source;

/// The duration of a lease, and after which time it is renewed.
const SECONDS: u32 = 300;
const RENEWAL: Duration = Duration::from_secs(100);

/// Whether contents are leased.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    /// The server does not lease contents to this client.
    refused: AtomicBool,
}

/// A lease, which ends with this.
#[derive(Debug)]
pub(super) struct Lease {
    /// Its id, once it is known; none while there is no lease. Closed if there will be none.
    id: watch::Receiver<Option<String>>,
    /// The lease ends when this is dropped.
    _used: oneshot::Sender<()>,
}

impl Leases {
    /// Leases a content, if the server does that.
    pub(super) fn begin(self: &Arc<Self>, content: &Remote) -> Lease {
        let (sender, id) = watch::channel(None);
        let (used, ended) = oneshot::channel();
        let is_leased = !content.source.is_past() && !self.refused.load(Ordering::Relaxed);
        if is_leased && let Some(etag) = content.etag.clone() {
            let (leases, content) = (Arc::clone(self), content.clone());
            tokio::spawn(async move { leases.hold((&content, &etag), (sender, ended)).await });
        }
        Lease { id, _used: used }
    }

    /// Holds a lease until it is not used any more, or cannot be had.
    async fn hold(
        &self,
        (content, etag): (&Remote, &str),
        (sender, mut ended): (watch::Sender<Option<String>>, oneshot::Receiver<()>),
    ) {
        let (source, at) = (&content.source, At::Id(content.place.id));
        loop {
            let lease = match source.aside(source.client.lease_content(&at, etag, SECONDS)).await {
                Ok(lease) => lease.lease,
                Err(fault) => return self.note(&fault),
            };
            sender.send_replace(Some(lease.clone()));
            if !is_lost(source, &lease, &mut ended).await {
                // One that cannot be ended expires.
                let _expires = source.aside(source.client.end_lease(&lease)).await;
                return;
            }
            sender.send_replace(None);
        }
    }

    fn note(&self, fault: &Fault) {
        // A server that does not know such leases finds the request invalid.
        let refused = [libc::EACCES, libc::EINVAL].contains(&fault.errno);
        self.refused.fetch_or(refused, Ordering::Relaxed);
    }
}

/// Renews a lease until it is not used any more; or, if the server does not have it, until then.
async fn is_lost(source: &Source, lease: &str, ended: &mut oneshot::Receiver<()>) -> bool {
    while timeout(RENEWAL, &mut *ended).await.is_err() {
        let renewed = source.aside(source.client.renew_lease(lease, SECONDS)).await;
        // A server that is away is asked again; one that was restarted leases the content again, if it has it.
        if renewed.is_err_and(|fault| !fault.away && !fault.is_late()) {
            return true;
        }
    }
    false
}

impl Lease {
    /// Its id, which may be on its way; none if there is no lease.
    pub(super) async fn id(&self) -> Option<String> {
        let mut id = self.id.clone();
        let found = id.wait_for(Option::is_some).await.ok()?;
        found.clone()
    }
}
