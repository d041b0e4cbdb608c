//! `cenote token`: credentials for programs.

use cenote_client::NewToken;

use crate::commands::record;
use crate::duration::Duration;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Create, list and revoke tokens, with which programs act on your behalf.
///
/// A token is limited to working with resources unless it has scopes. To create a token you need your password, or a
/// token with the scope `tokens`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create a token and print it, once
    Add {
        /// A label that describes its purpose
        label: String,
        /// The highest access level it grants, such as `read`
        #[arg(long)]
        level: Option<String>,
        /// The collection to which it is limited
        #[arg(long, value_name = "PATH")]
        within: Option<StorePath>,
        /// How long it is valid, such as 12h or 30d
        #[arg(long, value_name = "TIME")]
        expires: Option<Duration>,
        /// What the bearer may do besides working with resources
        #[arg(long = "scope", value_name = "SCOPE", value_enum)]
        scopes: Vec<Scope>,
    },
    /// List your tokens
    Ls,
    /// Revoke a token, and the tokens created with it
    Rm { id: String },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// Create tokens that neither exceed nor outlive this one; list and revoke tokens
    Tokens,
    /// Change your password
    Account,
    /// Use the rights of your role: users, groups, places, checks
    Admin,
}

impl Scope {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Account => "account",
            Self::Admin => "admin",
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Add { label, level, within, expires, scopes } => {
                let within = within.map(|path| path.to_string());
                let expires_in = expires.map(Duration::seconds);
                let scopes = scopes.into_iter().map(|scope| scope.as_str().to_owned()).collect();
                let new = NewToken { label, level, within, expires_in, scopes };
                let token = client.add_token(&new).await?;
                session.output.item(&token, record::lines)
            }
            What::Ls => {
                for token in client.tokens().await? {
                    session.output.item(&token, record::row)?;
                }
                Ok(())
            }
            What::Rm { id } => {
                client.remove_token(&id).await?;
                let line = serde_json::json!({ "action": "revoke", "id": id });
                session.output.done(&line, |_| format!("revoked {id}"))
            }
        }
    }
}
