//! STOMP: activities sent to a broker of the settings. Most brokers here answer with frames made by hand; one is real, with a real subscriber.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

use cenote_server::{Broker, Config, Ldp, Seconds, Server};
use cenote_store::{CreateOptions, Draft, Store};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::running::Running;
use crate::support::{ADMIN, store};

const CONNECTED: &str = "CONNECTED\nversion:1.2\nheart-beat:0,0\n\n\0";

/// A broker that does what a test tells it to.
struct ByHand {
    listener: TcpListener,
}

/// A connection to it.
struct Client(tokio::io::BufReader<TcpStream>);

impl ByHand {
    async fn new() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    fn settings(&self) -> Broker {
        settings(&format!("stomp://{}", self.listener.local_addr().unwrap()))
    }

    async fn accept(&self) -> Client {
        Client(tokio::io::BufReader::new(self.listener.accept().await.unwrap().0))
    }

    /// A client that has logged in.
    async fn logged_in(&self) -> Client {
        let mut client = self.accept().await;
        assert!(client.frame().await.starts_with("CONNECT\n"));
        client.answer(CONNECTED).await;
        client
    }
}

impl Client {
    /// The next frame, without the heart-beats in front of it.
    async fn frame(&mut self) -> String {
        let mut frame = Vec::new();
        self.0.read_until(0, &mut frame).await.unwrap();
        assert_eq!(frame.pop(), Some(0), "the connection ended");
        String::from_utf8(frame).unwrap().trim_start_matches('\n').to_owned()
    }

