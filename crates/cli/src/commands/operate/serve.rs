//! `cenote serve`: serves a store in a directory over HTTP; a missing one is created on request.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cenote_server::embedded::{Embedded, OpenError, is_vacant, open_dir_with, text_dir};
use cenote_server::{Config, Server, Tls, raise_descriptor_limit, start_log, stop_signal};
use cenote_store::Store;

use crate::commands::operate::init::{ADMIN, Founding};
use crate::connect::not_opened;
use crate::error::{CliError, Kind, Result};
use crate::secret;
use crate::service;
use crate::session::Session;

/// Serve a store over HTTP until it is stopped (control-C, or SIGTERM).
///
/// If the directory is missing or empty, --init creates the store first; without it, the program asks whether to,
/// if it runs in a terminal. As a service of systemd it reports when it is ready, and takes the socket of a socket unit.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The store's directory
    dir: PathBuf,
    /// The address to listen on; with port 0 a free port is chosen and printed [default: 127.0.0.1:8470]
    #[arg(long, value_name = "ADDR:PORT")]
    listen: Option<SocketAddr>,
    /// The certificate chain (PEM); enables HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The server's settings file (TOML): listen, [tls], [limits], [irods], [ldp], [dnanexus], [upkeep], [log]
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Create the store if the directory is missing or empty
    #[arg(long)]
    init: bool,
    /// The administrator's name in a new store [default: admin]
    #[arg(long, value_name = "NAME", requires = "init")]
    admin: Option<String>,
    /// Read the administrator's password from standard input; without this a new one is generated and printed once
    #[arg(long, requires = "init")]
    password_stdin: bool,
    /// Read the administrator's password from a file
    #[arg(long, value_name = "FILE", requires = "init", conflicts_with = "password_stdin")]
    password_file: Option<PathBuf>,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let config = self.config()?;
        start_log(&config.log)
            .map_err(|error| CliError::new(Kind::Usage, format!("invalid log filter: {error}")))?;
        raise_descriptor_limit();
        let embedded = self.open(session, &config)?;
        let server = bind(embedded.store().clone(), &config).await?;
        let url = server.url();
        if config.tls.is_none() && !server.local_addr().ip().is_loopback() {
            session.output.warn(
                "without TLS, passwords and contents can be read by anyone on the network path",
                "use --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that terminates TLS",
            );
        }
        session
            .output
            .item(&serde_json::json!({ "url": url }), |_| format!("listening on {url}"))?;
        session.output.flush()?;
        let stop = stop_signal()?;
        service::ready()?;
        server.run(stop).await;
        Ok(())
    }

    /// Opens the store; a missing one is created if the caller wants it.
    fn open(&self, session: &Session, config: &Config) -> Result<Embedded> {
        let open = || open_dir_with(&self.dir, config.limits.change_sets());
        match open() {
            Err(OpenError::Missing(_)) => {
                self.found(session)?;
                open().map_err(not_opened)
            }
            opened => opened.map_err(not_opened),
        }
    }

    /// Creates the store, or fails.
    fn found(&self, session: &Session) -> Result<()> {
        let founding = match self.init {
            true => {
                let password = secret::given(self.password_stdin, self.password_file.as_deref())?;
                Founding::new(self.admin.clone().unwrap_or_else(|| ADMIN.to_owned()), password)?
            }
            false if !is_vacant(&self.dir) => {
                return Err(not_opened(OpenError::Missing(self.dir.clone())));
            }
            false if secret::has_terminal() => self.offer()?,
            false => return Err(self.missing()),
        };
        founding.run(&self.dir, session, None)
    }

    /// Asks at the terminal whether to create the store, and for whom.
    fn offer(&self) -> Result<Founding> {
        let question = format!("no store is in {}. Create one? [y/N] ", self.dir.display());
        let answer = secret::prompt_line(&question)?.to_lowercase();
        if !matches!(answer.as_str(), "y" | "yes") {
            return Err(self.missing());
        }
        let admin = match secret::prompt_line(&format!("administrator [{ADMIN}]: "))? {
            name if name.is_empty() => ADMIN.to_owned(),
            name => name,
        };
        let password = secret::prompt_new_password(&format!("password of {admin} [generated]: "))?;
        Founding::new(admin, Some(password).filter(|password| !password.is_empty()))
    }

    fn missing(&self) -> CliError {
        let dir = self.dir.display();
        CliError::new(Kind::NotFound, format!("no store is in {dir}")).hint(format!(
            "create it first with `cenote init {dir}`, or now with `cenote serve {dir} --init`"
        ))
    }

    fn config(&self) -> Result<Config> {
        let mut config = self.settings.as_deref().map_or_else(|| Ok(Config::default()), read)?;
        config.listen = self.listen.unwrap_or(config.listen);
        config.search.index.get_or_insert_with(|| text_dir(&self.dir));
        if let (Some(cert), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) {
            config.tls = Some(Tls { cert, key });
        }
        Ok(config)
    }
}

/// Listens where the settings say, or takes the socket of the service manager.
async fn bind(store: Store, config: &Config) -> Result<Server> {
    let server = match service::socket()? {
        Some(socket) => Server::inherit(socket, store, config),
        None => Server::bind(store, config).await,
    };
    server.map_err(|error| {
        CliError::new(Kind::Unavailable, error.to_string())
            .hint("choose another address with --listen, or port 0 for a free port")
    })
}

/// Reads the settings file of a server.
pub(crate) fn read(path: &Path) -> Result<Config> {
    let wrong = |what: String| {
        CliError::new(Kind::Usage, format!("the server's settings file {}: {what}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))
}
