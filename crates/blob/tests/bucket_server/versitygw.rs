//! `versitygw` of <https://github.com/versity/versitygw>, with buckets that are directories.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::{KEY, SECRET, Server, send};

const PAUSE: Duration = Duration::from_millis(10);

/// It does not report the port of its listener, so it gets a free one; if another process takes that first, it ends, and another port is tried.
pub(super) fn start(program: &Path) -> Server {
    let files = tempfile::tempdir().unwrap();
    // A path that only this one answers.
    let health = format!("/{}", files.path().file_name().unwrap().to_str().unwrap());
    loop {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let address = free.to_string();
        let process = spawn(program, &address, &health, files.path());
        if let Some(process) = wait(process, &address, &health) {
            return Server { process, address, files: Some(files) };
        }
    }
}

fn spawn(program: &Path, address: &str, health: &str, files: &Path) -> Child {
    let mut command = Command::new(program);
    command.args(["--port", address, "--health", health, "--quiet", "posix"]).arg(files);
    command.env("ROOT_ACCESS_KEY", KEY).env("ROOT_SECRET_KEY", SECRET);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until it answers; none if it ended.
fn wait(mut process: Child, address: &str, health: &str) -> Option<Child> {
    let is_there = || send(address, &format!("GET {health}"));
    while !is_there().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
        if process.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::park_timeout(PAUSE);
    }
    Some(process)
}