    async fn answer(&mut self, bytes: impl AsRef<[u8]>) {
        // The other side may have given up.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// The next message, which is not confirmed: its headers and its activity.
    async fn message(&mut self) -> (Vec<(String, String)>, Value) {
        let frame = self.frame().await;
        let (head, body) = frame.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        assert_eq!(lines.next(), Some("SEND"), "{frame}");
        let plain = |text: &str| text.replace("\\c", ":");
        let headers = lines.map(|line| line.split_once(':').unwrap());
        let headers = headers.map(|(name, value)| (plain(name), plain(value))).collect();
        (headers, serde_json::from_str(body).unwrap())
    }

    async fn confirm(&mut self, headers: &[(String, String)]) {
        let id = header(headers, "receipt").replace(':', "\\c");
        self.answer(format!("RECEIPT\nreceipt-id:{id}\n\n\0")).await;
    }

    /// What the next message is about, confirmed.
    async fn object(&mut self) -> String {
        let (headers, activity) = self.message().await;
        self.confirm(&headers).await;
        about(&activity)
    }

    /// What comes until the other side ends the connection.
    async fn ends(&mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.0.read_to_end(&mut rest).await;
        String::from_utf8(rest).unwrap()
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> &'a str {
    &headers.iter().find(|(known, _)| known == name).unwrap().1
}

fn about(activity: &Value) -> String {
    let id = activity["object"]["id"].as_str().unwrap();
    id.strip_prefix("https://store.example/rest").unwrap().to_owned()
}

fn settings(url: &str) -> Broker {
    Broker {
        name: "index".to_owned(),
        url: url.to_owned(),
        destination: "/topic/fedora".to_owned(),
        host: None,
        login: None,
        passcode_file: None,
        passcode_env: None,
        ca_file: None,
        user: ADMIN.0.to_owned(),
        address: "https://store.example".to_owned(),
        mount: "/rest".to_owned(),
        below: "/".to_owned(),
        heartbeat_seconds: Seconds::new(0),
        timeout_seconds: Seconds::new(60),
        retry_seconds: Seconds::from_millis(1),
        longest_retry_seconds: Seconds::from_millis(2),
    }
}

async fn serve(store: &Store, broker: Broker) -> Running {
    let ldp = Ldp { stomp: vec![broker], ..Ldp::default() };
    let server = Running::with_store(store.clone(), Config { ldp, ..Config::default() }).await;
    // Once it is kept from where it begins.
    while store.note("ldp", "stomp/index").unwrap().is_none() {
        tokio::task::yield_now().await;
    }
    server
}

async fn stop(server: Running) {
    drop(server.stop);
    server.task.await.unwrap();
}

fn make(store: &Store, path: &str) {
    let admin = store.caller_for(store.person_named(ADMIN.0).unwrap().0).unwrap();
    let options = CreateOptions { parents: true, ..CreateOptions::default() };
    let path: cenote_store::StorePath = path.parse().unwrap();
    store.create(&admin, &path, Draft::Collection, options).unwrap();
}

#[tokio::test]
async fn messages_are_sent_in_order_with_the_headers_of_fcrepo() {
    let (broker, store) = (ByHand::new().await, store());
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("passcode"), "a secret\n").unwrap();
    let settings = Broker {
        login: Some("cenote".to_owned()),
        passcode_file: Some(dir.path().join("passcode")),
        host: Some("/vhost".to_owned()),
        ..broker.settings()
    };
    make(&store, "/before");
    let server = serve(&store, settings).await;
    make(&store, "/a");
    make(&store, "/a/b");
    let mut client = broker.accept().await;
    assert_eq!(
        client.frame().await,
        "CONNECT\naccept-version:1.2\nhost:/vhost\nheart-beat:0,0\nlogin:cenote\npasscode:a secret\n\n"
    );
    client.answer(CONNECTED).await;
    let (headers, activity) = client.message().await;
    assert_eq!((about(&activity).as_str(), &activity["type"]), ("/a", &json!(["Create"])));
    for (name, value) in [
        ("destination", "/topic/fedora"),
        ("content-type", "application/ld+json"),
        ("persistent", "true"),
        ("org.fcrepo.jms.identifier", "/a"),
        ("org.fcrepo.jms.baseURL", "https://store.example/rest"),
        ("org.fcrepo.jms.eventType", "https://www.w3.org/ns/activitystreams#Create"),
        ("org.fcrepo.jms.user", "ada"),
        ("org.fcrepo.jms.eventID", activity["id"].as_str().unwrap()),
    ] {
        assert_eq!(header(&headers, name), value, "{name}");
    }
    // Brokers make a message with a length one of bytes.
    assert!(headers.iter().all(|(name, _)| name != "content-length"));
    client.confirm(&headers).await;
    assert_eq!(client.object().await, "/a/b");
    stop(server).await;
    assert!(client.frame().await.starts_with("DISCONNECT\n"));
}

#[tokio::test]
async fn what_was_not_confirmed_is_sent_again_and_nothing_is_missed() {
    let (broker, store) = (ByHand::new().await, store());
    let server = serve(&store, broker.settings()).await;
    make(&store, "/a");
    make(&store, "/b");
    let mut client = broker.logged_in().await;
    let (first, _) = client.message().await;
    drop(client);
    let mut client = broker.logged_in().await;
    let (second, activity) = client.message().await;
    // Another receipt is not that of the message.
    client.answer("RECEIPT\nreceipt-id:other\n\n\0").await;
    assert_eq!(
        (header(&first, "receipt"), about(&activity)),
        (header(&second, "receipt"), "/a".to_owned())
    );
    client.confirm(&second).await;
    assert_eq!(client.object().await, "/b");
    // While no server runs, and when one begins without a broker.
    stop(server).await;
    make(&store, "/c");
    let server = serve(&store, broker.settings()).await;
    assert_eq!(broker.logged_in().await.object().await, "/c");
    stop(server).await;
}

#[tokio::test]
async fn a_broker_that_does_not_speak_stomp_is_left_and_tried_again() {
    let (broker, store) = (ByHand::new().await, store());
    let server = serve(&store, broker.settings()).await;
    make(&store, "/a");
    let large = [b"ERROR\nmessage:", &[b'x'; 1 << 17][..]].concat();
    let long = [b"CONNECTED\n\n", &[b'x'; 1 << 17][..]].concat();
    for answer in [
        &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
        b"\xff\xfe\n\n\0",
        b"CONNECTED\nversion:1.1\n\n\0",
        b"CONNECTED\nversion:1.2\nheart-beat:x\n\n\0",
        b"RECEIPT\nreceipt-id:1\n\n\0",
        b"ERROR\nmessage:no\\nsuch user\n\nsorry\0",
        b"CONNECTED\nversion:1.2\ncontent-length:99999999999999\n\n",
        &large,
        &long,
    ] {
        let mut client = broker.accept().await;
        assert!(client.frame().await.starts_with("CONNECT\n"));
        client.answer(answer).await;
        client.ends().await;
    }
    let mut client = broker.logged_in().await;
    let (headers, _) = client.message().await;
    client.answer("ERROR\nmessage:the queue is full\n\n\0").await;
    client.ends().await;
    let mut client = broker.logged_in().await;
    let (again, _) = client.message().await;
    assert_eq!(header(&again, "receipt"), header(&headers, "receipt"));
    client.confirm(&again).await;
    stop(server).await;
}

#[tokio::test]
async fn a_broker_that_is_silent_is_given_up() {
    let (broker, store) = (ByHand::new().await, store());
    let quick = Seconds::from_millis(50);
    let server = serve(&store, Broker { timeout_seconds: quick, ..broker.settings() }).await;
    make(&store, "/a");
    broker.accept().await.ends().await;
    // One that takes the message and says nothing of it. A busy machine may be too late even with the login.
    loop {
        let mut client = broker.accept().await;
        client.answer(CONNECTED).await;
        if client.ends().await.contains("SEND\n") {
            break;
        }
    }
    stop(server).await;
}

#[tokio::test]
async fn heart_beats_go_both_ways() {
    let (broker, store) = (ByHand::new().await, store());
    let often = Seconds::from_millis(20);
    let server = serve(&store, Broker { heartbeat_seconds: often, ..broker.settings() }).await;
    make(&store, "/a");
    let mut client = broker.accept().await;
    assert!(client.frame().await.contains("\nheart-beat:20,20\n"));
    client.answer("CONNECTED\nversion:1.2\nheart-beat:0,10\n\n\0").await;
    assert_eq!(client.object().await, "/a");
    let mut beats = [0; 3];
    client.0.read_exact(&mut beats).await.unwrap();
    assert_eq!(&beats, b"\n\n\n");
    make(&store, "/b");
    assert_eq!(client.object().await, "/b");
    client.0.get_mut().shutdown().await.unwrap();
    client.ends().await;
    // One that promised to beat, and does not.
    make(&store, "/c");
    let mut client = broker.accept().await;
    client.frame().await;
    client.answer("CONNECTED\nversion:1.2\nheart-beat:20,0\n\n\0").await;
    client.ends().await;
    stop(server).await;
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_refused_at_the_start() {
    let usual = || settings("stomp://localhost");
    let login = || Some("cenote".to_owned());
    for (broker, what) in [
        (Broker { url: "http://h/".to_owned(), ..usual() }, "not a URL of stomp"),
        (Broker { url: "stomp://a:b@h/".to_owned(), ..usual() }, "not a URL of stomp"),
        (
            Broker { passcode_file: Some("/nowhere/code".into()), login: login(), ..usual() },
            "cannot read",
        ),
        (Broker { passcode_env: Some("CENOTE_NO_SUCH".to_owned()), ..usual() }, "is not set"),
        (Broker { passcode_env: Some("PATH".to_owned()), ..usual() }, "needs a login"),
        (Broker { login: Some("a\nb:c".to_owned()), ..usual() }, "control characters"),
        (Broker { host: Some("a\nb:c".to_owned()), ..usual() }, "control characters"),
        (Broker { destination: String::new(), ..usual() }, "destination"),
        (Broker { mount: "/x".to_owned(), ..usual() }, "mount"),
        (
            Broker {
                url: "stomp+ssl://h".to_owned(),
                ca_file: Some("/nowhere/ca".into()),
                ..usual()
            },
            "/nowhere/ca",
        ),
    ] {
        let ldp = Ldp { stomp: vec![broker], ..Ldp::default() };
        let listen = ([127, 0, 0, 1], 0).into();
        let config = Config { listen, ldp, ..Config::default() };
        let refused = Server::bind(store(), &config).await.unwrap_err().to_string();
        assert!(refused.contains(what) && refused.contains("broker \"index\""), "{refused}");
    }
}

#[tokio::test]
async fn a_broker_with_tls_is_verified() {
    use rustls_pki_types::PrivateKeyDer;
    use tokio_rustls::rustls::{ServerConfig, crypto::ring};

    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("ca.pem"), made.cert.pem()).unwrap();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let config = ServerConfig::builder_with_provider(ring::default_provider().into());
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    let tls = tokio_rustls::TlsAcceptor::from(std::sync::Arc::new(config));
    let (broker, store) = (ByHand::new().await, store());
    let port = broker.listener.local_addr().unwrap().port();
    let settings = Broker {
        ca_file: Some(dir.path().join("ca.pem")),
        ..settings(&format!("stomp+ssl://localhost:{port}"))
    };
    let server = serve(&store, settings).await;
    make(&store, "/a");
    // No TLS at all is not spoken with.
    broker.accept().await.answer(CONNECTED).await;
    let stream = broker.listener.accept().await.unwrap().0;
    let mut stream = tokio::io::BufReader::new(tls.accept(stream).await.unwrap());
    let mut frame = Vec::new();
    stream.read_until(0, &mut frame).await.unwrap();
    assert!(frame.starts_with(b"CONNECT\n"));
    stream.write_all(CONNECTED.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    frame.clear();
    stream.read_until(0, &mut frame).await.unwrap();
    assert!(frame.starts_with(b"SEND\n"), "{}", String::from_utf8_lossy(&frame));
    drop(stream);
    stop(server).await;
}

/// CoilMQ, and stomp.py as a subscriber to it.
struct Real {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Real {
    /// Where it is installed.
    fn start(destination: &str) -> Option<Self> {
        let mut process = crate::subscriber::start(destination)?;
        let lines = BufReader::new(process.stdout.take().unwrap());
        Some(Self { process, lines })
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_of_a_real_broker_gets_every_activity() {
    let Some(mut real) = Real::start("/topic/fedora") else { return };
    let begun = real.line();
    let broker = Broker {
        host: Some(begun["host"].as_str().unwrap().to_owned()),
        ..settings(&format!("stomp://127.0.0.1:{}", begun["port"]))
    };
    let store = store();
    let server = serve(&store, broker).await;
    for index in 0..20 {
        make(&store, &format!("/a{index}"));
    }
    for index in 0..20 {
        let message = real.line();
        let activity: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
        assert_eq!(about(&activity), format!("/a{index}"));
        let identifier = message["headers"]["org.fcrepo.jms.identifier"].as_str();
        assert_eq!(identifier, Some(&*format!("/a{index}")));
    }
    stop(server).await;
}
