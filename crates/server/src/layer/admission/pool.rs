//! Pools of shared resources, with limits per caller.
//!
//! Invariant: callers without a login share an allotment of their own, however many they are, and no caller
//! can take everything, so none deprives others of their share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cenote_store::Caller;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The account that a share is charged to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Account {
    /// All callers without a login, and those not yet identified, together.
    Anonymous,
    Caller(Arc<str>),
}

impl Account {
    #[expect(clippy::disallowed_methods, reason = "a share of the server, not a right")]
    pub(super) fn of(caller: &Caller) -> Self {
        match caller.is_anonymous() {
            true => Self::Anonymous,
            false => Self::Caller(caller.name().into()),
        }
    }
}

/// Why a share was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The pool is exhausted.
    All,
    /// The account has reached its limit.
    Account,
}

/// The size of a pool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) all: usize,
    pub(crate) caller: usize,
    pub(crate) anonymous: usize,
}

/// A shared resource, counted in units.
#[derive(Debug)]
pub(crate) struct Pool {
    all: Arc<Semaphore>,
    anonymous: Arc<Semaphore>,
    caller: usize,
    callers: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

/// Units taken from a pool until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    _all: OwnedSemaphorePermit,
    _account: OwnedSemaphorePermit,
}

/// Maximum number of remembered accounts, before those without a share are dropped.
const REMEMBERED: usize = 1_024;

impl Pool {
    pub(crate) fn new(sizes: Sizes) -> Self {
        let semaphore =
            |size: usize| Arc::new(Semaphore::new(size.clamp(1, Semaphore::MAX_PERMITS)));
        Self {
            all: semaphore(sizes.all),
            anonymous: semaphore(sizes.anonymous),
            caller: sizes.caller.clamp(1, Semaphore::MAX_PERMITS),
            callers: Mutex::default(),
        }
    }

    /// Takes a share at once, or returns why not.
    pub(super) fn try_take(&self, account: &Account, units: u32) -> Result<Share, Full> {
        let all = Arc::clone(&self.all).try_acquire_many_owned(units).map_err(|_| Full::All)?;
        let account = self.of(account).try_acquire_many_owned(units).map_err(|_| Full::Account)?;
        Ok(Share { _all: all, _account: account })
    }

    /// Waits for a share, in first-in, first-out order.
    pub(super) async fn take(&self, account: &Account, units: u32) -> Share {
        let account = self.of(account).acquire_many_owned(units).await.expect("it is never closed");
        let all = Arc::clone(&self.all).acquire_many_owned(units);
        Share { _all: all.await.expect("it is never closed"), _account: account }
    }

    fn of(&self, account: &Account) -> Arc<Semaphore> {
        let Account::Caller(name) = account else { return Arc::clone(&self.anonymous) };
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = callers.get(name).and_then(Weak::upgrade) {
            return known;
        }
        if callers.len() >= REMEMBERED {
            callers.retain(|_, shares| shares.strong_count() > 0);
        }
        let new = Arc::new(Semaphore::new(self.caller));
        callers.insert(Arc::clone(name), Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Account {
        Account::Caller(name.into())
    }

    #[test]
    fn no_account_uses_the_share_of_others() {
        let pool = Pool::new(Sizes { all: 10, caller: 4, anonymous: 3 });
        let nobody: Vec<_> =
            (0..3).map(|_| pool.try_take(&Account::Anonymous, 1).unwrap()).collect();
        assert_eq!(pool.try_take(&Account::Anonymous, 1).unwrap_err(), Full::Account);
        let ada = pool.try_take(&named("ada"), 4).unwrap();
        assert_eq!(pool.try_take(&named("ada"), 1).unwrap_err(), Full::Account);
        let grace = pool.try_take(&named("grace"), 3).unwrap();
        assert_eq!(pool.try_take(&named("grace"), 1).unwrap_err(), Full::All);
        drop((ada, nobody));
        assert!(pool.try_take(&named("ada"), 4).is_ok(), "nothing is lost where it was refused");
        drop(grace);
        assert_eq!(pool.all.available_permits(), 10);
    }

    #[test]
    fn accounts_without_a_share_are_forgotten() {
        let pool = Pool::new(Sizes { all: 10, caller: 4, anonymous: 3 });
        for n in 0..3 * REMEMBERED {
            pool.try_take(&named(&n.to_string()), 1).unwrap();
        }
        assert!(pool.callers.lock().unwrap().len() <= REMEMBERED);
    }
}
