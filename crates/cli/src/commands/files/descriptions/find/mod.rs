//! `cenote find`: resources by name, kind and description.

mod condition;

use cenote_client::{Condition, Resource, ResourceKind, Search};
use futures_util::TryStreamExt;

use crate::commands::files::history::past::{self, PastArgs};
use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;

/// Find resources by words, name, kind and metadata; all conditions must hold.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A condition is an attribute alone (it exists), or an attribute, an operator and a value:
  --meta temp  --meta temp=300  --meta 'temp>=300'  --meta 'project!=old'  --meta 'note~%draft%'
Values are compared as numbers or as dates and times (ISO 8601) if both are; with `~`, `%` matches
any text and `_` any one character. Spaces around an attribute or a value do not count. Quote an attribute that contains an
operator, and a value that begins or ends with a space:
  --meta '\"a=b\" = \" with spaces \"'

Words are looked for in names and in the values of metadata, without regard to case and accents; all must be there.
`word*` is each word that begins so, and quotation marks make a phrase:
  --text 'temperature box*'  --text '\"water model\" 2024'
The first search for words makes an index of all, which takes a while in a large store; what is written later is found at once.")]
pub(crate) struct Args {
    /// Where to search: this resource and everything below it
    #[arg(default_value = "/")]
    path: StorePath,
    /// A pattern that the name must match, such as '*.gsd'
    #[arg(long, short, value_name = "PATTERN")]
    name: Option<String>,
    /// Words in the name or the values of metadata
    #[arg(long, short, value_name = "WORDS")]
    text: Option<String>,
    /// The kind of resource
    #[arg(long, short, value_enum)]
    kind: Option<KindArg>,
    /// A condition on the metadata
    #[arg(long, short, value_name = "CONDITION", value_parser = condition::parse)]
    meta: Vec<Condition>,
    /// Stop after this many
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
    #[command(flatten)]
    past: PastArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindArg {
    #[value(alias = "d")]
    Collection,
    #[value(alias = "f")]
    Object,
    #[value(alias = "l")]
    Link,
    Description,
}

impl From<KindArg> for ResourceKind {
    fn from(kind: KindArg) -> Self {
        match kind {
            KindArg::Collection => Self::Collection,
            KindArg::Object => Self::Object,
            KindArg::Link => Self::Link,
            KindArg::Description => Self::Description,
        }
    }
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let search = Search {
            under: self.path.to_string(),
            r#where: self.meta,
            name: self.name,
            kind: self.kind.map(Into::into),
            text: self.text,
        };
        let mut left = self.limit.unwrap_or(usize::MAX);
        if let Some(moment) = &self.past.as_of {
            return find_as_of(session, (&search, &moment.text()), left).await;
        }
        let mut found = std::pin::pin!(client.search(&search));
        while left > 0
            && let Some(resource) = found.try_next().await?
        {
            session.output.item(&resource, |resource| resource.path.clone())?;
            left -= 1;
        }
        Ok(())
    }
}

/// Finds what was there. What may have matched and is not kept is named, and makes the answer incomplete.
async fn find_as_of(
    session: &Session,
    (search, moment): (&Search, &str),
    limit: usize,
) -> Result<()> {
    let found = session.client()?.search_as_of(search, moment).await?;
    let show =
        |resource: &Resource| session.output.item(resource, |resource| resource.path.clone());
    match past::show_all(session, (found, limit), show).await? {
        0 => Ok(()),
        lost => {
            let message = format!("the answer is incomplete: {lost} not kept as of that time");
            Err(CliError::new(Kind::Partial, message).hint("give a later time"))
        }
    }
}
