//! What an inventory may not say, whatever the files are.

use std::collections::{BTreeMap, BTreeSet};

use super::{Inventory, Spec};
use crate::path::{conflict, wrong};
use crate::{Fault, VersionNumber};

/// The paths by their digest; a digest that occurs twice, in any case of letters, is a fault.
pub(super) fn digests(
    pairs: Vec<(String, Vec<String>)>,
    code: &'static str,
    at: &str,
    faults: &mut Vec<Fault>,
) -> BTreeMap<String, Vec<String>> {
    let mut seen = BTreeSet::new();
    for (digest, _) in &pairs {
        if !seen.insert(digest.to_ascii_lowercase()) {
            faults.push(Fault::new(code, at, format!("the digest {digest} is there twice")));
        }
    }
    pairs.into_iter().collect()
}

/// Finds all that contradicts itself.
pub(super) fn check(inventory: &Inventory, at: &str, faults: &mut Vec<Fault>) {
    let mut add = |code, what: String| faults.push(Fault::new(code, at, what));
    let directory = inventory.content_directory.as_str();
    if directory.contains('/') || wrong(directory).is_some() {
        add("E017", format!("the content directory {directory:?} is not a name"));
    }
    contents(inventory, &mut add);
    states(inventory, &mut add);
    fixity(inventory, &mut add);
}

/// The paths of contents, each once, below the content directory of a version.
fn contents(inventory: &Inventory, add: &mut impl FnMut(&'static str, String)) {
    let mut known = BTreeSet::new();
    for (digest, paths) in &inventory.manifest {
        if paths.is_empty() {
            add("E041", format!("the digest {digest} has no content"));
        }
        for path in paths {
            if let Some(why) = wrong(path) {
                add("E099", format!("{path:?}: {why}"));
            } else if !is_content(inventory, path) {
                let what = format!("{path:?} is not below the content directory of a version");
                add("E042", what);
            }
            if !known.insert(path.as_str()) {
                add("E101", format!("the content {path:?} is there twice"));
            }
        }
    }
    if let Some(path) = conflict(&known) {
        add("E101", format!("the content {path:?} is a directory, too"));
    }
}

fn is_content(inventory: &Inventory, path: &str) -> bool {
    let mut names = path.splitn(3, '/');
    let number = names.next().and_then(VersionNumber::parse);
    let is_known = number.is_some_and(|number| {
        number.is_like(inventory.head) && number.number() <= inventory.head.number()
    });
    is_known && names.next() == Some(&inventory.content_directory) && names.next().is_some()
}

/// The paths of states, and their digests, which the manifest has.
fn states(inventory: &Inventory, add: &mut impl FnMut(&'static str, String)) {
    let mut used = BTreeSet::new();
    for (number, version) in inventory.numbers().zip(&inventory.versions) {
        for (path, digest) in &version.state {
            if let Some(why) = wrong(path) {
                add("E052", format!("{path:?} of {number}: {why}"));
            }
            if !inventory.manifest.contains_key(digest) {
                add("E050", format!("the digest of {path:?} of {number} is not in the manifest"));
            }
            used.insert(digest);
        }
        if let Some(path) = conflict(&version.state.keys().map(String::as_str).collect()) {
            add("E095", format!("{path:?} of {number} is a directory, too"));
        }
    }
    for digest in inventory.manifest.keys().filter(|digest| !used.contains(digest)) {
        if inventory.spec >= Spec::V1_1 {
            add("E107", format!("no version has the content with the digest {digest}"));
        }
    }
}

/// Fixity blocks are of contents that the manifest has.
fn fixity(inventory: &Inventory, add: &mut impl FnMut(&'static str, String)) {
    let known = inventory.digests();
    for (name, block) in &inventory.fixity {
        for path in block.values().flatten() {
            if let Some(why) = wrong(path) {
                add("E099", format!("{path:?} of {name}: {why}"));
            } else if !known.contains_key(path.as_str()) {
                add("E093", format!("{path:?} of {name} is not in the manifest"));
            }
        }
    }
}
