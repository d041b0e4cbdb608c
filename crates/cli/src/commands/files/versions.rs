//! `cenote versions`: kept contents.

use cenote_client::{At, Attributes, Client, Version, VersionChange};

use crate::error::Result;
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// List, keep, restore and prune versions, and set when they are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the versions of an object, newest first
    Ls { path: StorePath },
    /// Keep the current content as a version
    Keep {
        path: StorePath,
        /// A label for the version
        #[arg(long)]
        label: Option<String>,
    },
    /// Make a version the current content
    Restore { path: StorePath, version: u64 },
    /// Remove the oldest versions of an object; labelled versions are kept
    Prune {
        path: StorePath,
        /// How many versions to keep, not counting labelled ones
        #[arg(long, value_name = "NUMBER")]
        keep: u32,
    },
    /// Set when the replaced contents of objects in a collection are kept
    Policy {
        path: StorePath,
        #[arg(value_enum)]
        policy: Policy,
        /// The maximum number of versions per object, not counting labelled ones
        #[arg(long, value_name = "NUMBER")]
        keep: Option<u32>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Policy {
    Off,
    OnRequest,
    EachChange,
}

impl Policy {
    fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OnRequest => "on-request",
            Self::EachChange => "each-change",
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Ls { path } => list(session, client, &path).await,
            What::Keep { path, label } => {
                change(session, client, &path, &VersionChange::Keep { label }).await
            }
            What::Restore { path, version } => {
                change(session, client, &path, &VersionChange::Restore { version }).await
            }
            What::Prune { path, keep } => {
                change(session, client, &path, &VersionChange::Prune { keep }).await
            }
            What::Policy { path, policy, keep } => {
                let versioning = Some(policy.as_str().to_owned());
                let attributes = Attributes { versioning, keep, ..Attributes::default() };
                let changed = client.set_attributes(&At::from(path.as_str()), &attributes).await?;
                session.output.done(&changed, |changed| {
                    format!("versions below {}: {}", changed.path, policy.as_str())
                })
            }
        }
    }
}

async fn list(session: &Session, client: &Client, path: &StorePath) -> Result<()> {
    for version in client.versions(&path.as_str().into()).await? {
        session.output.item(&version, told)?;
    }
    Ok(())
}

fn told(version: &Version) -> String {
    format!(
        "{:>4}  {}  {:>12}  {:<12} {}",
        version.version,
        text::time(version.modified),
        version.size,
        version.modified_by.as_deref().unwrap_or("-"),
        version.label.as_deref().unwrap_or(""),
    )
    .trim_end()
    .to_owned()
}

async fn change(
    session: &Session,
    client: &Client,
    path: &StorePath,
    change: &VersionChange,
) -> Result<()> {
    client.change_versions(&path.as_str().into(), change).await?;
    let line = serde_json::json!({ "action": "versions", "path": path.as_str() });
    session.output.done(&line, |_| format!("done: {path}"))
}
