//! A message broker (CoilMQ) with a subscriber to it (stomp.py), as in the tests of linked data.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::subscriber;

/// A running broker, and the identifiers of the resources that its subscriber was notified of, in order.
pub(crate) struct Broker {
    process: Child,
    pub(crate) port: u64,
    /// The virtual host, which it insists on.
    pub(crate) host: String,
    received: Arc<Mutex<Vec<String>>>,
}

impl Broker {
    /// None if it is not installed.
    pub(crate) fn start(destination: &str) -> Option<Self> {
        let mut process = subscriber::start(destination)?;
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let begun: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let all = received.clone();
        std::thread::spawn(move || lines.for_each(|line| take(&line.unwrap(), &all)));
        let host = begun["host"].as_str().unwrap().to_owned();
        Some(Self { process, port: begun["port"].as_u64().unwrap(), host, received })
    }

    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}

fn take(line: &str, received: &Mutex<Vec<String>>) {
    let message: Value = serde_json::from_str(line).unwrap();
    let identifier = &message["headers"]["org.fcrepo.jms.identifier"];
    received.lock().unwrap().push(identifier.as_str().unwrap().to_owned());
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
