//! The inventories of the versions: the current one must agree with earlier ones.

use std::collections::{BTreeMap, BTreeSet};

use super::Object;
use super::check::Wanted;
use super::files::Found;
use super::open::inventory_in;
use crate::{Fault, Inventory, Version, VersionNumber};

/// The inventory of an earlier version.
#[derive(Debug)]
pub(super) struct Older {
    number: VersionNumber,
    at: String,
    inventory: Inventory,
}

/// Reads the inventories of all versions; that of the head has to be that of the object.
pub(super) fn read(object: &Object, found: &Found, faults: &mut Vec<Fault>) -> Vec<Older> {
    let mut older = Vec::new();
    for number in &found.inventories {
        let directory = object.root.join(number.to_string());
        match inventory_in(&directory) {
            Err(wrong) => faults.extend(wrong.0),
            Ok((text, inventory)) => {
                let at = directory.display().to_string();
                if *number == object.inventory.head {
                    if text != object.text {
                        let what = "its inventory is not that of the object";
                        faults.push(Fault::new("E064", at, what));
                    }
                } else {
                    let latest = older.iter().map(|older: &Older| older.inventory.spec).max();
                    if latest > Some(inventory.spec) {
                        let what = "its inventory is of an earlier specification";
                        faults.push(Fault::new("E103", &at, what));
                    }
                    older.push(Older { number: *number, at, inventory });
                }
            }
        }
    }
    older
}

impl Older {
    pub(super) fn compare<'a>(
        &'a self,
        object: &Object,
        found: &Found,
        wanted: &mut Wanted<'a>,
        faults: &mut Vec<Fault>,
    ) {
        let now = &object.inventory;
        let mut wrong = |code, what: String| faults.push(Fault::new(code, &self.at, what));
        if self.inventory.id != now.id {
            wrong("E037", "its inventory is of another object".to_owned());
        }
        if self.inventory.head != self.number {
            wrong("E040", format!("its inventory has the head {}", self.inventory.head));
        }
        if self.inventory.content_directory != now.content_directory {
            wrong("E019", "its inventory has another content directory".to_owned());
        }
        if self.inventory.spec > now.spec {
            wrong("E103", "its inventory is of a later specification".to_owned());
        }
        let both = self.inventory.versions.iter().zip(&now.versions);
        for (number, (then, now_of)) in self.inventory.numbers().zip(both) {
            if !is_same_state((&self.inventory, then), (now, now_of)) {
                wrong("E066", format!("{number} has another state in its inventory"));
            }
        }
        self.manifest(found, wanted, faults);
    }

    /// The contents that were there are in the manifest, with the digests of that time.
    fn manifest<'a>(&'a self, found: &Found, wanted: &mut Wanted<'a>, faults: &mut Vec<Fault>) {
        let known = self.inventory.digests();
        for (path, digest) in &known {
            wanted.add(path, self.inventory.algorithm, digest, "E092");
        }
        let is_then = |path: &&String| {
            let number = path.split('/').next().and_then(VersionNumber::parse);
            number.is_some_and(|number| number.number() <= self.number.number())
        };
        for path in found.contents.iter().filter(is_then) {
            if !known.contains_key(path.as_str()) {
                let what = format!("its manifest does not have {path:?}");
                faults.push(Fault::new("E023", &self.at, what));
            }
        }
    }
}

/// Whether two inventories say the same of a version. Where their algorithms differ, the contents are compared.
fn is_same_state(one: (&Inventory, &Version), other: (&Inventory, &Version)) -> bool {
    if one.0.algorithm == other.0.algorithm {
        let digest =
            |(path, digest): (&String, &String)| (path.clone(), digest.to_ascii_lowercase());
        let state =
            |version: &Version| version.state.iter().map(digest).collect::<BTreeMap<_, _>>();
        return state(one.1) == state(other.1);
    }
    let contents = |inventory: &Inventory, digest: &String| -> BTreeSet<String> {
        inventory.manifest.get(digest).into_iter().flatten().cloned().collect()
    };
    // The later manifest may have the same content at more paths.
    one.1.state.len() == other.1.state.len()
        && one.1.state.iter().all(|(path, digest)| {
            let now = other.1.state.get(path).map(|digest| contents(other.0, digest));
            now.is_some_and(|now| !contents(one.0, digest).is_disjoint(&now))
        })
}
