//! `cenote ticket`: give access to callers without an account.

use cenote_client::NewTicket;

use super::record;
use crate::duration::Duration;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Make, list and remove tickets, which give anybody who has one access to one resource.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a ticket and print it
    Add(Add),
    /// List the tickets on a resource, or all of yours
    Ls { path: Option<StorePath> },
    /// Remove a ticket
    Rm {
        // Not named `ticket`: as the global flag of that name it would be shown, and used up.
        #[arg(value_name = "TICKET")]
        which: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// What it opens
    path: StorePath,
    /// It lets write, not only read
    #[arg(long)]
    write: bool,
    /// How often it may be used
    #[arg(long, value_name = "NUMBER")]
    uses: Option<u64>,
    /// How long it is good, such as 12h or 30d
    #[arg(long, value_name = "TIME")]
    expires: Option<Duration>,
    /// How many bytes may be written with it
    #[arg(long, value_name = "NUMBER")]
    bytes: Option<u64>,
    /// How many files may be written with it
    #[arg(long, value_name = "NUMBER")]
    writes: Option<u64>,
    /// Who may use it (may be given again)
    #[arg(long = "person", value_name = "NAME")]
    persons: Vec<String>,
    /// From where it may be used (may be given again)
    #[arg(long = "host", value_name = "HOST")]
    hosts: Vec<String>,
}

impl From<Add> for NewTicket {
    fn from(add: Add) -> Self {
        Self {
            path: add.path.to_string(),
            level: if add.write { "write" } else { "read" }.to_owned(),
            uses: add.uses,
            expires_in: add.expires.map(Duration::seconds),
            bytes: add.bytes,
            writes: add.writes,
            persons: add.persons,
            hosts: add.hosts,
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Add(add) => {
                let ticket = client.add_ticket(&add.into()).await?;
                session.output.item(&ticket, record::told)
            }
            What::Ls { path } => {
                for ticket in client.tickets(path.as_ref().map(StorePath::as_str)).await? {
                    session.output.item(&ticket, record::row)?;
                }
                Ok(())
            }
            What::Rm { which } => {
                client.remove_ticket(&which).await?;
                let line = serde_json::json!({ "action": "remove", "ticket": which });
                session.output.done(&line, |_| "removed the ticket".to_owned())
            }
        }
    }
}
