//! Wrong passwords through each opening: they delay later attempts, but no known callers.

use std::sync::Arc;

use cenote_blob::Place;
use cenote_server::{Config, Limits, router};
use cenote_store::{Clock, Parts, Store, Time};

use crate::catalog::parts_on;
use crate::support::{ADMIN, Answer, TestServer, basic};

/// Time stands still, so that the test does not depend on its speed.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        Time::from_secs(1_700_000_000)
    }
}

fn server(limits: Limits) -> TestServer {
    let parts = Parts { clock: Arc::new(Still), ..parts_on(Place::memory("main")) };
    let store = Store::create_new(parts, ADMIN.0, ADMIN.1).unwrap();
    TestServer { router: router(store, &Config { limits, ..Config::default() }) }
}

/// Where each opening accepts a password.
const OPENINGS: [(&str, &str); 3] = [
    ("GET", "/v1/whoami"),
    ("POST", "/irods-http-api/0.7.0/authenticate"),
    ("POST", "/irods-rest/0.9.3/auth"),
];

async fn log_in(server: &TestServer, opening: (&str, &str), password: &str) -> Answer {
    let request = server.request_as(None, opening.0, opening.1);
    request.header("authorization", &basic((ADMIN.0, password))).send().await
}

#[tokio::test]
async fn wrong_passwords_delay_later_attempts_in_every_opening() {
    for opening in OPENINGS {
        let server = server(Limits { login_failures: 2, ..Limits::default() });
        for _ in 0..3 {
            let wrong = log_in(&server, opening, "wrong").await;
            let status = if opening.1.contains("rest") { 400 } else { 401 };
            assert_eq!(wrong.status, status, "{opening:?} {wrong:?}");
        }
        let soon = log_in(&server, opening, ADMIN.1).await;
        assert_eq!(soon.status, 429, "{opening:?} {soon:?}");
        assert_eq!(soon.header("retry-after"), "1", "{opening:?}");
        match opening.1 {
            "/v1/whoami" => drop(soon.problem(429, "too-soon")),
            "/irods-rest/0.9.3/auth" => assert_eq!(soon.json()["error_code"], -826_000),
            _ => assert!(soon.body.is_empty(), "{soon:?}"),
        }
    }
}

#[tokio::test]
async fn known_callers_are_admitted_whatever_others_tried() {
    let locking = Limits { login_lockout_failures: 3, ..Limits::default() };
    for limits in [Limits::default(), locking] {
        let server = server(limits);
        assert_eq!(log_in(&server, OPENINGS[0], ADMIN.1).await.status, 200);
        for n in 0..20 {
            let wrong = log_in(&server, OPENINGS[n % 3], "wrong").await;
            assert!([400, 401, 429].contains(&wrong.status.as_u16()), "{wrong:?}");
        }
        for opening in OPENINGS {
            let known = log_in(&server, opening, ADMIN.1).await;
            assert_eq!(known.status, 200, "{opening:?} {known:?}");
        }
    }
}

#[tokio::test]
async fn an_account_is_locked_only_if_configured() {
    let limits = Limits {
        login_failures: 100,
        login_lockout_failures: 3,
        login_lockout_seconds: 600,
        ..Limits::default()
    };
    let server = server(limits);
    for _ in 0..3 {
        log_in(&server, OPENINGS[0], "wrong").await.problem(401, "unauthenticated");
    }
    let locked = log_in(&server, OPENINGS[0], ADMIN.1).await;
    locked.problem(429, "too-soon");
    assert_eq!(locked.header("retry-after"), "600");
}

#[tokio::test]
async fn an_unknown_name_is_delayed_in_the_same_way() {
    let server = server(Limits { login_failures: 1, ..Limits::default() });
    let nobody = async || {
        let request = server.request_as(None, "GET", "/v1/whoami");
        request.header("authorization", &basic(("nobody", "wrong"))).send().await
    };
    let words = |answer: Answer| answer.json()["detail"].clone();
    for status in [401, 401, 429] {
        let (real, made_up) = (log_in(&server, OPENINGS[0], "wrong").await, nobody().await);
        assert_eq!((real.status.as_u16(), made_up.status.as_u16()), (status, status));
        assert_eq!(words(real), words(made_up));
    }
}
