//! What has to be done so that one tree becomes like the other.

use cenote_client::transfer::LocalFile;
use cenote_client::{Resource, Sha256Digest};

use super::entry::{Entry, EntryKind, Tree};
use crate::error::{CliError, Kind, Result};

/// What counts as different, and what may be done about it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rules {
    /// Compare the bytes, not only size and time.
    pub(crate) checksum: bool,
    /// Remove what only the target has.
    pub(crate) delete: bool,
    /// What is removed may take its versions along.
    pub(crate) versions: bool,
}

/// What is to be done, in this order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What goes from the target, each without what lies below.
    pub(super) remove: Vec<String>,
    /// These may take their versions along.
    pub(super) versions: bool,
    /// What comes, or comes anew: directories before what is in them.
    pub(super) transfer: Vec<Change>,
    /// What has the right bytes, but not the right mode, time or media type.
    pub(super) attributes: Vec<Change>,
    /// What has the right bytes, but not the right description, nor perhaps the right attributes.
    pub(super) descriptions: Vec<Change>,
    /// What is as it should be.
    pub(super) unchanged: u64,
    /// What cannot be done.
    pub(super) failures: Vec<(String, CliError)>,
}

/// What becomes of something in the target.
#[derive(Debug)]
pub(super) struct Change {
    /// Where, below the roots.
    pub(super) path: String,
    /// As it is in the source.
    pub(super) entry: Entry,
    /// The state, in the store, of what is there in the target; none if nothing is.
    pub(super) seen: Option<String>,
}

/// Compares two trees. Blocks while it reads files, where that is needed.
pub(super) fn plan(source: Tree, mut target: Tree, rules: Rules) -> Plan {
    let mut plan = Plan { versions: rules.versions, ..Plan::default() };
    for (path, entry) in source {
        match target.remove(&path) {
            None => plan.transfer.push(Change { path, entry, seen: None }),
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
        let change = |path, seen| Change { path, entry, seen };
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
                    // Without a time on both sides there is nothing else to go by.
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
                let same_media_type = resource.media_type == other.media_type;
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

/// A side that has no time has no opinion, either.
fn same_attributes(entry: &Entry, there: &Entry) -> bool {
    same_mode(entry, there) && (entry.mtime.is_none() || same_time(entry, there))
}

/// A side that has no mode has no opinion.
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
