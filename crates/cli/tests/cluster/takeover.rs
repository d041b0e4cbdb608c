//! What one server does for all is done by another one when it dies: posting to webhooks, sending to brokers, moving contents, and running
//! delayed rules of iRODS.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::broker::Broker;
use crate::database::listening;
use crate::servers::Cluster;

/// What takes activities, and remembers of each the name of what it is about.
struct Receiver {
    url: String,
    received: Arc<Mutex<Vec<String>>>,
    _runtime: tokio::runtime::Runtime,
}

impl Receiver {
    fn start() -> Self {
        let (runtime, listener) = listening();
        let url = format!("http://{}/told", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let all = received.clone();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(take(client, all.clone()));
            }
        });
        Self { url, received, _runtime: runtime }
    }

    fn has(&self, name: &str) -> bool {
        self.received.lock().unwrap().iter().any(|received| received == name)
    }
}

/// One activity: its request ends with its JSON, which is on one line.
async fn take(mut client: TcpStream, received: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let activity = loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        if let Ok(activity) = serde_json::from_str::<Value>(body) {
            break activity;
        }
        if client.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let id = activity["object"]["id"].as_str().unwrap_or_default();
    received.lock().unwrap().push(id.rsplit('/').next().unwrap_or_default().to_owned());
    let answer = "HTTP/1.1 204 Taken\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let _ = client.write_all(answer.as_bytes()).await;
}

#[test]
fn a_webhook_and_the_work_of_the_background_are_taken_over_from_a_server_that_is_killed() {
    let receiver = Receiver::start();
    let dir = tempfile::tempdir().unwrap();
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "sixteen bytes or more").unwrap();
    let settings = format!(
        "[[ldp.webhooks]]\nname = \"index\"\nurl = {:?}\nsecret_file = {secret:?}\nuser = \"ada\"\n\
         address = \"https://store.example\"\n",
        receiver.url
    );
    let Some(cluster) = Cluster::start(3, &settings) else { return };
    let put = |node: usize, name: &str| {
        let put = cluster.send(node, &format!("PUT /v1/fs/load/{name}?parents=true"), &[7; 70_000]);
        assert_eq!(put.unwrap().status, 201, "{name}");
    };
    let second = json!({ "name": "second", "address": "s3://bucket/second" });
    cluster.json(1, "POST /v1/places", &second.to_string());
    // A webhook begins with the first change after it has looked.
    let mut number = 0;
    Cluster::until("the webhook gets the change", || {
        number += 1;
        put(1, &format!("first-{number}"));
        !receiver.received.lock().unwrap().is_empty()
    });
    let leads = |node: usize| cluster.nodes[node].log().contains("does the background work");
    assert_eq!([0, 1, 2].map(leads), [true, false, false]);
    cluster.nodes[0].kill();

    for name in ["second-1", "second-2"] {
        put(1, name);
        put(2, &format!("{name}-too"));
    }
    let all = json!({ "path": "/load", "place": "second", "recursive": true });
    let job = cluster.json(2, "POST /v1/replicas", &all.to_string())["job"].clone();
    let mut ended = Value::Null;
    Cluster::until("the job ends", || {
        ended = cluster.json(1, &format!("GET /v1/jobs/{job}"), "");
        ended["finished"] == true
    });
    assert_eq!((&ended["failed"], ended["done"].as_u64()), (&json!(0), Some(number + 4)));
    for name in ["second-1", "second-1-too", "second-2", "second-2-too"] {
        Cluster::until(&format!("the webhook gets {name}"), || receiver.has(name));
    }
    assert_eq!([1, 2].map(leads).iter().filter(|leads| **leads).count(), 1);
    cluster.nodes[0].start();
    put(0, "third");
    Cluster::until("the webhook gets the last change", || receiver.has("third"));
}

/// Whether a server has run the delayed rule of the test.
fn ran(cluster: &Cluster, node: usize) -> usize {
    cluster.nodes[node].log().matches("taken over").count()
}

#[test]
fn a_broker_and_delayed_rules_are_taken_over_from_a_server_that_is_killed() {
    let Some(broker) = Broker::start("/topic/fedora") else { return };
    let settings = format!(
        "[[ldp.stomp]]\nname = \"index\"\nurl = \"stomp://127.0.0.1:{}\"\nhost = {:?}\nuser = \"ada\"\n\
         address = \"https://store.example\"\nlongest_retry_seconds = 1\n",
        broker.port, broker.host
    );
    let Some(cluster) = Cluster::start(3, &settings) else { return };
    let put = |node: usize, name: &str| {
        let put =
            cluster.send(node, &format!("PUT /v1/fs/load/{name}?parents=true"), b"x").unwrap();
        assert_eq!(put.status, 201, "{name}");
    };
    let has = |name: &str| {
        broker.received().iter().any(|received| received.ends_with(&format!("/{name}")))
    };
    // A broker begins with the first change after it has been looked at.
    let mut number = 0;
    Cluster::until("the broker gets the change", || {
        number += 1;
        put(1, &format!("first-{number}"));
        !broker.received().is_empty()
    });
    // Due once its server is dead.
    let rule = r#"delay("<PLUSET>5s</PLUSET>") { writeLine("serverLog", "taken over"); }"#;
    let execute = format!("op=execute&rule-text={rule}");
    let irods = format!("Bearer {}", cluster.irods_login());
    let request = "POST /irods-http-api/0.7.0/rules";
    let added = cluster.nodes[2].send(request, &irods, execute.as_bytes()).unwrap();
    assert_eq!(added.json()["irods_response"]["status_code"], 0, "{added:?}");
    cluster.nodes[0].kill();

    for name in ["second-1", "second-2", "second-3"] {
        put(1, name);
    }
    Cluster::until("the rule is run", || ran(&cluster, 1) + ran(&cluster, 2) > 0);
    for name in ["second-1", "second-2", "second-3"] {
        Cluster::until(&format!("the broker gets {name}"), || has(name));
    }
    let received = broker.received();
    let seconds = ["second-1", "second-2", "second-3"];
    let order: Vec<_> = received.iter().filter(|received| received.contains("/second-")).collect();
    assert!(
        order.iter().zip(seconds).all(|(received, name)| received.ends_with(name)),
        "{order:?}"
    );
    assert_eq!((order.len(), ran(&cluster, 0), ran(&cluster, 1) + ran(&cluster, 2)), (3, 0, 1));
}
