//! `cenote meta`: descriptions.

use cenote_client::{At, Attributes, Avu, Client, Link, MetaOperation};
use futures_util::TryStreamExt;

use crate::commands::files::history::past::PastArgs;
use crate::error::{CliError, Kind, Result};
use crate::glob;
use crate::place::StorePath;
use crate::session::Session;

/// Show and change metadata: attributes with values and units.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show the metadata of a resource
    #[command(alias = "ls")]
    Show {
        /// A path in the store
        path: StorePath,
        /// Show only this attribute
        attribute: Option<String>,
        #[command(flatten)]
        past: PastArgs,
    },
    /// Add a value to an attribute
    Add {
        /// A path in the store, or a pattern
        path: StorePath,
        attribute: String,
        value: String,
        unit: Option<String>,
    },
    /// Replace all values of an attribute with one
    Set {
        /// A path in the store, or a pattern
        path: StorePath,
        attribute: String,
        value: String,
        unit: Option<String>,
    },
    /// Remove an attribute, or one value of it
    Rm {
        /// A path in the store, or a pattern
        path: StorePath,
        attribute: String,
        value: Option<String>,
        unit: Option<String>,
    },
    /// Add a link to another resource to an attribute; it follows the resource when it is moved
    Link {
        /// A path in the store, or a pattern
        path: StorePath,
        attribute: String,
        /// The path of the other resource
        target: StorePath,
    },
    /// List the resources that link to this one
    Links {
        /// A path in the store
        path: StorePath,
    },
    /// Set what happens when a description links to a missing path
    ///
    /// The setting of the nearest collection applies. Existing statements are not changed. Removals are never refused: a link
    /// to a removed resource is shown as the path that was written, and leads to the resource again when it is restored.
    Integrity {
        /// A collection in the store
        path: StorePath,
        #[arg(value_enum)]
        integrity: Integrity,
    },
    /// Show the whole graph as N-Triples, or replace it
    Graph {
        /// A path in the store
        path: StorePath,
        /// Replace the graph with the N-Triples in this file; `-` is standard input
        #[arg(long, value_name = "FILE")]
        replace: Option<String>,
    },
}

/// What is required of links.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Integrity {
    /// Keep it as text
    None,
    /// Keep it as text, and make it a link once the path exists
    Lenient,
    /// Refuse it
    Strict,
}

impl Integrity {
    fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        match self.what {
            What::Show { path, attribute, past } => {
                show(session, client, (&path, &past), attribute).await
            }
            What::Add { path, attribute, value, unit } => {
                change(session, client, &path, &MetaOperation::Add(Avu { attribute, value, unit }))
                    .await
            }
            What::Set { path, attribute, value, unit } => {
                change(session, client, &path, &MetaOperation::Set(Avu { attribute, value, unit }))
                    .await
            }
            What::Rm { path, attribute, value, unit } => {
                remove(session, client, &path, &Wanted { attribute, value, unit }).await
            }
            What::Link { path, attribute, target } => {
                let avu = Avu { attribute, value: target.to_string(), unit: None };
                change(session, client, &path, &MetaOperation::Link(avu)).await
            }
            What::Integrity { path, integrity } => {
                let link_integrity = Some(integrity.as_str().to_owned());
                let attributes = Attributes { link_integrity, ..Attributes::default() };
                let changed = client.set_attributes(&At::from(path.as_str()), &attributes).await?;
                session.output.done(&changed, |changed| {
                    format!("links below {}: {}", changed.path, integrity.as_str())
                })
            }
            What::Links { path } => links(session, client, &path).await,
            What::Graph { path, replace: None } => {
                session.output.bytes(&client.graph(&path.as_str().into()).await?)
            }
            What::Graph { path, replace: Some(file) } => {
                let triples = read(&file)?;
                Ok(client.set_graph(&path.as_str().into(), triples.into()).await?)
            }
        }
    }
}

async fn show(
    session: &Session,
    client: &Client,
    (path, past): (&StorePath, &PastArgs),
    attribute: Option<String>,
) -> Result<()> {
    let avus = match &past.as_of {
        Some(moment) => client.meta_as_of(path.as_str(), &moment.text()).await?,
        None => client.meta(&path.as_str().into()).await?,
    };
    let wanted = |avu: &&Avu| attribute.as_ref().is_none_or(|name| *name == avu.attribute);
    for avu in avus.iter().filter(wanted) {
        session.output.item(avu, format_avu)?;
    }
    Ok(())
}

/// One line a statement: where it is, what it is about if that is something else, and the attribute.
async fn links(session: &Session, client: &Client, path: &StorePath) -> Result<()> {
    let to = path.as_str().into();
    let mut found = std::pin::pin!(client.links(&to));
    while let Some(from) = found.try_next().await? {
        session.output.item(&from, |from| {
            let line = |link: &Link| {
                let subject = link.subject.as_deref().map(|it| format!("  {it}"));
                format!("{}{}  {}", from.resource.path, subject.unwrap_or_default(), link.attribute)
            };
            from.links.iter().map(line).collect::<Vec<_>>().join("\n")
        })?;
    }
    Ok(())
}

fn format_avu(avu: &Avu) -> String {
    match &avu.unit {
        Some(unit) => format!("{} = {} {unit}", avu.attribute, avu.value),
        None => format!("{} = {}", avu.attribute, avu.value),
    }
}

async fn change(
    session: &Session,
    client: &Client,
    path: &StorePath,
    operation: &MetaOperation,
) -> Result<()> {
    for resource in glob::expand(client, std::slice::from_ref(path)).await? {
        client.change_meta(&At::Id(resource.id), std::slice::from_ref(operation)).await?;
        let line = serde_json::json!({ "action": "describe", "path": resource.path });
        session.output.done(&line, |_| format!("described {}", resource.path))?;
    }
    Ok(())
}

/// What to remove: all values where none is given.
struct Wanted {
    attribute: String,
    value: Option<String>,
    unit: Option<String>,
}

impl Wanted {
    fn is(&self, avu: &Avu) -> bool {
        self.attribute == avu.attribute
            && self.value.as_ref().is_none_or(|value| *value == avu.value)
            && self.unit.as_ref().is_none_or(|unit| Some(unit) == avu.unit.as_ref())
    }
}

async fn remove(
    session: &Session,
    client: &Client,
    path: &StorePath,
    wanted: &Wanted,
) -> Result<()> {
    for resource in glob::expand(client, std::slice::from_ref(path)).await? {
        let at = At::Id(resource.id);
        let avus = client.meta(&at).await?.into_iter().filter(|avu| wanted.is(avu));
        let operations: Vec<MetaOperation> = avus.map(MetaOperation::Remove).collect();
        if operations.is_empty() {
            let message = format!("no such statement: {} of {}", wanted.attribute, resource.path);
            return Err(CliError::new(Kind::NotFound, message)
                .hint(format!("cenote meta show {}", resource.path)));
        }
        client.change_meta(&at, &operations).await?;
        let line = serde_json::json!({ "action": "describe", "path": resource.path });
        session.output.done(&line, |_| format!("described {}", resource.path))?;
    }
    Ok(())
}

fn read(file: &str) -> Result<Vec<u8>> {
    match file {
        "-" => Ok(std::io::read_to_string(std::io::stdin())?.into_bytes()),
        file => Ok(std::fs::read(file)?),
    }
}
