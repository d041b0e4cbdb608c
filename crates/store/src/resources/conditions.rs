//! Conditions on the current state.
//!
//! Invariant: a tag is compared with the clock that the write is about, or with the state, which moves with all that
//! the record says. A change of the description does not fail the condition of a write of bytes, nor the other way round.

use super::members;
use crate::access::Chain;
use crate::catalog::Reads;
use crate::model::{Kind, Stat};
use crate::{Error, ErrorKind, Result};

/// What must hold for a write to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The resource has this tag: that of the content for a write of bytes, that of the description for a change of
    /// the description, or for both that of the state; `*` stands for any.
    pub if_match: Option<String>,
    /// It does not exist.
    pub if_absent: bool,
}

/// Matches every existing resource; no tag reads like this.
const ANY: &str = "*";

impl Conditions {
    /// Checks them before a write of bytes.
    pub(crate) fn check_content(&self, there: Option<&Chain>) -> Result<()> {
        match there {
            Some(_) if self.if_match.is_none() && !self.if_absent => Ok(()),
            Some(chain) => self.check(chain, |tag| has_content_tag(chain, tag)),
            None if self.if_match.is_some() => Err(failed("there is nothing to match".into())),
            None => Ok(()),
        }
    }

    /// Checks them before a change of the description.
    pub(crate) fn check_description(&self, there: &Chain) -> Result<()> {
        self.check(there, |tag| Stat::from(there.clone()).description_tag() == tag)
    }

    /// The conditions on a description, and those on a part of it with a name of its own, such as an extended attribute: that the
    /// part is there (`*`), or that it is not.
    pub(crate) fn of_part(&self) -> (Self, Self) {
        let is_any = |tag: &String| tag == ANY;
        let description = self.if_match.clone().filter(|tag| !is_any(tag));
        let part = self.if_match.clone().filter(is_any);
        (
            Self { if_match: description, if_absent: false },
            Self { if_match: part, if_absent: self.if_absent },
        )
    }

    /// Checks them before a change of a part of a description.
    pub(crate) fn check_part(&self, is_there: bool, name: &str) -> Result<()> {
        match is_there {
            true if self.if_absent => Err(failed(format!("it already exists: {name}"))),
            false if self.if_match.is_some() => Err(failed("there is nothing to match".into())),
            _ => Ok(()),
        }
    }

    fn check(&self, there: &Chain, has_tag: impl Fn(&str) -> bool) -> Result<()> {
        if self.if_absent {
            return Err(failed(format!("it already exists: {}", there.path())));
        }
        check_tag(self.if_match.as_deref(), there, has_tag)
    }
}

/// Checks that the resource to be removed has this tag, if one is given. Only a tag of the membership makes the removal
/// conflict with changes of the members of the collection.
pub(crate) fn check_removal(reads: &impl Reads, tag: Option<&str>, there: &Chain) -> Result<()> {
    let membership = match tag {
        Some(tag) if tag.starts_with('m') && there.resource().kind == Kind::Collection => {
            Some(members::read(reads, there.id(), there.resource())?)
        }
        _ => None,
    };
    check_tag(tag, there, |tag| {
        has_content_tag(there, tag) || membership.is_some_and(|membership| membership.tag() == tag)
    })
}

/// Checks that the resource has this tag, or its state.
fn check_tag(tag: Option<&str>, there: &Chain, has_tag: impl Fn(&str) -> bool) -> Result<()> {
    let Some(tag) = tag else { return Ok(()) };
    match tag == ANY || has_tag(tag) || Stat::from(there.clone()).state_tag() == tag {
        true => Ok(()),
        false => Err(failed(format!("it has changed: {}", there.path()))),
    }
}

fn has_content_tag(chain: &Chain, tag: &str) -> bool {
    chain.resource().content.as_ref().is_some_and(|content| content.has_tag(tag))
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Precondition, message).with_hint("read it again, then decide")
}
