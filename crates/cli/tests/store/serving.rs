//! `cenote serve` of a store that does not exist yet, and as a service of systemd.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use crate::world::{PASSWORD, World};

const SERVE: [&str; 4] = ["serve", "new", "--listen", "127.0.0.1:0"];

/// A server, and the lines that it printed up to its address.
struct Served {
    process: Child,
    stdout: String,
}

impl Served {
    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut stdout = String::new();
        while !stdout.contains("listening on ") {
            assert!(lines.read_line(&mut stdout).unwrap() > 0, "it ended: {stdout}");
        }
        Self { process, stdout }
    }

    fn url(&self) -> &str {
        self.stdout.trim_end().rsplit_once("listening on ").unwrap().1
    }

    /// Whether the administrator of this name has this password.
    fn knows(&self, world: &World, user: &str, password: &str) -> bool {
        let mut whoami = world.command(&["--store", self.url(), "whoami"]);
        whoami.env("CENOTE_URL", self.url()).env("CENOTE_USER", user);
        whoami.env("CENOTE_PASSWORD", password).output().unwrap().status.success()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_missing_store_is_refused_with_a_hint_and_left_alone() {
    let world = World::local();
    let (code, stderr) = world.refused(&SERVE);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("no store is in new\n"), "{stderr}");
    assert!(
        stderr.contains("`cenote init new`, or now with `cenote serve new --init`"),
        "{stderr}"
    );
    assert!(!world.path("new").exists());
    let (code, stderr) = world.refused(&["serve", "new", "--admin", "ada"]);
    assert!(code == 2 && stderr.contains("--init"), "{stderr}");
}

#[test]
fn init_creates_the_store_once() {
    let world = World::local();
    let password = world.file("password", format!("{PASSWORD}\n"));
    let options = ["--init", "--admin", "eve", "--password-file", password.to_str().unwrap()];
    let first = Served::start(world.command(&[&SERVE[..], &options].concat()));
    assert!(first.stdout.starts_with("made a store in new\nadministrator  eve\nlistening"));
    assert!(first.knows(&world, "eve", PASSWORD));
    drop(first);
    // From now on the options have no effect, even if the file is missing.
    std::fs::remove_file(&password).unwrap();
    let again = Served::start(world.command(&[&SERVE[..], &options].concat()));
    assert!(again.stdout.starts_with("listening"), "{}", again.stdout);
    assert!(again.knows(&world, "eve", PASSWORD));
}

#[test]
fn init_generates_a_password_and_refuses_a_directory_with_other_files() {
    let world = World::local();
    std::fs::create_dir(world.path("new")).unwrap();
    let made = Served::start(world.command(&[&SERVE[..], &["--init"]].concat()));
    let password = made.stdout.lines().find_map(|line| line.strip_prefix("password ")).unwrap();
    let password = password.split_whitespace().next().unwrap();
    assert!(made.knows(&world, "admin", password), "{}", made.stdout);
    world.file("full/x", "1");
    let (code, stderr) = world.refused(&["serve", "full", "--init"]);
    assert!(code == 4 && stderr.contains("the directory is not empty"), "{stderr}");
    assert_eq!(world.refused(&["serve", "full"]).0, 3);
}

#[test]
fn a_password_file_has_a_password() {
    let world = World::local();
    world.file("empty", "\n");
    for (file, wrong) in [("empty", "is empty"), ("gone", "No such file")] {
        for command in ["init", "serve"] {
            let init = ["--init"];
            let init = if command == "serve" { &init[..] } else { &[] };
            let given = [&[command, "new", "--password-file", file], init].concat();
            let (code, stderr) = world.refused(&given);
            assert!(code == 2 && stderr.contains(wrong), "{given:?}: {stderr}");
            assert!(!world.path("new").exists());
        }
    }
}

/// Answers the prompts in a terminal, which `script` provides; returns its output.
fn in_a_terminal(
    world: &World,
    answers: &str,
) -> Option<(Child, BufReader<std::process::ChildStdout>)> {
    let program = world.command(&SERVE);
    let line = format!("{} {}", program.get_program().to_str().unwrap(), SERVE.join(" "));
    let mut script = Command::new("script");
    script.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
    script.current_dir(world.path("")).env_clear().env("CENOTE_CONFIG", world.path("config.toml"));
    script.env("PATH", std::env::var_os("PATH").unwrap()).env("SHELL", "/bin/sh");
    let Ok(mut child) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        println!("skipped: this needs script(1)");
        return None;
    };
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    let input = child.stdin.as_mut().unwrap();
    // Each answer is sent after its prompt: `script` would discard input that it reads before the
    // program does.
    for (question, answer) in ["? [y/N] ", "[admin]: ", "[generated]: ", "once more: "]
        .iter()
        .zip(answers.split_inclusive('\n'))
    {
        until(&mut shown, question);
        input.write_all(answer.as_bytes()).unwrap();
    }
    Some((child, shown))
}

/// Reads until a text was shown, and returns the whole output.
fn until(shown: &mut impl std::io::Read, text: &str) -> String {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !seen.ends_with(text.as_bytes()) {
        let read = shown.read(&mut byte).unwrap();
        assert!(read > 0, "it ended: {}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    String::from_utf8(seen).unwrap()
}

#[test]
fn in_a_terminal_it_prompts() {
    let world = World::local();
    let Some((mut child, mut shown)) = in_a_terminal(&world, "no\n") else { return };
    until(&mut shown, "no store is in new");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert!(!world.path("new").exists());

    let answers = format!("y\neve\n{PASSWORD}\n{PASSWORD}\n");
    let Some((mut child, mut shown)) = in_a_terminal(&world, &answers) else { return };
    let output = until(&mut shown, "listening on http://");
    assert!(
        output.contains("made a store in new") && !output.contains("(shown only once)"),
        "{output}"
    );
    let mut url = String::new();
    shown.read_line(&mut url).unwrap();
    let mut whoami = world.command(&["whoami"]);
    whoami.env("CENOTE_URL", format!("http://{}", url.trim()));
    whoami.env("CENOTE_USER", "eve").env("CENOTE_PASSWORD", PASSWORD);
    let whoami = whoami.output().unwrap();
    // Control-C.
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    child.wait().unwrap();
    assert!(whoami.status.success(), "{whoami:?}");
}

#[test]
fn a_service_uses_the_socket_passed_to_it_and_reports_readiness() {
    let world = World::local();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let notified = UnixDatagram::bind(world.path("notify")).unwrap();
    // The shell assigns the descriptor number that the protocol requires, and knows the process id.
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "exec env LISTEN_FDS=1 LISTEN_PID=$$ \"$0\" serve store 3<&0 </dev/null"]);
    shell.arg(env!("CARGO_BIN_EXE_cenote")).current_dir(world.path("")).env_clear();
    shell.env("PATH", std::env::var_os("PATH").unwrap());
    shell.env("CENOTE_CONFIG", world.path("config.toml"));
    shell.env("NOTIFY_SOCKET", world.path("notify")).stdin(OwnedFd::from(socket));
    let served = Served::start(shell);
    assert_eq!(served.url(), format!("http://{address}"));
    let mut message = [0; 64];
    let length = notified.recv(&mut message).unwrap();
    assert_eq!(&message[..length], b"READY=1");
    assert!(served.knows(&world, "ada", PASSWORD));
}
