//! Computes the changes that make one tree like another.

use cenote_client::transfer::LocalFile;
use cenote_client::{Resource, Sha256Digest};

use super::entry::{Entry, EntryKind, Tree};
use crate::error::{CliError, Kind, Result};

/// What counts as different, and which changes are allowed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Compare the bytes, not only size and time.
    pub(crate) checksum: bool,
    /// Remove items that only the target has.
    pub(crate) delete: bool,
    /// Resources may be removed with their versions.
    pub(crate) versions: bool,
}

/// The changes to make, in this order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What is removed from the target; descendants are not listed separately.
    pub(super) remove: Vec<String>,
    /// These may be removed with their versions.
    pub(super) versions: bool,
    /// What is created or replaced: directories before their contents.
    pub(super) transfer: Vec<Change>,
    /// Resources with the right bytes, but not the right mode, time or media type.
    pub(super) attributes: Vec<Change>,
    /// Resources with the right bytes, but not the right metadata, and possibly not the right attributes.
    pub(super) descriptions: Vec<Change>,
    /// How many are already up to date.
    pub(super) unchanged: u64,
    /// What cannot be done.
    pub(super) failures: Vec<(String, CliError)>,
}

/// A change of the target.
#[derive(Debug)]
pub(super) struct Change {
    /// The path relative to the roots.
    pub(super) path: String,
    /// The node in the source.
    pub(super) entry: Entry,
    /// The state tag of the resource in the target; none if it does not exist.
    pub(super) expected_state: Option<String>,
}

/// Compares two trees. Blocks while it reads files, where that is needed.
pub(super) fn plan(source: Tree, mut target: Tree, rules: Rules) -> Plan {
    let mut plan = Plan { versions: rules.versions, ..Plan::default() };
    for (path, entry) in source {
        match target.remove(&path) {
            None => plan.transfer.push(Change { path, entry, expected_state: None }),
            Some(there) => plan.both(path, entry, there, rules),
        }
    }
    if rules.delete {
        target.into_keys().for_each(|path| plan.remove_unless_below(path));
    }
    plan
}

impl Plan {
    fn both(&mut self, path: String, entry: Entry, there: Entry, rules: Rules) {
        let difference = difference(&entry, &there, rules.checksum);
        let change = |path, expected_state| Change { path, entry, expected_state };
        match difference {
            Ok(Difference::None) => self.unchanged += u64::from(!there.is_directory()),
            Ok(Difference::Attributes) => self.attributes.push(change(path, there.state)),
            Ok(Difference::Description) => self.descriptions.push(change(path, there.state)),
            Ok(Difference::Content) => self.transfer.push(change(path, there.state)),
            Ok(Difference::Kind) if rules.delete => {
                self.remove_unless_below(path.clone());
                self.transfer.push(change(path, None));
            }
            Ok(Difference::Kind) => {
                let error = CliError::new(Kind::Exists, "the target is of another kind")
                    .hint("remove it, or let `cenote sync --delete` replace it");
                self.failures.push((path, error));
            }
            Err(error) => self.failures.push((path, error)),
        }
    }

    fn remove_unless_below(&mut self, path: String) {
        let covered = self.remove.iter().any(|removed| {
            path.strip_prefix(removed.as_str()).is_some_and(|rest| rest.starts_with('/'))
        });
        if !covered {
            self.remove.push(path);
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Difference {
    None,
    Attributes,
    Description,
    Content,
    Kind,
}

fn difference(entry: &Entry, there: &Entry, checksum: bool) -> Result<Difference> {
    use EntryKind::{Description, Directory, File, Link, Object};
    match (&entry.kind, &there.kind) {
        (Directory, Directory) => Ok(remaining(entry, there, same_mode(entry, there))),
        (Link(target), Link(other)) if target == other => Ok(remaining(entry, there, true)),
        (Description, Description) => Ok(remaining(entry, there, true)),
        (File(file), Object(resource)) | (Object(resource), File(file)) => {
            let sha256 = resource.sha256.as_deref();
            let same_time = same_time(entry, there);
            let same_content = entry.size() == there.size()
                && match sha256 {
                    // Without a time on both sides, only the digests can be compared.
                    Some(sha256) if checksum || one_has_no_time(entry, there) => is(file, sha256)?,
                    _ => same_time,
                };
            Ok(match same_content {
                true => remaining(entry, there, same_attributes(entry, there)),
                false => Difference::Content,
            })
        }
        (Object(resource), Object(other)) => Ok(match same_bytes(resource, other) {
            true => {
                let declared =
                    |it: &Resource| it.media_type.clone().filter(|_| !it.media_type_guessed);
                let same_media_type = declared(resource) == declared(other);
                remaining(entry, there, same_media_type && same_attributes(entry, there))
            }
            false => Difference::Content,
        }),
        _ => Ok(Difference::Kind),
    }
}

/// Whether two objects of the store have the same content, which copies share.
fn same_bytes(resource: &Resource, other: &Resource) -> bool {
    let both = resource.sha256.as_ref().zip(other.sha256.as_ref());
    resource.etag == other.etag || both.is_some_and(|(one, two)| one == two)
}

/// What remains to be compared of two that are of one kind and have the same bytes, if any.
fn remaining(entry: &Entry, there: &Entry, same_attributes: bool) -> Difference {
    match entry.description == there.description {
        false => Difference::Description,
        true if same_attributes => Difference::None,
        true => Difference::Attributes,
    }
}

/// A side without a time does not count as different.
fn same_attributes(entry: &Entry, there: &Entry) -> bool {
    same_mode(entry, there) && (entry.mtime.is_none() || same_time(entry, there))
}

/// A side without a mode does not count as different.
fn same_mode(entry: &Entry, there: &Entry) -> bool {
    let bits = |mode: u32| mode & 0o777;
    entry.mode.is_none_or(|mode| there.mode.is_some_and(|other| bits(other) == bits(mode)))
}

fn same_time(entry: &Entry, there: &Entry) -> bool {
    entry.mtime.is_some() && entry.mtime == there.mtime
}

fn one_has_no_time(entry: &Entry, there: &Entry) -> bool {
    entry.mtime.is_none() || there.mtime.is_none()
}

fn is(file: &LocalFile, sha256: &str) -> Result<bool> {
    let digest: Sha256Digest = file.sha256()?;
    Ok(digest.is(sha256))
}

#[cfg(test)]
mod tests;
