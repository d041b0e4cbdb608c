//! Editing documents: the text changes only where a key changed.
//!
//! Invariants: each change replaces ranges of the text, so every byte outside of them is preserved; the result is
//! read again and contains exactly the wanted keys, otherwise it is not returned.

mod change;
mod place;
pub(super) mod splice;

use self::splice::{Splice, apply};
use super::literal::{Spelling, truth};
use super::{ini, parse, read};
use crate::diff::{Change, diff};
use crate::format::{Format, ReadOptions, WriteError};
use crate::key::KeyRef;
use crate::keyset::KeySet;
use crate::name::KeyName;

/// Changes a document so that it contains `keys`, all below `parent`. In JSON, TOML and INI only the text of keys
/// that differ is changed: comments, order, blank lines, empty objects, dates and duplicate members are preserved
/// byte for byte. Formats that contain nothing but keys are rewritten.
///
/// The spelling of a number or a boolean may vary: a JSON document with a number accepts any number, and `true`
/// counts as `1`.
///
/// # Errors
/// If the document cannot be edited to contain these keys: a gap in an array, a value for an array, a text in place
/// of a number.
pub fn edit(
    document: &[u8],
    keys: &KeySet,
    parent: &KeyName,
    format: Format,
) -> Result<Vec<u8>, WriteError> {
    if matches!(format, Format::Quickdump | Format::Dump) {
        return crate::format::to_bytes(keys, parent, format);
    }
    let old = read(document, parent, format).map_err(|error| WriteError::Fault(error.fault))?;
    let changes: Vec<_> = diff(&old, keys).collect();
    let mut text = document.to_vec();
    // Elements of an array are removed from its end.
    for change in changes.iter().rev() {
        if let Change::Removed(key) = change {
            text = Edit { text: &text, parent, format }.remove(*key)?;
        }
    }
    for change in &changes {
        if let Change::Added(key) | Change::Modified(_, key) = change {
            text = Edit { text: &text, parent, format }.set(*key)?;
        }
    }
    verify(&text, keys, parent, format)?;
    Ok(text)
}

/// One change of a text.
struct Edit<'a> {
    text: &'a [u8],
    parent: &'a KeyName,
    format: Format,
}

impl Edit<'_> {
    fn set(self, key: KeyRef<'_>) -> Result<Vec<u8>, WriteError> {
        if self.format == Format::Ini {
            return Ok(apply(self.text, ini::set(self.text, key, self.parent)?));
        }
        let path = change::path(key, self.parent, self.format)?;
        let root = self.root()?;
        let changes = change::to_set(&root, key, &path, self.format);
        self.apply(changes.map_err(|reason| not_editable(key, reason))?, key)
    }

    fn remove(self, key: KeyRef<'_>) -> Result<Vec<u8>, WriteError> {
        if self.format == Format::Ini {
            return Ok(apply(self.text, ini::remove(self.text, key, self.parent)?));
        }
        let path = change::path(key, self.parent, self.format)?;
        let changes = vec![change::to_remove(&self.root()?, path)];
        self.apply(changes, key)
    }

    /// Applies changes in order, each to the result of the previous one.
    fn apply(self, changes: Vec<change::Step>, key: KeyRef<'_>) -> Result<Vec<u8>, WriteError> {
        let mut text = self.text.to_vec();
        for change in changes {
            let root = Edit { text: &text, ..self }.root()?;
            let splices: Result<Vec<Splice>, _> =
                place::Place { text: &text, root: &root, format: self.format }.splices(&change);
            text = apply(&text, splices.map_err(|reason| not_editable(key, reason))?);
        }
        Ok(text)
    }

    fn root(&self) -> Result<super::Node, WriteError> {
        parse(self.text, self.format).map_err(|error| WriteError::Fault(error.fault))
    }
}

/// Rejects a text that does not parse to the wanted keys.
fn verify(text: &[u8], keys: &KeySet, parent: &KeyName, format: Format) -> Result<(), WriteError> {
    let found = read_back(text, parent, format)?;
    let differs = |change: &Change<'_>| match change {
        Change::Modified(found, wanted) => !agree(*found, *wanted),
        Change::Added(_) | Change::Removed(_) => true,
    };
    match diff(&found, keys).find(differs) {
        None => Ok(()),
        Some(Change::Added(key) | Change::Removed(key) | Change::Modified(_, key)) => {
            Err(not_editable(key, "the document has it twice, or in a form that cannot be edited"))
        }
    }
}

fn read_back(text: &[u8], parent: &KeyName, format: Format) -> Result<KeySet, WriteError> {
    crate::format::read(text.to_vec(), parent, format, ReadOptions::default())
        .map_err(|error| WriteError::Fault(error.fault))
}

/// Whether a document contains a key, allowing for its spelling: numbers are of one type, and `true` is `1`.
fn agree(found: KeyRef<'_>, wanted: KeyRef<'_>) -> bool {
    let kinds = [found, wanted].map(|key| key.meta_value("type"));
    let is_number = |kind: &[u8]| matches!(kind, b"long" | b"double");
    let values = [found, wanted].map(|key| key.value().as_bytes());
    let same_value = match kinds {
        [Some(b"boolean"), Some(b"boolean")] => {
            let [found, wanted] = values.map(|value| truth(value, Spelling::Free));
            found.is_some() && found == wanted
        }
        [Some(found), Some(wanted)] => {
            values[0] == values[1] && (found == wanted || is_number(found) && is_number(wanted))
        }
        _ => false,
    };
    same_value && found.meta().len() == wanted.meta().len() && found.meta().len() == 1
}

pub(super) fn not_editable(key: KeyRef<'_>, reason: &'static str) -> WriteError {
    WriteError::NotEditable { name: key.name().to_string(), reason }
}
