//! `cenote group`: sets of users.

use crate::commands::record;
use crate::error::Result;
use crate::session::Session;

/// Add, list, change and remove groups.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Add a group
    Add { name: String },
    /// List groups
    Ls,
    /// Add users to a group
    Join {
        group: String,
        #[arg(required = true)]
        users: Vec<String>,
    },
    /// Remove users from a group
    Leave {
        group: String,
        #[arg(required = true)]
        users: Vec<String>,
    },
    /// Remove a group
    Rm { name: String },
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Ls => {
                for group in client.groups().await? {
                    session.output.item(&group, record::row)?;
                }
                Ok(())
            }
            What::Add { name } => {
                client.add_group(&name).await?;
                done(session, "add", &name)
            }
            What::Join { group, users } => {
                client.change_group(&group, &users, &[]).await?;
                done(session, "join", &group)
            }
            What::Leave { group, users } => {
                client.change_group(&group, &[], &users).await?;
                done(session, "leave", &group)
            }
            What::Rm { name } => {
                client.remove_group(&name).await?;
                done(session, "remove", &name)
            }
        }
    }
}

fn done(session: &Session, action: &'static str, name: &str) -> Result<()> {
    let line = serde_json::json!({ "action": action, "name": name });
    session.output.done(&line, |_| format!("{action} {name}: done"))
}
