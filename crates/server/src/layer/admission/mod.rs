//! The server resources held by a request: a slot among the active requests or among the waiting ones, and
//! memory for its body.
//!
//! Invariants: a request that waits for its client, or for something to happen, holds no active slot; and everything
//! a request holds is released when the last byte of its response has been taken, or the request is abandoned.

mod pool;

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;
use cenote_store::Caller;

use self::pool::{Account, Full, Pool, Share, Sizes};
use crate::app::App;
use crate::config::Limits;
use crate::listen;
use crate::metrics::Counted;
use crate::problem::{Problem, ProblemKind};

/// The pools shared by all requests.
#[derive(Debug)]
pub(crate) struct Pools {
    requests: Pool,
    waits: Pool,
    /// In units of [`UNIT`].
    buffers: Pool,
}

/// Memory is counted in units of this many bytes.
const UNIT: usize = 4 << 10;

impl Pools {
    pub(crate) fn new(limits: &Limits) -> Self {
        let Limits { requests, requests_per_caller, anonymous_requests, .. } = *limits;
        let requests =
            Sizes { all: requests, caller: requests_per_caller, anonymous: anonymous_requests };
        Self {
            requests: Pool::new(requests),
            waits: Pool::new(parts(limits.waits)),
            buffers: Pool::new(parts(limits.buffer_bytes / UNIT)),
        }
    }
}

/// At most half for one caller, and a quarter for all callers without a login together.
fn parts(all: usize) -> Sizes {
    Sizes { all, caller: all / 2, anonymous: all / 4 }
}

/// What one request holds.
#[derive(Debug, Clone)]
pub(crate) struct Admission(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    app: App,
    handle: Option<listen::Handle>,
    shares: Mutex<Shares>,
}

#[derive(Debug, Default)]
struct Shares {
    /// `None` before the caller is known: then it has no slot.
    account: Option<Account>,
    place: Option<Share>,
    wait: Option<(Share, Counted)>,
    buffers: Vec<Share>,
}

impl Admission {
    pub(super) fn new(app: App, extensions: &Extensions) -> Self {
        let handle = extensions.get().cloned();
        Self(Arc::new(Inner { app, handle, shares: Mutex::default() }))
    }

    /// The admission of a request.
    pub(crate) fn of(extensions: &Extensions) -> Result<Self, Problem> {
        let found = extensions.get().cloned();
        found.ok_or_else(|| Problem::new(ProblemKind::Internal, "the route has no admission"))
    }

    /// Takes a slot for the caller, or refuses.
    pub(crate) fn enter(&self, caller: &Caller) -> Result<(), Problem> {
        let account = Account::of(caller);
        if let (Some(handle), Account::Caller(_)) = (&self.0.handle, &account) {
            handle.mark_authenticated();
        }
        let place = self.pools().requests.try_take(&account, 1);
        let place = place.map_err(|full| self.refused(full, &account, "requests"))?;
        let mut shares = self.shares();
        shares.place = Some(place);
        shares.account = Some(account);
        Ok(())
    }

    /// Waits, without a slot, for something that the client has to send or that has to happen; then for a slot again.
    pub(crate) async fn aside<T>(&self, work: impl Future<Output = T>) -> Result<T, Problem> {
        let mut work = pin!(work);
        if let Poll::Ready(done) = futures_util::poll!(work.as_mut()) {
            return Ok(done);
        }
        self.leave()?;
        let done = work.await;
        self.come_back().await?;
        Ok(done)
    }

    fn leave(&self) -> Result<(), Problem> {
        let mut shares = self.shares();
        let (Some(account), Some(_)) = (&shares.account, &shares.place) else { return Ok(()) };
        let wait = self.pools().waits.try_take(account, 1);
        let wait = wait.map_err(|full| self.refused(full, account, "waits"))?;
        shares.wait = Some((wait, self.0.app.metrics().waiting()));
        shares.place = None;
        Ok(())
    }

    async fn come_back(&self) -> Result<(), Problem> {
        let account = match &*self.shares() {
            Shares { account: Some(account), place: None, .. } => account.clone(),
            _ => return Ok(()),
        };
        let place = self.pools().requests.take(&account, 1);
        let Ok(place) = tokio::time::timeout(self.0.app.limits().request(), place).await else {
            return Err(self.refused(Full::All, &account, "requests"));
        };
        let mut shares = self.shares();
        shares.place = Some(place);
        shares.wait = None;
        Ok(())
    }

    /// Reserves memory for this many more bytes.
    pub(crate) fn keep(&self, bytes: usize) -> Result<(), Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let mut shares = self.shares();
        let account = shares.account.clone().unwrap_or(Account::Anonymous);
        let share = self.pools().buffers.try_take(&account, units);
        shares.buffers.push(share.map_err(|full| self.refused(full, &account, "buffers"))?);
        Ok(())
    }

    /// Releases all memory.
    pub(crate) fn forget(&self) {
        self.shares().buffers.clear();
    }

    fn refused(&self, full: Full, account: &Account, what: &'static str) -> Problem {
        self.0.app.metrics().refused(what);
        match (full, account) {
            (Full::All, _) => Problem::new(ProblemKind::Overloaded, "too many requests at a time")
                .with_hint("try again in a second"),
            (_, Account::Anonymous) => {
                let detail = "too many requests at a time from callers without a login";
                Problem::new(ProblemKind::TooMany, detail)
                    .with_hint("log in, or try again in a second")
            }
            _ => Problem::new(ProblemKind::TooMany, "you have too many requests at a time")
                .with_hint("send fewer at a time, or try again in a second"),
        }
    }

    fn pools(&self) -> &Pools {
        self.0.app.pools()
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.0.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromRequestParts<App> for Admission {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Self::of(&parts.extensions)
    }
}
