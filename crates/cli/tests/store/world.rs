//! A store in a temporary directory, and the program to act on it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use cenote_client::{Client, Credential, HttpTransport, NewResource, ResourceKind};

/// The password of the administrator, `ada`.
pub(crate) const PASSWORD: &str = "a secret of the tests";

/// The program of this build, or that of `CENOTE_PROGRAM`: a build for release has other races.
fn program() -> String {
    std::env::var("CENOTE_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_cenote").to_owned())
}

/// A store, accessed in one of two ways.
pub(crate) struct World {
    dir: tempfile::TempDir,
    server: Option<Child>,
    url: String,
    /// More variables for the program.
    variables: Vec<(String, String)>,
}

impl World {
    /// The program opens the store's directory itself.
    pub(crate) fn local() -> Self {
        let world = Self::empty(Vec::new());
        let output = world.init(&[]);
        assert!(output.status.success(), "{output:?}");
        world
    }

    /// A directory for a store that does not exist yet, and variables for the program.
    pub(crate) fn empty(variables: Vec<(String, String)>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = dir.path().join("store").to_str().unwrap().to_owned();
        let world = Self { dir, server: None, url, variables };
        std::fs::write(world.path("config.toml"), "").unwrap();
        world
    }

    /// Creates the store.
    pub(crate) fn init(&self, flags: &[&str]) -> Output {
        let init = ["init", &self.url, "--admin", "ada", "--password-stdin"];
        self.with_input(&[&init, flags].concat(), PASSWORD)
    }

    /// A server has the store open.
    pub(crate) fn served() -> Self {
        Self::local().serve(&[])
    }

    /// Both ways, with permission for administrators to add places beside the store.
    pub(crate) fn both_with_vaults() -> [Self; 2] {
        let world = Self::local();
        world.allow("vaults", "");
        [Self::local(), world.serve(&[])]
    }

    /// A server has the store open, and speaks TLS with the certificate `cert.pem`.
    pub(crate) fn served_with_tls() -> Self {
        let world = Self::local();
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        world.file("cert.pem", made.cert.pem());
        world.file("key.pem", made.signing_key.serialize_pem());
        world.serve(&["--tls-cert", "cert.pem", "--tls-key", "key.pem"])
    }

