//! Conditions on what is there now.

use crate::access::Chain;
use crate::model::Stat;
use crate::{Error, ErrorKind, Result};

/// What must hold for a write to happen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conditions {
    /// The content, or the state, that is there has this tag; `*` stands for any.
    pub if_match: Option<String>,
    /// Nothing is there.
    pub if_absent: bool,
}

/// What every content and state matches; no tag reads like this.
const ANY: &str = "*";

impl Conditions {
    /// Checks them against what is there.
    pub(crate) fn check(&self, there: Option<&Chain>) -> Result<()> {
        match there {
            Some(chain) if self.if_absent => {
                Err(failed(format!("there is something already: {}", chain.path())))
            }
            Some(chain) => check_tag(self.if_match.as_deref(), chain),
            None if self.if_match.is_some() => Err(failed("nothing is there to match".into())),
            None => Ok(()),
        }
    }
}

/// Checks that the content or the state has this tag, if one is given.
pub(crate) fn check_tag(tag: Option<&str>, chain: &Chain) -> Result<()> {
    let Some(tag) = tag else { return Ok(()) };
    let content = chain.resource().content.as_ref();
    match tag == ANY
        || content.is_some_and(|content| content.has_tag(tag))
        || Stat::from(chain.clone()).state_tag() == tag
    {
        true => Ok(()),
        false => Err(failed(format!("it has changed: {}", chain.path()))),
    }
}

fn failed(message: String) -> Error {
    Error::new(ErrorKind::Precondition, message).with_hint("read it again, then decide")
}
