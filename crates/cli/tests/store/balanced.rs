//! Three servers behind the nginx of `packaging/cluster/`, which is the program that Debian has.
//!
//! Without it the test prints that it is skipped, unless `CENOTE_REQUIRE_NGINX` is set; `CENOTE_NGINX` names another one.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use serde_json::json;

use crate::servers::{Answer, Servers, answer_of, head, json_of, text};

const SETTINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/cluster/nginx.conf");

/// nginx on a socket in a directory of its own, which ends with the test.
struct Balancer {
    process: Child,
    dir: tempfile::TempDir,
}

impl Balancer {
    fn start(servers: &Servers) -> Option<Self> {
        let program = nginx()?;
        let dir = tempfile::tempdir().unwrap();
        let settings = std::fs::read_to_string(SETTINGS).unwrap();
        let socket = dir.path().join("socket");
        let own = format!("listen unix:{};", socket.display());
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|of| format!("{of}_temp_path {of};"))
            .concat();
        let changed = settings.replace("listen 8470;", &own);
        let changed = changed.replace("http {", &format!("http {{ {temporary}"));
        assert!(changed.contains(&own) && changed.contains(&temporary));
        std::fs::write(dir.path().join("nginx.conf"), changed).unwrap();
        let addresses = servers
            .worlds
            .iter()
            .map(|world| format!("server {};\n", world.url().strip_prefix("http://").unwrap()));
        std::fs::write(dir.path().join("servers.conf"), addresses.collect::<String>()).unwrap();
        let process = Command::new(program)
            .args(["-e", "stderr", "-g", "daemon off; pid nginx.pid; error_log stderr;"])
            .args(["-c", "nginx.conf", "-p"])
            .arg(dir.path())
            .spawn();
        let mut it = Self { process: process.unwrap(), dir };
        while UnixStream::connect(it.socket()).is_err() {
            assert!(it.process.try_wait().unwrap().is_none(), "nginx ended");
            std::thread::yield_now();
        }
        Some(it)
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("socket")
    }

    fn send(&self, token: &str, request: &str, body: &str) -> Answer {
        let mut line = UnixStream::connect(self.socket()).unwrap();
        let first = format!("{request} HTTP/1.1\r\nHost: cenote\r\nConnection: close");
        write!(line, "{first}\r\n{}\r\n{body}", head(token, body)).unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        answer_of(&answer)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // Its workers end with it, as they do not when it is killed.
        let _ = Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}

fn nginx() -> Option<PathBuf> {
    let required = std::env::var("CENOTE_REQUIRE_NGINX").is_ok();
    let program = std::env::var("CENOTE_NGINX").map_or("/usr/sbin/nginx".into(), PathBuf::from);
    let found = Path::new(&program).exists().then_some(program);
    assert!(found.is_some() || !required, "nginx is not installed");
    if found.is_none() {
        eprintln!("skipped: nginx is not installed");
    }
    found
}

/// What change sets of the server begin with that a caller meets, each time: they are committed there.
fn server_of(balancer: &Balancer, token: &str) -> String {
    let set = json_of(balancer.send(token, "POST /v1/changesets", "{}"));
    let id = set["id"].as_str().unwrap();
    let committed = balancer.send(token, &format!("POST /v1/changesets/{id}/commit"), "{}");
    assert_eq!(json_of(committed)["state"], "committed");
    id[..8].to_owned()
}

#[test]
fn a_balancer_hands_requests_on_as_they_come_and_to_others_when_a_server_is_killed() {
    if nginx().is_none() {
        return;
    }
    let Some(mut it) = Servers::start() else { return };
    let Some(balancer) = Balancer::start(&it) else { return };
    let bytes = text(3 << 20, 1);
    let (mut tokens, mut met) = (Vec::new(), BTreeSet::new());
    while met.len() < 2 {
        let number = tokens.len();
        assert!(number < 60, "all callers meet one server");
        let label = json!({ "label": format!("t{number}") }).to_string();
        let made = json_of(balancer.send(&it.token, "POST /v1/tokens", &label));
        let token = made["token"].as_str().unwrap().to_owned();
        assert_eq!(balancer.send(&token, &format!("PUT /v1/fs/{number}"), &bytes).0, 201);
        met.insert(server_of(&balancer, &token));
        tokens.push(token);
    }

    let since = json_of(balancer.send(&tokens[0], "GET /v1/changes?since=now", ""));
    let wait = format!("GET /v1/changes?since={}&wait=60", since["next"].as_str().unwrap());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| json_of(balancer.send(&tokens[0], &wait, "")));
        assert_eq!(balancer.send(&tokens[tokens.len() - 1], "PUT /v1/fs/new", "x").0, 201);
        assert_eq!(waiting.join().unwrap()["items"][0]["name"], "new");
    });

    it.worlds[0].kill();
    for (number, token) in tokens.iter().enumerate() {
        let read = balancer.send(token, &format!("GET /v1/fs/{number}"), "");
        assert!(read == (200, bytes.clone()), "{number}: {}", read.0);
    }
}
