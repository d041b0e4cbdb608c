//! `cenote find`: resources by name, kind and description.

use cenote_client::{Condition, ResourceKind, Search};
use futures_util::TryStreamExt;

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;
use crate::session::Session;

/// Find resources by name, kind and metadata; all conditions must hold.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A condition is an attribute alone (it exists), or an attribute, an operator and a value:
  --meta temp  --meta temp=300  --meta 'temp>=300'  --meta 'project!=old'  --meta 'note~%draft%'
Values are compared as numbers if both are numbers; with `~`, `%` matches any text and `_` any one
character.")]
pub(crate) struct Args {
    /// Where to search: this resource and everything below it
    #[arg(default_value = "/")]
    path: StorePath,
    /// A pattern that the name must match, such as '*.gsd'
    #[arg(long, short, value_name = "PATTERN")]
    name: Option<String>,
    /// The kind of resource
    #[arg(long, short, value_enum)]
    kind: Option<KindArg>,
    /// A condition on the metadata
    #[arg(long, short, value_name = "CONDITION", value_parser = parse_condition)]
    meta: Vec<Condition>,
    /// Stop after this many
    #[arg(long, value_name = "NUMBER")]
    limit: Option<usize>,
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
        };
        let mut left = self.limit.unwrap_or(usize::MAX);
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

/// The longer operators first: `>=` is not `>`.
const OPERATORS: [(&str, &str); 7] =
    [("!=", "!="), ("<=", "<="), (">=", ">="), ("=", "="), ("<", "<"), (">", ">"), ("~", "like")];

fn parse_condition(text: &str) -> Result<Condition> {
    let first = OPERATORS
        .iter()
        .filter_map(|(sign, op)| Some((text.find(sign)?, *sign, *op)))
        .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())));
    let (attribute, op, value) = match first {
        Some((at, sign, op)) => (&text[..at], op, Some(text[at + sign.len()..].trim().to_owned())),
        None => (text, "exists", None),
    };
    match attribute.trim() {
        "" => Err(CliError::new(Kind::Usage, format!("the condition has no attribute: {text}"))),
        attribute => Ok(Condition {
            attribute: attribute.to_owned(),
            op: op.to_owned(),
            value,
            unit: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_cut_at_the_first_operator() {
        for (text, attribute, op, value) in [
            ("temp", "temp", "exists", None),
            ("temp=300", "temp", "=", Some("300")),
            ("temp >= 300", "temp", ">=", Some("300")),
            ("a<b=c", "a", "<", Some("b=c")),
            ("a!=", "a", "!=", Some("")),
            ("note~%x_", "note", "like", Some("%x_")),
        ] {
            let condition = parse_condition(text).unwrap();
            let parts = (condition.attribute.as_str(), condition.op.as_str(), condition.value.as_deref());
            assert_eq!(parts, (attribute, op, value));
        }
        assert!(parse_condition("=3").is_err());
    }
}
