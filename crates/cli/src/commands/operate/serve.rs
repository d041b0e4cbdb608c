//! `cenote serve`: serves a store in a directory over HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use cenote_server::embedded::open_dir_with;
use cenote_server::{Config, Server, Tls, raise_descriptor_limit, start_log, stop_signal};

use crate::connect::not_opened;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// Serve a store over HTTP until it is stopped (control-C, or SIGTERM).
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
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let config = self.config()?;
        start_log(&config.log)
            .map_err(|error| CliError::new(Kind::Usage, format!("invalid log filter: {error}")))?;
        raise_descriptor_limit();
        let limits = config.limits.change_sets();
        let embedded = open_dir_with(&self.dir, limits).map_err(not_opened)?;
        let server = Server::bind(embedded.store().clone(), &config).await.map_err(|error| {
            CliError::new(Kind::Unavailable, error.to_string())
                .hint("choose another address with --listen, or port 0 for a free port")
        })?;
        let url = server.url();
        if config.tls.is_none() && !config.listen.ip().is_loopback() {
            session.output.warn(
                "without TLS, passwords and contents can be read by anyone on the network path",
                "use --tls-cert and --tls-key, or listen on 127.0.0.1 behind a proxy that terminates TLS",
            );
        }
        session
            .output
            .item(&serde_json::json!({ "url": url }), |_| format!("listening on {url}"))?;
        session.output.flush()?;
        server.run(stop_signal()?).await;
        Ok(())
    }

    fn config(&self) -> Result<Config> {
        let mut config = self.settings.as_deref().map_or_else(|| Ok(Config::default()), read)?;
        config.listen = self.listen.unwrap_or(config.listen);
        if let (Some(cert), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) {
            config.tls = Some(Tls { cert, key });
        }
        Ok(config)
    }
}

fn read(path: &Path) -> Result<Config> {
    let wrong = |what: String| {
        CliError::new(Kind::Usage, format!("the server's settings file {}: {what}", path.display()))
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))
}
