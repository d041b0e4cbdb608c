//! The server that something is brought from, as `dx` has it in its environment.

use std::path::PathBuf;

use cenote_client::dnanexus::Platform;
use serde_json::Value;

use crate::error::{CliError, Kind, Result};
use crate::migrate::secret_in;

/// Where the source is.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The server, such as `https://api.dnanexus.com:443`; else that of `DX_APISERVER_HOST`, `DX_APISERVER_PORT` and
    /// `DX_APISERVER_PROTOCOL`
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// A file with the token for it; else that of `DX_SECURITY_CONTEXT`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl SourceArgs {
    pub(super) fn open(&self) -> Result<Platform> {
        let url = self.from.clone().unwrap_or_else(default_url);
        let ca_file = variable("DX_CA_CERT").map(PathBuf::from);
        Ok(Platform::at(&url, &self.token()?, ca_file.as_deref())?)
    }

    fn token(&self) -> Result<String> {
        if let Some(file) = &self.token_file {
            return secret_in(file);
        }
        let context = variable("DX_SECURITY_CONTEXT");
        let token = context.and_then(|context| {
            let context: Value = serde_json::from_str(&context).ok()?;
            Some(context["auth_token"].as_str()?.to_owned())
        });
        token.ok_or_else(|| {
            CliError::new(Kind::Usage, "there is no token for the source server")
                .hint("run it where `dx` is logged in: `source <(dx env --bash)`")
                .hint("or give --token-file FILE")
        })
    }
}

fn default_url() -> String {
    let or = |name, default: &str| variable(name).unwrap_or_else(|| default.to_owned());
    let (protocol, host) =
        (or("DX_APISERVER_PROTOCOL", "https"), or("DX_APISERVER_HOST", "api.dnanexus.com"));
    format!("{protocol}://{host}:{}", or("DX_APISERVER_PORT", "443"))
}
