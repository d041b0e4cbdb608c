//! `cenote token`: what programs log in with.

use cenote_client::NewToken;

use super::record;
use crate::duration::Duration;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Make, list and revoke tokens, by which programs act as you.
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
    },
    /// List your tokens
    Ls,
    /// Revoke a token
    Rm { id: String },
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Add { label, level, within, expires } => {
                let within = within.map(|path| path.to_string());
                let expires_in = expires.map(Duration::seconds);
                let token = client.add_token(&NewToken { label, level, within, expires_in }).await?;
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
