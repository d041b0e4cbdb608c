//! Logins by password, and their end.

use std::sync::Arc;

use cenote_server::{Config, router};
use cenote_store::{Clock, Time};
use serde_json::{Value, json};

use super::{Client, Platform, refusal, text};
use crate::support::{Answer, TestServer, USER, sha256, store_at};

const NOW: i64 = 1_700_000_000;

/// Time stands still, so that the test does not depend on its speed.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Time {
        Time::from_secs(NOW)
    }
}

fn still() -> Platform {
    let store = store_at(Arc::new(Still));
    Platform { server: TestServer { router: router(store.clone(), &Config::default()) }, store }
}

async fn log_in(platform: &Platform, input: Value) -> Answer {
    platform.server.request_as(None, "POST", "/system/newAuthToken").json(&input).send().await
}

fn client<'a>(platform: &'a Platform, token: &str) -> Client<'a> {
    Client { server: &platform.server, bearer: format!("Bearer {token}") }
}

fn signature(token: &str) -> String {
    hex::encode(sha256(token))
}

#[tokio::test]
async fn a_password_creates_a_login_that_its_token_can_end() {
    let platform = Platform::new();
    let input = json!({ "username": USER.0, "password": USER.1, "otp": null });
    let answer = log_in(&platform, input.clone()).await.expect(200);
    assert_eq!(answer["token_type"], "Bearer");
    let (token, other) = (
        text(&answer["access_token"]),
        text(&log_in(&platform, input).await.expect(200)["access_token"]),
    );
    let grace = client(&platform, &token);
    assert_eq!(grace.call("system", "whoami", json!({})).await["id"], "user-grace");
    let end = |token: &str| json!({ "tokenSignature": signature(token) });
    grace.refused("system", "destroyAuthToken", end(&other), "ResourceNotFound").await;
    grace.call("system", "destroyAuthToken", end(&token)).await;
    grace.refused("system", "whoami", json!({}), "InvalidAuthentication").await;
    client(&platform, &other).call("system", "whoami", json!({})).await;
}

#[tokio::test]
async fn any_token_can_revoke_itself_and_the_tokens_that_it_created() {
    let platform = Platform::new();
    let ada = platform.ada();
    let token = ada.bearer.strip_prefix("Bearer ").unwrap();
    let end = json!({ "tokenSignature": signature(token).to_uppercase() });
    ada.call("system", "destroyAuthToken", end).await;
    ada.refused("system", "whoami", json!({}), "InvalidAuthentication").await;
}

#[tokio::test]
async fn a_wrong_login_is_refused_and_delays_later_attempts() {
    let platform = still();
    for input in [
        json!({}),
        json!({ "username": USER.0 }),
        json!({ "username": 1, "password": USER.1 }),
        json!({ "username": USER.0, "password": USER.1, "expires": 1 }),
        json!({ "username": USER.0, "password": USER.1, "expires": "1" }),
    ] {
        refusal(&log_in(&platform, input).await, "InvalidInput");
    }
    let platform = still();
    let wrong = json!({ "username": USER.0, "password": "no" });
    for _ in 0..6 {
        let answer = log_in(&platform, wrong.clone()).await;
        assert_eq!(answer.expect(401)["error"]["type"], "UsernameOrPasswordError");
    }
    let answer = log_in(&platform, wrong).await;
    assert_eq!(answer.expect(429)["error"]["type"], "RateLimitConditional");
    assert!(answer.header("retry-after").parse::<u64>().is_ok_and(|wait| wait > 0));
}

#[tokio::test]
async fn a_login_lasts_for_the_requested_time() {
    let platform = still();
    let soon = (NOW + 3_600) * 1_000;
    let input = json!({ "username": "user-grace", "password": USER.1, "expires": soon });
    log_in(&platform, input).await.expect(200);
    let tokens =
        platform.server.request_as(Some(USER), "GET", "/v1/tokens").send().await.expect(200);
    let expires = text(&tokens["items"][0]["expires"]).parse::<jiff::Timestamp>().unwrap();
    assert_eq!(expires.as_millisecond(), soon);
}
