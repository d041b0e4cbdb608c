//! Webhooks: activities posted to a receiver of the settings.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_server::{Config, Ldp, Seconds, Server, Webhook, router};
use cenote_store::{CreateOptions, Draft, Store};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::running::Running;
use crate::support::{ADMIN, TestServer, USER, store};

const SECRET: &str = "a secret that receivers know";

/// A request received: its headers and its body.
type Sent = (HeaderMap, String);

/// A receiver that accepts requests, unless it is set to refuse a number of them.
struct Receiver {
    url: String,
    sent: UnboundedReceiver<Sent>,
    refusals: Arc<Mutex<usize>>,
}

type Shared = (UnboundedSender<Sent>, Arc<Mutex<usize>>);

async fn take(
    State((sender, refusals)): State<Shared>,
    headers: HeaderMap,
    body: String,
) -> StatusCode {
    let mut left = refusals.lock().unwrap();
    if *left > 0 {
        *left -= 1;
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    sender.send((headers, body)).unwrap();
    StatusCode::NO_CONTENT
}

impl Receiver {
    async fn new() -> Self {
        let (sender, sent) = unbounded_channel();
        let refusals = Arc::new(Mutex::new(0));
        let router =
            Router::new().route("/told", post(take)).with_state((sender, refusals.clone()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/told", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, sent, refusals }
    }

    async fn next(&mut self) -> (HeaderMap, Value) {
        let (headers, body) = self.sent.recv().await.unwrap();
        check(&headers, &body);
        (headers, serde_json::from_str(&body).unwrap())
    }

    /// The object of the next activity, below the mount point.
    async fn next_object(&mut self) -> String {
        let (_, activity) = self.next().await;
        let id = activity["object"]["id"].as_str().unwrap();
        id.strip_prefix("https://store.example/rest").unwrap().to_owned()
    }
}

/// The signature of Standard Webhooks, with the shared key.
fn check(headers: &HeaderMap, body: &str) {
    let header = |name: &str| headers[name].to_str().unwrap();
    let signed = format!("{}.{}.{body}", header("webhook-id"), header("webhook-timestamp"));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, SECRET.as_bytes());
    let signature = header("webhook-signature").strip_prefix("v1,").unwrap();
    let signature = BASE64_STANDARD.decode(signature).unwrap();
    ring::hmac::verify(&key, signed.as_bytes(), &signature).unwrap();
}

struct World {
    dir: tempfile::TempDir,
    store: Store,
}

impl World {
    fn new() -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap(), store: store() };
        std::fs::write(world.dir.path().join("secret"), SECRET).unwrap();
        world
    }

    fn webhook(&self, receiver: &Receiver) -> Webhook {
        Webhook {
            name: "index".to_owned(),
            url: receiver.url.clone(),
            secret_file: self.dir.path().join("secret"),
            user: ADMIN.0.to_owned(),
            address: "https://store.example".to_owned(),
            mount: "/rest".to_owned(),
            below: "/".to_owned(),
            retry_seconds: Seconds::from_millis(1),
            longest_retry_seconds: Seconds::from_millis(2),
        }
    }

    async fn serve(&self, webhook: Webhook) -> Running {
        let ldp = Ldp { webhooks: vec![webhook], ..Ldp::default() };
        Running::with_store(self.store.clone(), Config { ldp, ..Config::default() }).await
    }

    fn make(&self, path: &str) {
        let admin = self.store.caller_for(self.store.person_named(ADMIN.0).unwrap().0).unwrap();
        let options = CreateOptions { parents: true, ..CreateOptions::default() };
        let path: cenote_store::StorePath = path.parse().unwrap();
        self.store.create(&admin, &path, Draft::Collection, options).unwrap();
    }

    /// Once the start position of a webhook is recorded.
    async fn begun(&self) {
        while self.store.note("ldp", "webhook/index").unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    }
}

async fn stop(server: Running) {
    drop(server.stop);
    server.task.await.unwrap();
}

