//! `cenote token`: what programs log in with.

use cenote_client::NewToken;

use super::record;
use crate::duration::Duration;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Make, list and revoke tokens, by which programs act as you.
///
/// A token works with resources only, unless it is given scopes. Making tokens needs your password, or a token of the
/// scope `tokens`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a token; it is printed, this once
    Add {
        /// What it is for
        label: String,
        /// The most that it lets its bearer do, such as `read`
        #[arg(long)]
        level: Option<String>,
        /// The collection that it is good for
        #[arg(long, value_name = "PATH")]
        within: Option<StorePath>,
        /// How long it is good, such as 12h or 30d
        #[arg(long, value_name = "TIME")]
        expires: Option<Duration>,
        /// What it lets its bearer do besides working with resources
        #[arg(long = "scope", value_name = "SCOPE", value_enum)]
        scopes: Vec<Scope>,
    },
    /// List your tokens
    Ls,
    /// Revoke a token, and those that were made by it
    Rm { id: String },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scope {
    /// Make tokens that neither exceed nor outlive it, list and revoke tokens
    Tokens,
    /// Change your password
    Account,
    /// What your role allows: users, groups, places, checks
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
                session.output.item(&token, record::told)
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
