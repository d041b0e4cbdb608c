//! Servers over one catalog and one bucket, each of which can be killed and started again.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use base64::Engine as _;

use crate::bucket::Bucket;
use crate::bucket_server::Program;
use crate::database::Database;
use crate::requests::{Answer, pause, send};
use crate::world::World;
use crate::{bucket_server, postgres_server};

/// So many pauses of [`PAUSE`] a recovery may take.
const PAUSES: usize = 1_200;
const PAUSE: Duration = Duration::from_millis(50);

/// How long a server waits for a database that hangs.
const PATIENCE: &str = "connect_timeout=5 query_timeout=5";

/// The servers, and what they share.
pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    pub(crate) bucket: Bucket,
    pub(crate) token: String,
    postgres: Mutex<postgres_server::Server>,
    _buckets: bucket_server::Server,
}

/// One server, with its own way to the database.
pub(crate) struct Node {
    pub(crate) world: World,
    pub(crate) database: Database,
    flags: Vec<String>,
    running: Mutex<Option<Child>>,
    url: Mutex<String>,
}

impl Cluster {
    /// None if PostgreSQL or moto is not installed.
    pub(crate) fn start(count: usize, settings: &str) -> Option<Self> {
        Self::start_with(Program::Moto, None, count, settings)
    }

    /// The same with the bucket at this program, and with the tables of the catalog in a directory of the user who runs PostgreSQL.
    pub(crate) fn start_with(
        program: Program,
        disk: Option<&Path>,
        count: usize,
        settings: &str,
    ) -> Option<Self> {
        let buckets = bucket_server::Server::start(program)?;
        let postgres = postgres_server::Server::start()?;
        buckets.make_bucket("bucket");
        let options = buckets.options();
        let endpoint = options[0].1.strip_prefix("http://").unwrap();
        let bucket = Bucket::before(endpoint);
        let mut catalog = postgres.schema("cluster");
        if let Some(disk) = disk {
            let create = format!("CREATE TABLESPACE disk LOCATION '{}'", disk.display());
            postgres.client(5432).batch_execute(&create).unwrap();
            let schema = "search_path=cluster";
            catalog = catalog.replace(schema, &format!("{schema} -c default_tablespace=disk"));
        }
        let nodes = (0..count).map(|number| {
            let database = Database::before(postgres.dir());
            let host = format!("host={}", postgres.dir());
            let through = format!("host=127.0.0.1 port={} {PATIENCE}", database.port());
            let catalog = catalog.replace(&host, &through);
            Node::new(number == 0, &catalog, database, &options, bucket.address(), settings)
        });
        let nodes: Vec<Node> = nodes.collect();
        let token = nodes[0].token();
        let postgres = Mutex::new(postgres);
        Some(Self { nodes, bucket, token, postgres, _buckets: buckets })
    }

    pub(crate) fn send(&self, node: usize, request: &str, body: &[u8]) -> std::io::Result<Answer> {
        self.nodes[node].send(request, &format!("Bearer {}", self.token), body)
    }

    /// The answer of a server, while nothing fails.
    pub(crate) fn json(&self, node: usize, request: &str, body: &str) -> serde_json::Value {
        let answer = self.send(node, request, body.as_bytes()).unwrap();
        assert!((200..300).contains(&answer.status), "{request}: {answer:?}");
        answer.json()
    }

    /// A token of the iRODS opening, which all servers take.
    pub(crate) fn irods_login(&self) -> String {
        let login = base64::engine::general_purpose::STANDARD
            .encode(format!("ada:{}", crate::world::PASSWORD));
        let request = "POST /irods-http-api/0.7.0/authenticate";
        let answer = self.nodes[0].send(request, &format!("Basic {login}"), b"").unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        String::from_utf8(answer.body).unwrap()
    }

    /// Kills all processes of the database, and waits until it accepts connections again.
    pub(crate) fn restart_database(&self) {
        let mut postgres = self.postgres.lock().unwrap();
        postgres.kill();
        postgres.ready();
    }

    /// The number of rows of the catalog whose keys begin so.
    pub(crate) fn rows(&self, prefix: &str) -> i64 {
        let mut client = self.postgres.lock().unwrap().client(5432);
        let count = "SELECT count(*) FROM cluster.cenote_rows WHERE substr(key, 1, $2) = $1";
        let length = i32::try_from(prefix.len()).unwrap();
        client.query_one(count, &[&prefix.as_bytes(), &length]).unwrap().get(0)
    }

    /// Waits until something holds.
    pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
        for _ in 0..PAUSES {
            if holds() {
                return;
            }
            pause(PAUSE);
        }
        panic!("{what}: not within a minute");
    }
}

impl Node {
    fn new(
        is_first: bool,
        catalog: &str,
        database: Database,
        options: &[(String, String)],
        endpoint: &str,
        settings: &str,
    ) -> Self {
        let mut variables: Vec<(String, String)> = options
            .iter()
            .map(|(name, value)| (format!("AWS_{}", name.to_uppercase()), value.clone()))
            .collect();
        variables[0].1 = endpoint.to_owned();
        let world = World::empty(variables);
        let flags = ["--catalog", catalog, "--contents", "s3://bucket/prefix"];
        let made = match is_first {
            true => world.init(&flags),
            false => world.run(&[&["init", "store", "--join"], &flags[..]].concat()),
        };
        assert!(made.status.success(), "{made:?}");
        world.file("server.toml", settings);
        let serve = ["serve", "store", "--listen", "127.0.0.1:0", "--settings", "server.toml"];
        let flags = serve.map(str::to_owned).to_vec();
        let node =
            Self { world, database, flags, running: Mutex::default(), url: Mutex::default() };
        node.start();
        node
    }

    pub(crate) fn url(&self) -> String {
        self.url.lock().unwrap().clone()
    }

    /// Its answer to a request with this `Authorization`.
    pub(crate) fn send(&self, request: &str, login: &str, body: &[u8]) -> std::io::Result<Answer> {
        send(&self.url(), login, request, body)
    }

    /// Starts it again, at another address.
    pub(crate) fn start(&self) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let log = self.world.path("log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.world.command(&flags);
        let mut server = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").map(str::to_owned);
        *self.url.lock().unwrap() = url.unwrap_or_else(|| panic!("{}", self.log()));
        *self.running.lock().unwrap() = Some(server);
    }

    /// Without a warning.
    pub(crate) fn kill(&self) {
        let mut server = self.running.lock().unwrap().take().unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
    }

    /// Lets it end what it does.
    pub(crate) fn stop(&self) {
        let Some(mut server) = self.running.lock().unwrap().take() else { return };
        let id = server.id().to_string();
        let status = std::process::Command::new("kill").args(["-TERM", &id]).status();
        assert!(status.unwrap().success());
        server.wait().unwrap();
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.world.path("log")).unwrap_or_default()
    }

    /// The end of that.
    pub(crate) fn last_log(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// What a command at this server prints.
    pub(crate) fn command(&self, arguments: &[&str]) -> Vec<u8> {
        let mut command = self.world.command(arguments);
        command.env("CENOTE_URL", self.url()).env("CENOTE_USER", "ada");
        let output = command.env("CENOTE_PASSWORD", crate::world::PASSWORD).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        output.stdout
    }

    /// A token of the administrator.
    fn token(&self) -> String {
        let added = self.command(&["token", "add", "test", "--scope", "admin", "--json"]);
        let added: serde_json::Value = serde_json::from_slice(&added).unwrap();
        added["token"].as_str().unwrap().to_owned()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(mut server) = self.running.lock().unwrap().take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
