//! CoilMQ, and stomp.py as a subscriber to it, for the tests of several crates.

use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Starts both, with one process: a line of JSON with its address, and then one for each message. None if they are not installed;
/// `CENOTE_REQUIRE_BROKER` makes them required.
pub(crate) fn start(destination: &str) -> Option<Child> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".venv/bin/python");
    let mut find = Command::new(&python);
    let found = find.args(["-c", "import coilmq, stomp"]).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        assert!(std::env::var("CENOTE_REQUIRE_BROKER").is_err(), "run `scripts/setup broker`");
        eprintln!("SKIPPED, NOT TESTED: CoilMQ and stomp.py are not installed");
        return None;
    }
    let mut subscribe = Command::new(python);
    subscribe.arg(root.join("crates/server/tests/server/ldp/subscriber.py")).arg(destination);
    Some(subscribe.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
}
