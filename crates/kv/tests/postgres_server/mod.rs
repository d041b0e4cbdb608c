//! A PostgreSQL server for the duration of a test run: on a Unix socket in its own directory, run by an unprivileged
//! user, and stopped with the test process. Also for tests of other crates that use the engine.

#![allow(dead_code, reason = "each of the tests that share this uses some of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use postgres::{Client, NoTls};

/// Creates a cluster and prints its directory once it accepts connections. At each line of standard input all of its
/// processes are killed, the server is restarted on the same data, and the directory is printed again. When standard
/// input is closed, as happens when the process holding it ends, or on a signal, everything is stopped and removed.
///
/// It does not sync: a killed process loses no written data, only a power cut would.
const SCRIPT: &str = r#"
    set -e
    dir=$(mktemp -d)
    options=$1
    start() {
        "$0/pg_ctl" -w -D "$dir/data" -l "$dir/log" \
            -o "-k $dir -c listen_addresses= -c fsync=off $options" start >/dev/null 2>&1
        echo "$dir"
    }
    stop() {
        "$0/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null 2>&1 || true
        rm -rf "$dir"
    }
    trap stop EXIT
    trap exit HUP INT TERM
    "$0/initdb" -D "$dir/data" -U cenote -A trust --no-sync >"$dir/log" 2>&1
    start
    while read -r _; do
        main=$(head -n 1 "$dir/data/postmaster.pid")
        all="$main $(ps -o pid= --ppid "$main")"
        kill -9 $all
        for pid in $all; do
            while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
        done
        start
    done
"#;

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    script: Child,
    output: BufReader<ChildStdout>,
    dir: String,
}

/// The settings of a connection to an empty schema; `None` if no server is installed.
pub(crate) fn fresh_schema() -> Option<String> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static SCHEMAS: AtomicU64 = AtomicU64::new(0);
    let schema = format!("test{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
    Some(SERVER.get_or_init(Server::start).as_ref()?.schema(&schema))
}

impl Server {
    /// A new cluster; `None` if no server is installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// The same with more options of the server.
    pub(crate) fn start_with(options: &str) -> Option<Self> {
        let Some(bin) = installed() else {
            let missing = "no /usr/lib/postgresql/*/bin: install the package `postgresql`";
            assert!(std::env::var_os("CENOTE_REQUIRE_POSTGRES").is_none(), "{missing}");
            eprintln!("SKIPPED, NOT TESTED: {missing}");
            return None;
        };
        let mut script = unprivileged()
            .arg("-c")
            .arg(SCRIPT)
            .arg(bin)
            .arg(options)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell runs");
        let output = BufReader::new(script.stdout.take().expect("it is piped"));
        let mut server = Self { script, output, dir: String::new() };
        server.dir = server.ready();
        Some(server)
    }

    /// Creates an empty schema, and returns the settings of a connection to it.
    pub(crate) fn schema(&self, name: &str) -> String {
        let config = format!("host={} user=cenote dbname=postgres", self.dir);
        self.client(5432).batch_execute(&format!("CREATE SCHEMA {name}")).expect("the name is new");
        format!("{config} options='-c search_path={name}'")
    }

    /// Where its sockets are.
    pub(crate) fn dir(&self) -> &str {
        &self.dir
    }

    /// A connection besides those of the engines, through the socket of this port (5432 unless set by the options).
    pub(crate) fn client(&self, port: u16) -> Client {
        let config = format!("host={} port={port} user=cenote dbname=postgres", self.dir);
        Client::connect(&config, NoTls).expect("the server is ready")
    }

    /// Kills all of its processes; it is restarted in the background.
    pub(crate) fn kill(&mut self) {
        self.script.stdin.as_mut().unwrap().write_all(b"kill\n").unwrap();
    }

    /// Waits until it accepts connections, and returns its directory.
    pub(crate) fn ready(&mut self) -> String {
        let mut dir = String::new();
        self.output.read_line(&mut dir).expect("the script says where");
        assert!(!dir.is_empty(), "the PostgreSQL server did not start");
        dir.trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.script.stdin.take());
        let _ = self.script.wait();
    }
}

/// The newest server of Debian's packages.
fn installed() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.flatten().map(|version| version.path().join("bin"));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}

/// A shell; PostgreSQL refuses to run as root, so root becomes the user of the package.
pub(crate) fn unprivileged() -> Command {
    if !is_root() {
        return Command::new("sh");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    command
}

pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
}
