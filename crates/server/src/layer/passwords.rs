//! Verifying passwords.
//!
//! Invariants: a known caller never waits for another caller's password to be verified; verification has a
//! limited number of threads and a limited queue, so wrong passwords cannot take more than that from
//! everybody else.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use axum::http::Extensions;
use cenote_store::{Caller, Error, LoggedIn, Login};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::Peer;
use crate::app::App;
use crate::config::Limits;
use crate::problem::{Problem, ProblemKind};

/// Passwords waiting to be verified: beyond this number, more are refused.
const QUEUE: usize = 256;

/// The queue of passwords to verify.
#[derive(Debug)]
pub(crate) struct PasswordQueue {
    places: Semaphore,
    turns: Semaphore,
}

impl PasswordQueue {
    /// Each verification takes a core and 19 MiB for some 20 ms.
    pub(crate) fn new(limits: &Limits) -> Self {
        let turns = limits.login_verifications.clamp(1, Semaphore::MAX_PERMITS - QUEUE);
        Self { places: Semaphore::new(QUEUE + turns), turns: Semaphore::new(turns) }
    }

    /// Waits for a turn; `None` if too many are waiting already.
    async fn turn(&self) -> Option<[SemaphorePermit<'_>; 2]> {
        let place = self.places.try_acquire().ok()?;
        let turn = self.turns.acquire().await.expect("it is never closed");
        Some([place, turn])
    }
}

/// Why a login failed.
#[derive(Debug)]
pub(crate) enum NoLogin {
    /// The store refused: usually, the name or password is wrong.
    Refused(Error),
    /// It came too soon after wrong passwords.
    TooSoon(Duration),
    /// Too many are being verified, or the server failed.
    Failed(Problem),
}

/// A name and a password that have not been verified yet.
#[derive(Clone)]
pub(crate) struct Claim {
    pub(crate) name: String,
    pub(crate) password: String,
    pub(crate) address: IpAddr,
}

impl Claim {
    fn login<'a>(&'a self, limits: &'a cenote_store::LoginLimits) -> Login<'a> {
        let Self { name, password, address } = self;
        Login { name, password, address: Some(*address), limits }
    }
}

/// The address that a request comes from; localhost if the process itself makes it.
pub(crate) fn peer(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |Peer(ip)| *ip);
    peer.to_canonical()
}

/// Verifies a name and a password.
pub(crate) async fn log_in(app: &App, claim: Claim) -> Result<Caller, NoLogin> {
    let limits = app.limits().logins();
    let known = app.store().known_caller(&claim.login(&limits)).map_err(NoLogin::Refused)?;
    if let Some(caller) = known {
        return Ok(caller);
    }
    if let Some(wait) = app.store().login_wait(&claim.login(&limits)) {
        return Err(NoLogin::TooSoon(wait));
    }
    let Some(_turn) = app.passwords().turn().await else { return Err(NoLogin::Failed(busy())) };
    let logged_in = app.blocking(move |store| Ok(store.log_in(&claim.login(&limits)))).await;
    match logged_in.map_err(NoLogin::Failed)?.map_err(NoLogin::Refused)? {
        LoggedIn::As(caller) => Ok(caller),
        LoggedIn::TooSoon(wait) => Err(NoLogin::TooSoon(wait)),
    }
}

fn busy() -> Problem {
    Problem::new(ProblemKind::Overloaded, "too many passwords are waiting to be verified")
        .with_hint("try again in a second, or use a token")
}

