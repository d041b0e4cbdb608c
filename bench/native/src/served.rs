//! A store served by the program being measured.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::{Bench, Outcome};

const PASSWORD: &str = "a bench's secret";

/// A running server with its own store; killed when it is dropped.
pub(crate) struct Served {
    process: Child,
    /// Its address.
    pub(crate) url: String,
    dir: PathBuf,
    cenote: PathBuf,
}

impl Served {
    /// Creates a store in a directory of this name, and serves it.
    pub(crate) fn new(bench: &Bench, name: &str) -> Outcome<Self> {
        let dir = bench.dir.join(name);
        let mut init = Command::new(&bench.cenote)
            .args(["init", "--password-stdin"])
            .arg(&dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()?;
        init.stdin.take().ok_or("no standard input")?.write_all(PASSWORD.as_bytes())?;
        if !init.wait()?.success() {
            return Err("cenote init failed".into());
        }
        Self::serve(&bench.cenote, &dir)
    }

    fn serve(cenote: &Path, dir: &Path) -> Outcome<Self> {
        let mut process = Command::new(cenote)
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .arg(dir)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        let url = line.split('"').nth(3).ok_or("cenote serve printed no address")?.to_owned();
        Ok(Self { process, url, dir: dir.to_owned(), cenote: cenote.to_owned() })
    }

    /// Kills it without warning, restarts it, and returns the time until it responded.
    pub(crate) fn restart(&mut self) -> Outcome<Duration> {
        self.process.kill()?;
        self.process.wait()?;
        let started = Instant::now();
        let next = Self::serve(&self.cenote, &self.dir)?;
        next.connect()?.send("GET", "/v1/stat?path=/", b"")?;
        let took = started.elapsed();
        drop(std::mem::replace(self, next));
        Ok(took)
    }

    /// A connection as its administrator.
    pub(crate) fn connect(&self) -> Outcome<Connection> {
        Connection::open(&self.url, "admin", PASSWORD)
    }

    /// The program with its address and its administrator's password.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.cenote);
        command
            .env("CENOTE_URL", &self.url)
            .env("CENOTE_USER", "admin")
            .env("CENOTE_PASSWORD", PASSWORD);
        command.stdout(Stdio::null());
        command
    }

    /// The options of curl for logging in.
    pub(crate) fn credentials(&self) -> String {
        format!("admin:{PASSWORD}")
    }

    /// The peak resident memory, in bytes.
    pub(crate) fn peak_memory(&self) -> Outcome<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
        let kib: u64 = line.split_whitespace().nth(1).ok_or("no VmHWM")?.parse()?;
        Ok(kib * 1_024)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
