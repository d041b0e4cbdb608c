//! The properties of the objects in a folder, from the DNAnexus opening.

use std::collections::{HashMap, HashSet};

use cenote_client::ResourceKind;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Fault, Result};
use crate::found::Found;

/// The properties of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its id.
    pub(crate) id: String,
    /// Its name, as it is shown in a file system.
    pub(crate) shown: String,
    /// When it was created, in milliseconds.
    pub(crate) created: i64,
    readable: bool,
}

impl Facts {
    pub(crate) fn is_file(&self) -> bool {
        self.id.starts_with("file-")
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.readable
    }
}

/// Whether a file that is described so can be read.
pub(crate) fn is_readable(described: &Value) -> bool {
    let matches = |name: &str, wanted| described.get(name).is_none_or(|value| value == wanted);
    matches("state", "closed") && matches("archivalState", "live")
}

/// The properties of a folder. By default nothing is known, and everything is shown as it is in the
/// store.
#[derive(Debug, Default)]
pub(crate) struct Names(Option<FolderContents>);

/// What a folder shows: its folders by name, and its objects by resource.
#[derive(Debug)]
struct FolderContents {
    folders: HashSet<String>,
    objects: HashMap<u64, Facts>,
}

#[derive(Deserialize)]
struct Listing {
    folders: Vec<String>,
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    id: String,
    describe: Value,
}

impl Names {
    pub(crate) fn read(answer: &Value) -> Result<Self> {
        let listing = Listing::deserialize(answer);
        let listing = listing.map_err(|error| Fault::warning(libc::EIO, error.to_string()))?;
        let last = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
        let folders = listing.folders.iter().map(last).collect();
        let objects = listing.objects.into_iter().filter_map(facts).collect();
        Ok(Self(Some(FolderContents { folders, objects })))
    }

    /// What is known of a resource; none if it is not shown: it is hidden, or a project of its own.
    pub(crate) fn of(&self, found: &Found) -> Option<Option<&Facts>> {
        let Some(contents) = &self.0 else { return Some(None) };
        match found.kind {
            ResourceKind::Collection => contents.folders.contains(&found.name).then_some(None),
            ResourceKind::Link => Some(None),
            _ => contents.objects.get(&found.id).map(Some),
        }
    }

    pub(crate) fn take(&mut self, resource: u64) -> Option<Facts> {
        self.0.as_mut()?.objects.remove(&resource)
    }
}

fn facts(Object { id, describe }: Object) -> Option<(u64, Facts)> {
    let shown = describe["name"].as_str()?.replace('/', "___");
    let (created, readable) = (describe["created"].as_i64().unwrap_or(0), is_readable(&describe));
    Some((describe["resource"].as_u64()?, Facts { id, shown: short(shown), created, readable }))
}

/// The longest name in bytes that Linux opens.
const LONGEST: usize = 255;

/// A name that can be opened: of a longer one the beginning, and a checksum of all of it.
fn short(name: String) -> String {
    if name.len() <= LONGEST {
        return name;
    }
    let sum =
        format!("~{:016x}", crc_fast::checksum(crc_fast::CrcAlgorithm::Crc64Nvme, name.as_bytes()));
    let end = (0..=LONGEST - sum.len()).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
    format!("{}{sum}", &name[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_without_slashes_and_states_are_read() {
        let described = json!({ "name": "a/b", "created": 7, "resource": 9, "state": "closed", "archivalState": "archived" });
        let answer =
            json!({ "folders": ["/x/y"], "objects": [{ "id": "file-1", "describe": described }] });
        let mut names = Names::read(&answer).unwrap();
        let facts = names.take(9).unwrap();
        assert_eq!((facts.shown.as_str(), facts.created), ("a___b", 7));
        assert!(facts.is_file() && !facts.is_readable());
        assert!(Names::read(&json!({ "folders": 1 })).is_err());
    }

    proptest! {
        #[test]
        fn every_name_can_be_opened(name in "\\PC{1,300}|ü{200,512}", other in "\\PC{256,300}") {
            let shown = short(name.clone());
            prop_assert!(shown.len() <= LONGEST && !shown.is_empty());
            prop_assert!(name == other || shown != short(other));
        }
    }
}
