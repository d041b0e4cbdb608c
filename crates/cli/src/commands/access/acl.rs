//! `cenote acl`: who may do what.

use cenote_client::{
    Access, AccessOperation, AccessReason, At, Client, ExplainedAccess, ExplainedRight, Only,
    Resource, ResourceKind,
};

use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Show and change who may do what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show who may do what with a resource, and which access list grants it
    #[command(alias = "ls")]
    Show {
        /// A path in the store
        path: StorePath,
    },
    /// Show what a user may do with a resource, and which access list, role or token decides it
    #[command(after_help = "\
What others may do is shown only to those who may change the access of the resource.")]
    Why {
        /// A user
        // Not `user`, which is the user that the program logs in as.
        #[arg(value_name = "USER")]
        whom: String,
        /// A path in the store
        path: StorePath,
    },
    /// Set what users, groups and roles may do; `none` removes their entry
    Set(Set),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Levels, each with those before it: none, read_metadata, read, create_metadata, modify_metadata,
delete_metadata, create_object, write, delete_object, own. Other sets are levels and rights joined by `+`,
such as list+create or read+append; the rights are read_description, read_content, list, add_description,
change_description, remove_description, create, append, write_content, remove, control. `public` is everyone who is logged in, `anonymous`
everyone who is not, and `everyone` both together: `everyone=read` lets everybody read. `role:user`,
`role:groupadmin` and `role:admin` are all users with that role.

With --class or --only an entry is about some of the resources in its scope: those that are described to have
a class at the time (`rdf:type`), or a single one below. It is a separate entry from the one for all of them, and
adds to it: `cenote acl set /lab ada=none --only /lab/notes` removes it, and only it.")]
struct Set {
    /// A path in the store, or a pattern of them
    path: StorePath,
    /// A user, a group or a role, and a level or rights
    #[arg(value_name = "NAME=LEVEL", value_parser = parse_grant)]
    grants: Vec<(String, String)>,
    /// What it applies to: this resource, the defaults for what is below, or both
    /// [default: subtree for collections, this for others]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Only for resources in the scope that have this class, an IRI
    #[arg(long, value_name = "IRI", conflicts_with = "only")]
    class: Option<String>,
    /// Only for this resource below, not for what is in it
    #[arg(long, value_name = "PATH")]
    only: Option<StorePath>,
    /// Whether defaults of the collections above end here
    #[arg(long, value_name = "true|false")]
    closed: Option<bool>,
    /// Whether what is created here gets a copy of these entries
    #[arg(long, value_name = "true|false")]
    inherit: Option<bool>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Scope {
    This,
    Default,
    Subtree,
}

impl Scope {
    fn of(resource: &Resource) -> Self {
        match resource.kind {
            ResourceKind::Collection => Self::Subtree,
            _ => Self::This,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::This => "this",
            Self::Default => "default",
            Self::Subtree => "subtree",
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Show { path } => {
                let access = client.access(&path.as_str().into()).await?;
                session.output.item(&access, format_access)
            }
            What::Why { whom, path } => {
                let explained = client.explain_access(&path.as_str().into(), &whom).await?;
                session.output.item(&explained, explanation)
            }
            What::Set(set) => set.run(session, client).await,
        }
    }
}

impl Set {
    async fn run(self, session: &Session, client: &Client) -> Result<()> {
        if self.grants.is_empty() && self.closed.is_none() && self.inherit.is_none() {
            return Err(CliError::new(Kind::Usage, "nothing to set")
                .hint("for example: cenote acl set /lab ada=write"));
        }
        for resource in glob::expand(client, std::slice::from_ref(&self.path)).await? {
            let operations = self.operations(&resource);
            let at = At::Id(resource.id);
            client.change_access(&at, &operations, self.closed, self.inherit).await?;
            let line = serde_json::json!({ "action": "access", "path": resource.path });
            session.output.done(&line, |_| format!("set access of {}", resource.path))?;
        }
        Ok(())
    }

    fn operations(&self, resource: &Resource) -> Vec<AccessOperation> {
        let scope = self.scope.unwrap_or_else(|| Scope::of(resource)).as_str().to_owned();
        let operation = |(name, level): &(String, String)| AccessOperation {
            name: name.clone(),
            level: level.clone(),
            scope: scope.clone(),
            only: self.restriction(),
        };
        self.grants.iter().map(operation).collect()
    }

    fn restriction(&self) -> Option<Only> {
        let path = self.only.as_ref().map(|path| path.as_str().to_owned());
        let is_some = self.class.is_some() || path.is_some();
        is_some.then(|| Only { class: self.class.clone(), path, id: None })
    }
}

fn parse_grant(text: &str) -> Result<(String, String)> {
    match text.rsplit_once('=') {
        Some((name, level)) if !name.is_empty() => Ok((name.to_owned(), level.to_owned())),
        _ => Err(CliError::new(Kind::Usage, "write NAME=LEVEL, such as ada=write")),
    }
}

fn format_access(access: &Access) -> String {
    let mut lines: Vec<String> = access
        .grants
        .iter()
        .map(|grant| {
            let from =
                grant.from.as_ref().map(|from| format!("  (from {from})")).unwrap_or_default();
            let only = restriction(grant.only.as_ref());
            format!("{:<16} {:<16} {}{only}{from}", grant.name, grant.level, grant.scope)
        })
        .collect();
    lines.extend(
        access.closed.then(|| "closed: defaults of the collections above end here".to_owned()),
    );
    lines.extend(access.inherit.then(|| "inherit: what is created here gets a copy".to_owned()));
    lines.join("\n")
}

/// What an entry is about, if not about all of its scope.
fn restriction(only: Option<&Only>) -> String {
    match only {
        Some(Only { class: Some(class), .. }) => format!(", only of class {class}"),
        Some(Only { path: Some(path), .. }) => format!(", only {path}"),
        Some(Only { id, .. }) => format!(", only resource {}", id.unwrap_or_default()),
        None => String::new(),
    }
}

fn explanation(explained: &ExplainedAccess) -> String {
    let ExplainedAccess { user, path, level, .. } = explained;
    let mut lines = vec![format!("{path}: {user} has {level}")];
    lines.extend(explained.rights.iter().map(right));
    lines.extend(explained.without_effect.iter().map(|line| {
        let because = match line.effect.as_str() {
            "closed" => "the resource is closed",
            "farther" => "a nearer collection has defaults",
            "other_class" => "the resource does not have the class",
            _ if line.only.is_some() => "for another resource",
            _ => "for what lies below only",
        };
        format!("without effect: {} ({because})", reason(line))
    }));
    let token = explained.token.iter();
    lines.extend(token.map(|level| format!("the token leaves at most {level}")));
    lines.join("\n")
}

fn right(line: &ExplainedRight) -> String {
    let by = line.by.iter().map(reason).collect::<Vec<_>>().join("; ");
    let by = match (line.granted, line.by.is_empty()) {
        (true, _) => by,
        (false, true) => "-".to_owned(),
        (false, false) => format!("- withheld by the token ({by})"),
    };
    format!("  {:<18}  {by}", line.right)
}

fn reason(reason: &AccessReason) -> String {
    let AccessReason { kind, name, level, scope, only, from, .. } = reason;
    let only = restriction(only.as_ref());
    match (kind.as_str(), name, scope, from) {
        ("grant", Some(name), Some(scope), Some(from)) => {
            format!("{name}={level}, {scope} of {from}{only}")
        }
        ("role", Some(name), ..) => format!("the role {name}"),
        _ => format!("the {kind}"),
    }
}
