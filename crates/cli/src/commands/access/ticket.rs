//! `cenote ticket`: give access to callers without an account.

use cenote_client::NewTicket;

use crate::commands::record;
use crate::duration::Duration;
use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;

/// Create, list and remove tickets, each of which gives its bearer access to one resource.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create a ticket and print it
    Add(Add),
    /// List the tickets for a resource, or all your tickets
    Ls { path: Option<StorePath> },
    /// Remove a ticket
    Rm {
        // Not named `ticket`: it would be taken for the global flag of that name, presented to the
        // server and used up.
        #[arg(value_name = "TICKET")]
        which: String,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// The resource that the ticket gives access to
    path: StorePath,
    /// Allow writing, not only reading
    #[arg(long)]
    write: bool,
    /// How many times the ticket may be used
    #[arg(long, value_name = "NUMBER")]
    uses: Option<u64>,
    /// How long it is valid, such as 12h or 30d
    #[arg(long, value_name = "TIME")]
    expires: Option<Duration>,
    /// The maximum number of bytes written with it
    #[arg(long, value_name = "NUMBER")]
    bytes: Option<u64>,
    /// The maximum number of files written with it
    #[arg(long, value_name = "NUMBER")]
    writes: Option<u64>,
    /// A user who may use it (repeatable)
    #[arg(long = "person", value_name = "NAME")]
    persons: Vec<String>,
    /// A host from which it may be used (repeatable)
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
                session.output.item(&ticket, record::lines)
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
