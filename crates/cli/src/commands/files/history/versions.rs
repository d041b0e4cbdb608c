//! `cenote versions`: states that were kept.

use cenote_client::{
    At, Attributes, Client, ComparedContent, ComparedStatement, Retention, Version, VersionChange,
    VersionDifference,
};
use jiff::Timestamp;

use crate::error::Result;
use crate::moment::Moment;
use crate::place::StorePath;
use crate::session::Session;
use crate::text;

/// List, compare, keep, label, restore and prune versions, and set when they are kept.
///
/// A version is the content and the description that a resource had. Those of a collection are of its own
/// description, never of what is in it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List the versions of a resource, newest first
    ///
    /// A line has the number of a version, the time that it represents, its size, who kept it, and its label.
    Ls {
        path: StorePath,
        /// Sort by the time that each version represents, latest first, instead of by number
        #[arg(long)]
        by_time: bool,
    },
    /// Show what changed from a version to another, or to the current state
    Diff { path: StorePath, from: u64, to: Option<u64> },
    /// Keep the current state as a version
    Keep {
        path: StorePath,
        /// A label for the version
        #[arg(long)]
        label: Option<String>,
        /// The time that the version represents, instead of when it became the current state
        #[arg(long)]
        time: Option<Moment>,
    },
    /// Give a version a label, or remove its label
    Label { path: StorePath, version: u64, label: Option<String> },
    /// Make a version the current state
    Restore { path: StorePath, version: u64 },
    /// Remove versions of a resource; labelled versions are kept
    Prune {
        path: StorePath,
        #[command(flatten)]
        keep: Keep,
    },
    /// Set when replaced states are kept as versions, for a collection and everything below it
    ///
    /// `--as-of` looks back no further than the change feed of the store, whatever is kept here: 30 days, unless
    /// the store is set to keep changes longer (`keep_changes_days` in its settings, `store.toml`).
    Policy {
        path: StorePath,
        #[arg(value_enum)]
        policy: Policy,
        #[command(flatten)]
        keep: Keep,
    },
}

/// Which versions are kept.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(multiple = true)]
struct Keep {
    /// Keep this many versions, the newest; labelled versions do not count
    #[arg(long, value_name = "NUMBER")]
    keep: Option<u32>,
    /// Keep the newest version of each of the last days that have one (in UTC)
    #[arg(long, value_name = "DAYS")]
    keep_daily: Option<u32>,
    /// Keep the newest version of each of the last weeks that have one
    #[arg(long, value_name = "WEEKS")]
    keep_weekly: Option<u32>,
    /// Keep the newest version of each of the last months that have one
    #[arg(long, value_name = "MONTHS")]
    keep_monthly: Option<u32>,
}

impl Keep {
    /// The sentence about retention that follows the policy.
    fn summary(self, policy: Policy) -> String {
        let last = self.keep.map(|number| format!("the newest {number}"));
        let each = [
            (self.keep_daily, "daily"),
            (self.keep_weekly, "weekly"),
            (self.keep_monthly, "monthly"),
        ];
        let each =
            each.into_iter().filter_map(|(number, word)| Some(format!("{} {word}", number?)));
        let kept: Vec<_> = last.into_iter().chain(each).collect();
        match (policy, kept.is_empty()) {
            (Policy::Off, _) => String::new(),
            (_, true) => ", all are kept".to_owned(),
            (_, false) => format!("; kept: {}, and labelled ones", kept.join(", ")),
        }
    }
}

impl From<Keep> for Retention {
    fn from(keep: Keep) -> Self {
        let Keep { keep: last, keep_daily: daily, keep_weekly: weekly, keep_monthly: monthly } =
            keep;
        Self { last, daily, weekly, monthly }
    }
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
            What::Ls { path, by_time } => list(session, client, &path, by_time).await,
            What::Diff { path, from, to } => diff(session, client, &path, (from, to)).await,
            What::Keep { path, label, time } => {
                let time = time.map(|time| time.from(Timestamp::now()));
                let keep = VersionChange::Keep { label, time, another: false };
                change(session, client, &path, &keep).await
            }
            What::Label { path, version, label } => {
                change(session, client, &path, &VersionChange::Label { version, label }).await
            }
            What::Restore { path, version } => {
                change(session, client, &path, &VersionChange::Restore { version }).await
            }
            What::Prune { path, keep } => {
                change(session, client, &path, &VersionChange::Prune(keep.into())).await
            }
            What::Policy { path, policy, keep } => {
                let versioning = Some(policy.as_str().to_owned());
                let retention = keep.into();
                let attributes = Attributes { versioning, retention, ..Attributes::default() };
                let changed = client.set_attributes(&At::from(path.as_str()), &attributes).await?;
                session.output.done(&changed, |changed| {
                    format!(
                        "versions below {}: {}{}",
                        changed.path,
                        policy.as_str(),
                        keep.summary(policy)
                    )
                })
            }
        }
    }
}

async fn list(session: &Session, client: &Client, path: &StorePath, by_time: bool) -> Result<()> {
    let mut versions = client.versions(&path.as_str().into()).await?;
    if by_time {
        versions.sort_by_key(|version| std::cmp::Reverse((version.time, version.version)));
    }
    for version in versions {
        session.output.item(&version, format_version)?;
    }
    Ok(())
}

async fn diff(
    session: &Session,
    client: &Client,
    path: &StorePath,
    (from, to): (u64, Option<u64>),
) -> Result<()> {
    let difference = client.compare_versions(&path.as_str().into(), from, to).await?;
    session.output.item(&difference, changes)
}

/// A line for the content and for each statement, with a sign before it.
fn changes(difference: &VersionDifference) -> String {
    let content = |content: &Option<ComparedContent>| match content {
        None => "none".to_owned(),
        Some(content) => {
            let sha256 = content.sha256.as_deref().unwrap_or("not known yet");
            format!("{} bytes, SHA-256 {sha256}", content.size)
        }
    };
    let mut lines = Vec::new();
    match difference.content_changed {
        Some(true) => {
            lines.push(format!("- content: {}", content(&difference.from)));
            lines.push(format!("+ content: {}", content(&difference.to)));
        }
        Some(false) => lines.push(format!("  content: {}", content(&difference.to))),
        None => {}
    }
    lines.extend(difference.removed.iter().map(|gone| format!("- {}", statement(gone))));
    lines.extend(difference.added.iter().map(|new| format!("+ {}", statement(new))));
    match lines.is_empty() {
        true => "no difference".to_owned(),
        false => lines.join("\n"),
    }
}

fn statement(statement: &ComparedStatement) -> String {
    let subject = statement.subject.iter().map(String::as_str);
    let rest = [statement.attribute.as_str(), "=", &statement.value];
    let unit = statement.unit.iter().map(String::as_str);
    subject.chain(rest).chain(unit).collect::<Vec<_>>().join(" ")
}

fn format_version(version: &Version) -> String {
    format!(
        "{:>4}  {}  {:>12}  {:<12} {}",
        version.version,
        text::time(version.time.unwrap_or(version.modified)),
        version.size,
        version.kept_by.as_deref().unwrap_or("-"),
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
