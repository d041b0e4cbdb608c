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
}

/// What is to be done, in this order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What goes from the target, each without what lies below.
    pub(super) remove: Vec<String>,
    /// What comes, or comes anew: directories before what is in them.
    pub(super) transfer: Vec<(String, Entry)>,
    /// What has the right bytes, but not the right mode or time.
    pub(super) attributes: Vec<(String, Entry)>,
    /// What is as it should be.
    pub(super) unchanged: u64,
    /// What cannot be done.
    pub(super) failures: Vec<(String, CliError)>,
}

/// Compares two trees. Blocks while it reads files, where that is needed.
pub(super) fn plan(source: Tree, mut target: Tree, rules: Rules) -> Plan {
    let mut plan = Plan::default();
    for (path, entry) in source {
        match target.remove(&path) {
            None => plan.transfer.push((path, entry)),
            Some(there) => plan.both(path, entry, &there, rules),
        }
    }
    if rules.delete {
        target.into_keys().for_each(|path| plan.remove_unless_below(path));
    }
    plan
}

impl Plan {
    fn both(&mut self, path: String, entry: Entry, there: &Entry, rules: Rules) {
        match difference(&entry, there, rules.checksum) {
            Ok(Difference::None) => self.unchanged += u64::from(!entry.is_directory()),
            Ok(Difference::Attributes) => self.attributes.push((path, entry)),
            Ok(Difference::Content) => self.transfer.push((path, entry)),
            Ok(Difference::Kind) if rules.delete => {
                self.remove_unless_below(path.clone());
                self.transfer.push((path, entry));
            }
            Ok(Difference::Kind) => {
                let error = CliError::new(Kind::Exists, "something of another kind is there")
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
    Content,
    Kind,
}

fn difference(entry: &Entry, there: &Entry, checksum: bool) -> Result<Difference> {
    use EntryKind::{Directory, File, Link, Object};
    match (&entry.kind, &there.kind) {
        (Directory, Directory) => Ok(attributes(same_mode(entry, there))),
        (Link(target), Link(other)) => Ok(match target == other {
            true => Difference::None,
            false => Difference::Kind,
        }),
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
                true => attributes(same_mode(entry, there) && (same_time || entry.mtime.is_none())),
                false => Difference::Content,
            })
        }
        (Object(resource), Object(other)) => Ok(match same_bytes(resource, other) {
            true => attributes(
                same_mode(entry, there) && (entry.mtime.is_none() || same_time(entry, there)),
            ),
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

fn attributes(same: bool) -> Difference {
    if same { Difference::None } else { Difference::Attributes }
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
