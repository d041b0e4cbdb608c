//! Which resources a search looks for, whenever they were as they are.

use globset::{GlobBuilder, GlobMatcher};

use super::Condition;
use crate::model::{Graph, Kind};
use crate::{Error, Result};

/// A kind, a pattern for names, and conditions on attributes; all of it must hold.
#[derive(Debug)]
pub(crate) struct Wanted {
    kind: Option<Kind>,
    name: Option<GlobMatcher>,
    conditions: Vec<Condition>,
}

impl Wanted {
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for an invalid pattern.
    pub(crate) fn new(
        conditions: Vec<Condition>,
        name: Option<&str>,
        kind: Option<Kind>,
    ) -> Result<Self> {
        Ok(Self { kind, name: name.map(pattern).transpose()?, conditions })
    }

    /// Whether it is of the kind, and the name matches.
    pub(crate) fn is_like(&self, kind: Kind, name: &str) -> bool {
        self.kind.is_none_or(|wanted| wanted == kind)
            && self.name.as_ref().is_none_or(|pattern| pattern.is_match(name))
    }

    /// Whether there are conditions on attributes.
    pub(crate) fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Whether all conditions hold for a description, as it is shown to the caller.
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