    /// Kills the server without warning.
    pub(crate) fn kill(&mut self) {
        let server = self.server.as_mut().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// The same store, with a server that has it open.
    pub(crate) fn serve(self, flags: &[&str]) -> Self {
        let serve = ["serve", "store", "--listen", "127.0.0.1:0"];
        let server = self.command(&[&serve, flags].concat());
        self.serve_by(server)
    }

    /// The same by another command that serves it.
    pub(crate) fn serve_as(self, arguments: &[&str]) -> Self {
        let server = self.command(arguments);
        self.serve_by(server)
    }

    /// The same, where the server may have no more than so many descriptors, and fewer at its start.
    pub(crate) fn serve_with_descriptors(self, most: usize, flags: &[&str]) -> Self {
        let limited = format!("ulimit -Sn {} && ulimit -Hn {most} && exec \"$0\" \"$@\"", most / 2);
        let program = program();
        let serve = ["-c", &limited, &program, "serve", &self.url, "--listen", "127.0.0.1:0"];
        let mut server = Command::new("/bin/sh");
        server.args([&serve, flags].concat()).current_dir(self.dir.path()).env_clear();
        server.env("CENOTE_CONFIG", self.path("config.toml"));
        self.serve_by(server)
    }

    fn serve_by(mut self, mut server: Command) -> Self {
        let world = &mut self;
        let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let line = line.trim().strip_prefix("listening on ").unwrap();
        world.url = line.split(',').next().unwrap().to_owned();
        world.server = Some(server);
        self
    }

    /// The output of a listening server on stderr, up to its address.
    pub(crate) fn serve_on(self, address: &str) -> String {
        let mut server = self.command(&["serve", &self.url, "--listen", address]);
        let server = server.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = server.spawn().unwrap();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        server.kill().unwrap();
        let output = server.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let lines = stderr.lines().filter(|line| line.starts_with("cenote:"));
        lines.collect()
    }

    /// The address of the server, or the store's directory.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The process of the server.
    pub(crate) fn server_id(&self) -> u32 {
        self.server.as_ref().unwrap().id()
    }

    /// Both ways, for tests of behaviour that is the same in both.
    pub(crate) fn both() -> [Self; 2] {
        [Self::local(), Self::served()]
    }

    /// Lets files below a directory beside the store be registered.
    pub(crate) fn may_register(&self, name: &str) {
        self.allow("register", name);
    }

    /// Adds a directory beside the store to its settings.
    fn allow(&self, what: &str, name: &str) {
        let (settings, directory) = (self.path("store/store.toml"), self.path(name));
        let written = std::fs::read_to_string(&settings).unwrap();
        std::fs::write(settings, format!("{what} = [{directory:?}]\n{written}")).unwrap();
    }

    /// A path beside the store.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A file beside the store, with the directories above it.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The program with nothing of this machine's settings; it works in the world's directory.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .current_dir(self.dir.path())
            .env_clear()
            .env("CENOTE_CONFIG", self.path("config.toml"))
            .env("CENOTE_URL", &self.url)
            .env("TZ", "UTC")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.server.is_some() {
            command.env("CENOTE_USER", "ada").env("CENOTE_PASSWORD", PASSWORD);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    pub(crate) fn with_input(&self, arguments: &[&str], input: &str) -> Output {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// The response of the server at this address.
    pub(crate) fn get(&self, path: &str) -> String {
        self.send(&format!("GET {path}"), "", "")
    }

    /// The response of the server to a form.
    pub(crate) fn post(&self, path: &str, authorization: &str, form: &str) -> String {
        let head = format!(
            "Authorization: {authorization}\r\nContent-Length: {}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n",
            form.len()
        );
        self.send(&format!("POST {path}"), &head, form)
    }

    /// The response of the server to a request with these lines of a header and this body.
    pub(crate) fn send(&self, request: &str, head: &str, body: &str) -> String {
        let host = self.url.strip_prefix("http://").unwrap();
        let mut line = std::net::TcpStream::connect(host).unwrap();
        let first = format!("{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close");
        write!(line, "{first}\r\n{head}\r\n{body}").unwrap();
        let mut answer = String::new();
        line.read_to_string(&mut answer).unwrap();
        answer
    }

    /// How many requests the server has answered.
    pub(crate) fn requests(&self) -> u64 {
        let answer = self.get("/metrics");
        let counts =
            answer.lines().filter_map(|line| line.strip_prefix("cenote_http_requests_total"));
        counts.map(|count| count.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// A client of the server, as the administrator.
    pub(crate) fn client(&self) -> Client {
        let credential = Credential::Password { user: "ada".into(), password: PASSWORD.into() };
        let client = Client::new(HttpTransport::new(&self.url, None).unwrap());
        client.with_credential(&credential).unwrap()
    }

    /// Creates a resource that has only a description, for which there is no command. Requires a
    /// server.
    pub(crate) fn create_description(&self, path: &str) {
        let client = self.client();
        let new = NewResource {
            to: path.into(),
            kind: ResourceKind::Description,
            target: None,
            parents: false,
            exist_ok: false,
            mode: None,
            mtime: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(client.create(&new)).unwrap();
    }

    /// The output of a run that succeeds, and prints nothing on stderr.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && stderr.is_empty(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code of a run that fails, and its message; it prints nothing on stdout.
    pub(crate) fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty(), "{arguments:?} printed {:?}", output.stdout);
        (output.status.code().unwrap(), stderr)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The names of files below a directory with their bytes.
pub(crate) fn contents(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        match entry.file_type() {
            kind if kind.is_file() => found.push((name, std::fs::read(entry.path()).unwrap())),
            kind if kind.is_symlink() => {
                let target = std::fs::read_link(entry.path()).unwrap();
                found.push((name, target.into_os_string().into_encoded_bytes()));
            }
            _ => found.push((format!("{name}/"), Vec::new())),
        }
    }
    found
}
