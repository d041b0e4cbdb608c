//! Which resources a search looks for, whenever they were as they are.

use globset::{GlobBuilder, GlobMatcher};

use super::Condition;
use crate::model::{Graph, Kind};
use crate::text::{TextQuery, passages};
use crate::{Error, Result};

/// A kind, a pattern for names, conditions on attributes, and words; all of it must hold.
#[derive(Debug)]
pub(crate) struct Wanted {
    kind: Option<Kind>,
    name: Option<GlobMatcher>,
    conditions: Vec<Condition>,
    text: Option<TextQuery>,
}

impl Wanted {
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for an invalid pattern.
    pub(crate) fn new(
        conditions: Vec<Condition>,
        name: Option<&str>,
        kind: Option<Kind>,
    ) -> Result<Self> {
        Ok(Self { kind, name: name.map(pattern).transpose()?, conditions, text: None })
    }

    /// The same with these words in the name or the description.
    pub(crate) fn with_text(self, text: Option<TextQuery>) -> Self {
        Self { text, ..self }
    }

    /// Whether it is of the kind, and the name matches.
    pub(crate) fn is_like(&self, kind: Kind, name: &str) -> bool {
        self.kind.is_none_or(|wanted| wanted == kind)
            && self.name.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }

    /// Whether it depends on descriptions.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty() || self.text.is_some()
    }

    /// Whether the words are in a name and a description: as it is kept, since literals are shown as they are.
    pub(crate) fn is_worded(&self, name: &str, kept: &Graph) -> bool {
        self.text.as_ref().is_none_or(|text| text.holds(passages(name, kept)))
    }

    /// Whether it depends on how links are shown.
    pub(crate) fn needs_links(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Whether all conditions on attributes hold for a description, as it is shown to the caller.
    pub(crate) fn holds(&self, shown: &Graph) -> bool {
        self.conditions.iter().all(|condition| condition.holds(shown))
    }
}

fn pattern(pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).backslash_escape(true).build();
    let glob =
        glob.map_err(|fault| Error::invalid(format!("invalid pattern for names: {fault}")))?;
    Ok(glob.compile_matcher())
}
