//! How far something goes that is derived from the store and kept outside of it.
//!
//! Invariant: a mark is valid only in the history that it was made in. It has a fingerprint of the change at its position, so that an index
//! which was made before the catalog was replaced by an older copy is recognised, even if the copy has grown since.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::catalog::{Reads, View, keys};
use crate::feed::{self, Position};
use crate::{Error, Result};

/// A position in the change feed, and which change is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub(super) position: Position,
    print: u64,
}

impl Mark {
    /// The mark of the newest change.
    pub(super) fn newest(view: &View) -> Result<Self> {
        Self::at(view, feed::newest(view)?)
    }

    pub(super) fn at(view: &View, position: Position) -> Result<Self> {
        let print = print(view, position)?.unwrap_or_default();
        Ok(Self { position, print })
    }

    /// Whether each change after it is kept.
    pub(super) fn is_valid(&self, view: &View) -> Result<bool> {
        let floor = feed::floor(view)?;
        // Where the feed begins, the change itself is not kept any more.
        let is_there = self.position == floor || print(view, self.position)? == Some(self.print);
        Ok(self.position >= floor && is_there)
    }
}

/// The fingerprint of the change at a position.
fn print(view: &View, position: Position) -> Result<Option<u64>> {
    let Some(key) = position.key() else { return Ok(None) };
    Ok(view.value(&keys::feed_entry(key))?.map(|record| xxh3_64(&record)))
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:016x}", self.position, self.print)
    }
}

impl FromStr for Mark {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::invalid(format!("not a mark: {text:.64?}"));
        let (position, print) = text.split_once('-').ok_or_else(wrong)?;
        let print = u64::from_str_radix(print, 16).map_err(|_| wrong())?;
        Ok(Self { position: position.parse()?, print })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_a_mark_or_refused(text in "([0-9a-f]{24}-[0-9a-f]{0,17}|\\PC{0,30})") {
            if let Ok(mark) = text.parse::<Mark>() {
                prop_assert_eq!(mark.to_string().parse::<Mark>().unwrap(), mark);
            }
        }
    }
}
