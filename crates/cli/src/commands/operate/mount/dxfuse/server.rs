//! The server that dxfuse would use: the variables and the configuration file of `dx`, of which the file counts more.

use std::path::{Path, PathBuf};

use cenote_client::{Client, Credential, HttpTransport};
use serde_json::Value;

use crate::error::Result;

/// Where the server is, and the token for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    url: String,
    token: String,
    ca_file: Option<PathBuf>,
}

impl Server {
    /// That of the environment; none where `dx` is not set up.
    pub(super) fn of_environment() -> Option<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let file = std::fs::read(home.join(".dnanexus_config/environment.json"));
        let file = file.ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self::of(|name| std::env::var(name).ok(), &file.unwrap_or_default())
    }

    fn of(variable: impl Fn(&str) -> Option<String>, file: &Value) -> Option<Self> {
        let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
        let in_file = |name: &str| Some(file.get(name)?.as_str()?.to_owned());
        let setting = |name: &str| in_file(name).or_else(|| variable(name));
        let host = setting("DX_APISERVER_HOST")?;
        let protocol = setting("DX_APISERVER_PROTOCOL").unwrap_or_else(|| "https".to_owned());
        let port = setting("DX_APISERVER_PORT").unwrap_or_else(|| "443".to_owned());
        let token = in_file("DX_SECURITY_CONTEXT")
            .and_then(|context| token(&context))
            .or_else(|| variable("DX_API_TOKEN"))
            .or_else(|| token(&variable("DX_SECURITY_CONTEXT")?))?;
        let ca_file = variable("DX_TLS_CERTIFICATE_FILE").or_else(|| variable("DX_CA_CERT"));
        Some(Self {
            url: format!("{protocol}://{host}:{port}"),
            token,
            ca_file: ca_file.filter(|file| file != "NOVERIFY").map(PathBuf::from),
        })
    }

    pub(super) fn client(&self) -> Result<Client> {
        let transport = HttpTransport::new(&self.url, self.ca_file.as_deref().map(Path::new))?;
        Ok(Client::new(transport).with_credential(&Credential::Token(self.token.clone()))?)
    }
}

fn token(context: &str) -> Option<String> {
    let context: Value = serde_json::from_str(context).ok()?;
    Some(context["auth_token"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_file_takes_precedence_over_variables() {
        let variables = |name: &str| {
            let value = match name {
                "DX_APISERVER_HOST" => "h",
                "DX_APISERVER_PORT" => "1",
                "DX_APISERVER_PROTOCOL" => "http",
                "DX_SECURITY_CONTEXT" => "{\"auth_token\": \"a\"}",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let of = |file| Server::of(variables, &file).map(|it| (it.url, it.token));
        assert_eq!(of(json!({})), Some(("http://h:1".into(), "a".into())));
        let file =
            json!({ "DX_APISERVER_HOST": "i", "DX_SECURITY_CONTEXT": "{\"auth_token\": \"b\"}" });
        assert_eq!(of(file), Some(("http://i:1".into(), "b".into())));
        assert_eq!(Server::of(|_| None, &json!({})), None);
        let without_token = |name: &str| variables(name).filter(|_| name != "DX_SECURITY_CONTEXT");
        assert_eq!(Server::of(without_token, &json!([])), None);
    }
}
