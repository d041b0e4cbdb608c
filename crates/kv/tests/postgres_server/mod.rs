//! A PostgreSQL server for the time of a test run: on a Unix socket in a directory of its
//! own, run by an unprivileged user, gone when the test process is.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use postgres::{Client, NoTls};

/// Makes a cluster, prints its directory once it answers, and stops it and removes
/// everything when standard input ends, which it does with the process that holds it.
const SCRIPT: &str = r#"
    set -e
    dir=$(mktemp -d)
    "$0/initdb" -D "$dir/data" -U cenote -A trust --no-sync >"$dir/log" 2>&1
    "$0/pg_ctl" -w -D "$dir/data" -l "$dir/log" \
        -o "-k $dir -c listen_addresses= -c fsync=off" start >/dev/null
    echo "$dir"
    read -r _ || true
    "$0/pg_ctl" -D "$dir/data" -m immediate stop >/dev/null
    rm -rf "$dir"
"#;

/// The settings of a connection to an empty schema; none if there is no server to start.
pub(crate) fn fresh_schema() -> Option<String> {
    static SERVER: OnceLock<Option<(Child, String)>> = OnceLock::new();
    static SCHEMAS: AtomicU64 = AtomicU64::new(0);
    let (_, dir) = SERVER.get_or_init(start).as_ref()?;
    let config = format!("host={dir} user=cenote dbname=postgres");
    let schema = format!("test{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
    let mut client = Client::connect(&config, NoTls).expect("the server is ready");
    client.batch_execute(&format!("CREATE SCHEMA {schema}")).expect("the name is new");
    Some(format!("{config} options='-c search_path={schema}'"))
}

fn start() -> Option<(Child, String)> {
    let Some(bin) = installed() else {
        let missing = "no /usr/lib/postgresql/*/bin: install the package `postgresql`";
        assert!(std::env::var_os("CENOTE_REQUIRE_POSTGRES").is_none(), "{missing}");
        eprintln!("SKIPPED, NOT TESTED: {missing}");
        return None;
    };
    let mut server = unprivileged()
        .arg("-c")
        .arg(SCRIPT)
        .arg(bin)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell runs");
    let mut dir = String::new();
    let output = server.stdout.take().expect("it is piped");
    BufReader::new(output).read_line(&mut dir).expect("the script says where");
    assert!(!dir.is_empty(), "the PostgreSQL server did not start");
    Some((server, dir.trim().to_owned()))
}

/// The newest server of Debian's packages.
fn installed() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.flatten().map(|version| version.path().join("bin"));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}

/// A shell; PostgreSQL refuses to be run by root, so root becomes the user of the package.
fn unprivileged() -> Command {
    if !is_root() {
        return Command::new("sh");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "sh"]);
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    Path::new("/proc/self").metadata().is_ok_and(|process| process.uid() == 0)
}
