//! Labels: a version has at most one, and no two versions of a resource have the same.

use super::{Version, record};
use crate::access::Operation;
use crate::catalog::{Reads, VersionRecord, keys};
use crate::model::{At, ResourceId};
use crate::resources::find;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// The longest label, in bytes.
const LONGEST: usize = 255;

impl Store {
    /// Changes or removes the label of a version. Needs `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if another version has the label, [`ErrorKind::NotFound`] if there is no such version.
    pub fn label_version(
        &self,
        caller: &Caller,
        at: &At,
        version: u64,
        label: Option<&str>,
    ) -> Result<Version> {
        self.transact(|tx| {
            let id = find(tx, caller, at, Operation::Write)?.id();
            let mut record = record(tx, id, version)?;
            if record.label.as_deref() != label {
                require_free(tx, id, label)?;
                record.label = label.map(str::to_owned);
                tx.put(keys::version(id, version), &record);
            }
            Ok(Version::new(version, record))
        })
    }
}

/// Refuses a label that a version of the resource has.
pub(super) fn require_free(reads: &impl Reads, id: ResourceId, label: Option<&str>) -> Result<()> {
    let Some(label) = label else { return Ok(()) };
    check(label)?;
    let records = VersionRecord::all_of(reads, id)?;
    match records.iter().find(|(_, record)| record.label.as_deref() == Some(label)) {
        None => Ok(()),
        Some((version, _)) => Err(exists(format!("version {version} has the label {label:?}"))
            .with_hint("choose another label, or take it from that version first")),
    }
}

/// The label of a version that is kept again: the new one, where it has none.
pub(super) fn first(
    number: u64,
    new: Option<String>,
    old: Option<String>,
) -> Result<Option<String>> {
    match (new, old) {
        (Some(_), Some(old)) => {
            Err(exists(format!("version {number} has the label {old:?} already"))
                .with_hint("give it another one (`cenote versions label`)"))
        }
        (new, old) => Ok(new.or(old)),
    }
}

fn exists(message: String) -> Error {
    Error::new(ErrorKind::Exists, message)
}

fn check(label: &str) -> Result<()> {
    let wrong = label.is_empty() || label.len() > LONGEST || label.chars().any(char::is_control);
    match wrong {
        true => Err(Error::invalid("a label has 1 to 255 bytes, without control characters")),
        false => Ok(()),
    }
}
