//! A server, and a mount of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The password of all users.
pub(crate) const PASSWORD: &str = "a secret of the tests";
/// The longest that anything here should take on a machine under load.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Whether file systems can be mounted here.
pub(crate) fn can_mount() -> bool {
    let device = Path::new("/dev/fuse").exists();
    let fusermount = Command::new("fusermount3").arg("-V").output().is_ok();
    let can = device && fusermount;
    assert!(
        can || std::env::var_os("CENOTE_REQUIRE_FUSE").is_none(),
        "no /dev/fuse or fusermount3"
    );
    if !can {
        println!("skipped: mounting needs /dev/fuse and fusermount3");
    }
    can
}

/// A store with a server, and a directory to mount it at.
pub(crate) struct World {
    server: Option<Child>,
    pub(crate) address: String,
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "mnt"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("settings"), "[limits]\nlocal_file_leases = 64\n").unwrap();
        let mut world = Self { server: None, address: "127.0.0.1:0".to_owned(), dir };
        world.feed(&["init", "store", "--admin", "ada", "--password-stdin"]);
        // So that a mount begins empty.
        world.ok(&["--store", "store", "rm", "-r", "--permanent", "/home", "/trash"]);
        world.serve();
        world.feed(&["login", &world.url(), "--user", "ada", "--password-stdin"]);
        world
    }

    /// Runs the program, which prompts for a password.
    pub(crate) fn feed(&self, arguments: &[&str]) {
        let mut command = self.cenote(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}");
    }

    /// Starts the server, at its former address.
    pub(crate) fn serve(&mut self) {
        let serve = ["serve", "store", "--listen", &self.address, "--settings", "settings"];
        let mut command = self.cenote(&serve);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        self.address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        self.server = Some(child);
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        let mut server = self.server.take().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program, with nothing of the environment of the tests.
    pub(crate) fn cenote(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cenote"));
        command.args(arguments).env_clear().current_dir(self.dir.path());
        command.env("HOME", self.path("home")).env("CENOTE_URL", self.url());
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    /// Runs the program, which has to succeed; returns what it prints.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let done = self.cenote(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{arguments:?}: {errors}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Mounts the store at `mnt` with a process that stays in the foreground; returns it once the store is mounted.
    pub(crate) fn mount_in_foreground(&self, options: &[&str]) -> Child {
        let arguments = [&["mount"], options, &["--foreground", "mnt"]].concat();
        let mut process = self.cenote(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("mounted / at mnt"), "{line}");
        process
    }

    /// Mounts the store at `mnt`.
    pub(crate) fn mount(&self, options: &[&str]) -> Mount<'_> {
        self.mount_as(&[], options)
    }

    /// The same with more variables in the environment, such as those of another user.
    pub(crate) fn mount_as(&self, variables: &[(&str, &str)], options: &[&str]) -> Mount<'_> {
        let log = self.path("mount.log");
        let fixed = ["mount", "--log", log.to_str().unwrap()];
        let mut command = self.cenote(&[&fixed, options, &["mnt"]].concat());
        let done = command.envs(variables.iter().copied()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        Mount(self)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // It may have exited already.
            let _ended = server.kill();
            let _ended = server.wait();
        }
    }
}

/// A mounted store. Dropping it unmounts it.
pub(crate) struct Mount<'a>(&'a World);

impl Mount<'_> {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path("mnt").join(name)
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.0.path("mount.log")).unwrap_or_default()
    }

    /// Runs a script of the shell in the mount, which has to succeed; returns what it prints.
    pub(crate) fn sh(&self, script: &str) -> String {
        let mut command = Command::new("sh");
        command.args(["-euc", script]).current_dir(self.path(""));
        command.env("HOME", self.0.path("home")).env("SCRATCH", self.0.path("scratch"));
        let done = command.output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
        assert!(done.status.success(), "{script}\n{out}\n{err}\n{}", self.log());
        out.into_owned()
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        // The test may have unmounted it already.
        let _ended = self.0.cenote(&["umount", "--lazy", "mnt"]).output();
    }
}

/// Waits until a condition holds that no event reports.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = jiff::Timestamp::now();
    while !holds() {
        let waited = jiff::Timestamp::now().duration_since(begun);
        assert!(waited.as_secs() < PATIENCE.as_secs() as i64, "{what}");
        std::thread::yield_now();
    }
}
