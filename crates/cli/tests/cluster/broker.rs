//! A message broker (CoilMQ) with a subscriber to it (stomp.py), as in the tests of linked data.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A running broker, and the identifiers of the resources that its subscriber was told about, in order.
pub(crate) struct Broker {
    process: Child,
    pub(crate) port: u64,
    /// The virtual host, which it insists on.
    pub(crate) host: String,
    told: Arc<Mutex<Vec<String>>>,
}

impl Broker {
    /// None if it is not installed; `CENOTE_REQUIRE_BROKER` makes it required.
    pub(crate) fn start(destination: &str) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = root.join(".venv/bin/python");
        let mut find = Command::new(&python);
        let found = find.args(["-c", "import coilmq, stomp"]).stderr(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            assert!(std::env::var("CENOTE_REQUIRE_BROKER").is_err(), "run `scripts/setup broker`");
            eprintln!("SKIPPED, NOT TESTED: CoilMQ and stomp.py are not installed");
            return None;
        }
        let mut process = Command::new(python)
            .arg(root.join("crates/server/tests/server/ldp/subscriber.py"))
            .arg(destination)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let begun: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let all = told.clone();
        std::thread::spawn(move || lines.for_each(|line| take(&line.unwrap(), &all)));
        let host = begun["host"].as_str().unwrap().to_owned();
        Some(Self { process, port: begun["port"].as_u64().unwrap(), host, told })
    }

    pub(crate) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

fn take(line: &str, told: &Mutex<Vec<String>>) {
    let message: Value = serde_json::from_str(line).unwrap();
    let identifier = &message["headers"]["org.fcrepo.jms.identifier"];
    told.lock().unwrap().push(identifier.as_str().unwrap().to_owned());
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
