//! The server that a repository is brought from.

use std::path::PathBuf;

use cenote_client::Credential;
use cenote_client::ldp::LinkedData;

use crate::error::{CliError, Kind, Result};
use crate::migrate::secret_in;

/// How to log in there.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The user at the source, if it asks for one
    #[arg(long, value_name = "NAME", requires = "source_password_file")]
    source_user: Option<String>,
    /// A file with the password of that user
    #[arg(long, value_name = "FILE", requires = "source_user")]
    source_password_file: Option<PathBuf>,
    /// A file with a token for the source, instead of a user
    #[arg(long, value_name = "FILE", conflicts_with = "source_user")]
    source_token_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust at the source
    #[arg(long, value_name = "FILE")]
    source_ca_file: Option<PathBuf>,
}

impl SourceArgs {
    /// The server, and the path of the address.
    pub(super) fn open(&self, url: &str) -> Result<(LinkedData, String)> {
        let credential = self.credential()?;
        LinkedData::at(url, credential.as_ref(), self.source_ca_file.as_deref()).map_err(|error| {
            CliError::new(Kind::Usage, error.to_string())
                .hint("give the address of what to copy, such as http://fedora.example:8080/rest/")
        })
    }

    fn credential(&self) -> Result<Option<Credential>> {
        if let Some(file) = &self.source_token_file {
            return Ok(Some(Credential::Token(secret_in(file)?)));
        }
        let Some((user, file)) = self.source_user.clone().zip(self.source_password_file.as_ref())
        else {
            return Ok(None);
        };
        Ok(Some(Credential::Password { user, password: secret_in(file)? }))
    }
}
