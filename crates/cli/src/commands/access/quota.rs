//! `cenote quota`: how much there may be.

use cenote_client::{NewQuota, Quota, QuotaLimits, QuotaTarget, QuotaTotal};

use crate::bytes::Bytes;
use crate::duration::Duration;
use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// Show, set and remove quotas: limits of the bytes and resources below a collection, or of what a user or a group owns.
///
/// Versions and what is in the trash count until they are removed for good. A hard limit is never exceeded; a soft limit may
/// be exceeded for a time. To set the quota of a collection you need control of the collection
/// above it; those of users and groups are set by administrators.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List quotas and what is counted for them
    Ls(Of),
    /// Set a quota, or change its limits
    Set {
        #[command(flatten)]
        of: Of,
        /// The maximum number of bytes, such as 500GB or 2TiB
        #[arg(long, value_name = "SIZE")]
        bytes: Option<Bytes>,
        /// The maximum number of resources
        #[arg(long, value_name = "NUMBER")]
        resources: Option<u64>,
        /// The number of bytes that may be exceeded for a time
        #[arg(long, value_name = "SIZE")]
        soft_bytes: Option<Bytes>,
        /// The number of resources that may be exceeded for a time
        #[arg(long, value_name = "NUMBER")]
        soft_resources: Option<u64>,
        /// How long soft limits may be exceeded, such as 12h or 30d; 7d by default
        #[arg(long, value_name = "TIME")]
        grace: Option<Duration>,
    },
    /// Remove a quota
    Rm(Of),
}

/// What has the quota.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Of {
    /// A collection in the store
    path: Option<StorePath>,
    /// A user: what they own
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// A group: what its members own together
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

impl Of {
    fn target(self) -> Option<QuotaTarget> {
        let path = self.path.map(|path| QuotaTarget::Path(path.to_string()));
        path.or(self.owner.map(QuotaTarget::User)).or(self.group.map(QuotaTarget::Group))
    }

    fn named(self) -> Result<QuotaTarget> {
        self.target().ok_or_else(|| {
            CliError::new(
                Kind::Usage,
                "the subject of the quota is missing; give a collection, --owner or --group",
            )
        })
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Ls(of) => {
                for quota in client.quotas(of.target().as_ref()).await? {
                    session.output.item(&quota, line)?;
                }
                Ok(())
            }
            What::Set { of, bytes, resources, soft_bytes, soft_resources, grace } => {
                let limits = |bytes: Option<Bytes>, resources| QuotaLimits {
                    bytes: bytes.map(Bytes::get),
                    resources,
                };
                let (hard, soft) = (limits(bytes, resources), limits(soft_bytes, soft_resources));
                let grace = grace.map(Duration::seconds);
                let quota =
                    client.set_quota(&NewQuota { of: of.named()?, hard, soft, grace }).await?;
                session.output.item(&quota, line)
            }
            What::Rm(of) => {
                let of = of.named()?;
                client.remove_quota(&of).await?;
                let line = serde_json::json!({ "action": "remove", "of": of });
                session.output.done(&line, |_| format!("removed the quota of {}", shown(&of)))
            }
        }
    }
}

fn shown(of: &QuotaTarget) -> String {
    match of {
        QuotaTarget::Path(path) => path.clone(),
        QuotaTarget::User(name) => format!("user {name}"),
        QuotaTarget::Group(name) => format!("group {name}"),
    }
}

/// `/lab: 1.50 GiB of 2.00 GiB; 12 resources of 1000 (soft limit 10); soft limit exceeded, enforced from 2026-12-01 12:00:00`
fn line(quota: &Quota) -> String {
    let Quota { of, hard, soft, total, trash, until, .. } = quota;
    let parts = match total {
        None => vec!["counting".to_owned()],
        Some(total) => measures(total, hard, soft),
    };
    let trash = (trash.resources > 0).then(|| {
        let count = text::count(trash.resources, "resource");
        format!("{}, {count} of it in the trash", text::size(trash.bytes))
    });
    let until =
        until.map(|until| format!("soft limit exceeded, enforced from {}", text::time(until)));
    let parts: Vec<_> = parts.into_iter().chain(trash).chain(until).collect();
    format!("{}: {}", shown(of), parts.join("; "))
}

fn measures(total: &QuotaTotal, hard: &QuotaLimits, soft: &QuotaLimits) -> Vec<String> {
    let resources = text::count(total.resources, "resource");
    vec![
        limited(text::size(total.bytes), (hard.bytes, soft.bytes), text::size),
        limited(resources, (hard.resources, soft.resources), |number| number.to_string()),
    ]
}

fn limited(
    total: String,
    (hard, soft): (Option<u64>, Option<u64>),
    show: fn(u64) -> String,
) -> String {
    let hard = hard.map(|hard| format!(" of {}", show(hard)));
    let soft = soft.map(|soft| format!(" (soft limit {})", show(soft)));
    format!("{total}{}{}", hard.unwrap_or_default(), soft.unwrap_or_default())
}