impl From<NoLogin> for Problem {
    fn from(reason: NoLogin) -> Self {
        match reason {
            NoLogin::Refused(error) => error.into(),
            NoLogin::TooSoon(wait) => Self::too_soon(wait),
            NoLogin::Failed(problem) => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::sync::Arc;
    use std::task::Poll;

    use cenote_blob::Place;
    use cenote_kv::MemoryEngine;
    use cenote_store::{Clock, NewUser, Parts, Role, Store, Time};

    use super::*;
    use crate::config::Config;

    /// A clock that stands still, so that the test does not depend on its speed.
    #[derive(Debug)]
    struct Still;

    impl Clock for Still {
        fn now(&self) -> Time {
            Time::from_secs(1_700_000_000)
        }
    }

    fn app() -> App {
        let parts = Parts::new(MemoryEngine::new(), Place::memory("main"));
        let parts = Parts { clock: Arc::new(Still), ..parts };
        let store = Store::create_new(parts, "ada", "right").unwrap();
        let admin = store.directory_caller(None).unwrap();
        let password = Some("right".to_owned());
        let user = NewUser { name: "grace".to_owned(), password, role: Role::User };
        store.add_user(&admin, &user).unwrap();
        let limits = Limits { login_verifications: 1, ..Limits::default() };
        App::new(store, Config { limits, ..Config::default() })
    }

    fn claim(name: &str, password: &str, last: u8) -> Claim {
        let address = Ipv4Addr::new(10, 0, 0, last).into();
        Claim { name: name.to_owned(), password: password.to_owned(), address }
    }

    /// Many attempts, each of which progresses as far as it can before any of them finishes.
    async fn crowd<'a>(
        app: &'a App,
        claims: impl Iterator<Item = Claim>,
    ) -> Vec<Pin<Box<dyn Future<Output = Result<Caller, NoLogin>> + 'a>>> {
        let mut crowd = Vec::new();
        for claim in claims {
            let mut attempt: Pin<Box<dyn Future<Output = _>>> = Box::pin(log_in(app, claim));
            assert!(futures_util::poll!(&mut attempt).is_pending());
            crowd.push(attempt);
        }
        crowd
    }

    #[tokio::test]
    async fn a_known_caller_does_not_wait() {
        let app = app();
        assert!(log_in(&app, claim("ada", "right", 1)).await.is_ok());
        let turn = app.passwords().turn().await.unwrap();
        let wrong = (0..50).map(|n| claim("ada", &format!("wrong{n}"), n));
        let crowd = crowd(&app, wrong).await;
        let known = futures_util::poll!(pin!(log_in(&app, claim("ada", "right", 1))));
        assert!(matches!(known, Poll::Ready(Ok(_))));
        drop(turn);
        let mut outcomes = [0, 0];
        for attempt in crowd {
            match attempt.await {
                Err(NoLogin::Refused(_)) => outcomes[0] += 1,
                Err(NoLogin::TooSoon(_)) => outcomes[1] += 1,
                other => panic!("{other:?}"),
            }
        }
        // Attempts queued after the first six came too soon, and did not cost an Argon2 computation.
        assert_eq!(outcomes, [6, 44]);
        let still = futures_util::poll!(pin!(log_in(&app, claim("ada", "right", 1))));
        assert!(matches!(still, Poll::Ready(Ok(_))));
    }

    #[tokio::test]
    async fn a_caller_known_from_another_address_is_throttled_like_any_other() {
        let app = app();
        assert!(log_in(&app, claim("ada", "right", 1)).await.is_ok());
        for n in 0..6 {
            let refused = log_in(&app, claim("ada", &n.to_string(), 2)).await;
            assert!(matches!(refused, Err(NoLogin::Refused(_))), "{n}: {refused:?}");
        }
        let right = log_in(&app, claim("ada", "right", 2)).await;
        assert!(matches!(right, Err(NoLogin::TooSoon(_))), "{right:?}");
        assert!(log_in(&app, claim("ada", "right", 1)).await.is_ok());
        assert!(log_in(&app, claim("grace", "right", 2)).await.is_ok());
    }

    #[tokio::test]
    async fn many_concurrent_first_requests_are_all_admitted() {
        let app = app();
        let turn = app.passwords().turn().await.unwrap();
        let crowd = crowd(&app, (0..50).map(|_| claim("grace", "right", 1))).await;
        drop(turn);
        for attempt in crowd {
            assert!(attempt.await.is_ok());
        }
    }

    #[tokio::test]
    async fn the_queue_is_bounded() {
        let app = app();
        let _turn = app.passwords().turn().await.unwrap();
        let _crowd = crowd(&app, (0..QUEUE).map(|n| claim(&n.to_string(), "wrong", 1))).await;
        let turned = log_in(&app, claim("grace", "right", 1)).await.unwrap_err();
        assert_eq!(Problem::from(turned).status(), 503);
    }
}