#[tokio::test]
async fn changes_are_posted_in_order_and_signed() {
    let (world, mut receiver) = (World::new(), Receiver::new().await);
    world.make("/before");
    let server = world.serve(world.webhook(&receiver)).await;
    world.begun().await;
    world.make("/a");
    world.make("/a/b");
    let (headers, activity) = receiver.next().await;
    assert!(headers["content-type"].to_str().unwrap().starts_with("application/ld+json"));
    assert_eq!(activity["type"][0], "Create");
    assert_eq!(activity["object"]["id"], "https://store.example/rest/a");
    assert_eq!(activity["actor"][0]["name"], "ada");
    let id = headers["webhook-id"].to_str().unwrap();
    assert!(activity["id"].as_str().unwrap().ends_with(&format!("fcr:events#{id}")));
    assert_eq!(receiver.next_object().await, "/a/b");
    stop(server).await;
}

#[tokio::test]
async fn rejected_posts_are_retried_and_none_is_lost() {
    let (world, mut receiver) = (World::new(), Receiver::new().await);
    let server = world.serve(world.webhook(&receiver)).await;
    world.begun().await;
    *receiver.refusals.lock().unwrap() = 5;
    world.make("/a");
    world.make("/b");
    assert_eq!(receiver.next_object().await, "/a");
    assert_eq!(receiver.next_object().await, "/b");
    stop(server).await;
    // While no server runs.
    world.make("/c");
    let server = world.serve(world.webhook(&receiver)).await;
    assert_eq!(receiver.next_object().await, "/c");
    // A receiver that is down when the server stops.
    *receiver.refusals.lock().unwrap() = usize::MAX;
    world.make("/d");
    stop(server).await;
    *receiver.refusals.lock().unwrap() = 0;
    let server = world.serve(world.webhook(&receiver)).await;
    world.make("/e");
    assert_eq!(receiver.next_object().await, "/d");
    assert_eq!(receiver.next_object().await, "/e");
    stop(server).await;
}

#[tokio::test]
async fn a_receiver_is_notified_of_changes_below_its_collection_that_its_user_may_see() {
    let (world, mut receiver) = (World::new(), Receiver::new().await);
    world.make("/lab");
    let below = Webhook { below: "/lab".to_owned(), ..world.webhook(&receiver) };
    let server = world.serve(below).await;
    world.begun().await;
    world.make("/other");
    world.make("/lab/x");
    assert_eq!(receiver.next_object().await, "/lab/x");
    stop(server).await;

    let native = TestServer { router: router(world.store.clone(), &Config::default()) };
    let read = json!({ "name": USER.0, "level": "read", "scope": "subtree" });
    native.post("/v1/access", json!({ "path": "/lab", "operations": [read] })).await.expect(200);
    let name = "of-user".to_owned();
    let of_user = Webhook { name, user: USER.0.to_owned(), ..world.webhook(&receiver) };
    let server = world.serve(of_user).await;
    while world.store.note("ldp", "webhook/of-user").unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    world.make("/hidden");
    world.make("/lab/shown");
    assert_eq!(receiver.next_object().await, "/lab/shown");
    stop(server).await;
}

#[tokio::test]
async fn invalid_settings_are_refused_at_startup() {
    let (world, receiver) = (World::new(), Receiver::new().await);
    let usual = || world.webhook(&receiver);
    for (webhook, what) in [
        (Webhook { secret_file: "/nowhere/secret".into(), ..usual() }, "cannot read"),
        (Webhook { url: "ftp://h/".to_owned(), ..usual() }, "not a URL"),
        (Webhook { mount: "/x".to_owned(), ..usual() }, "mount"),
        (Webhook { address: "store".to_owned(), ..usual() }, "address"),
        (Webhook { below: "x".to_owned(), ..usual() }, "path"),
    ] {
        let ldp = Ldp { webhooks: vec![webhook], ..Ldp::default() };
        let listen = ([127, 0, 0, 1], 0).into();
        let config = Config { listen, ldp, ..Config::default() };
        let refused = Server::bind(world.store.clone(), &config).await.unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
    }
}
