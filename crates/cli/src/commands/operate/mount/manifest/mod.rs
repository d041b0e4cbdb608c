//! Manifests in the form of dxfuse: which files and folders appear at which places.
//!
//! Besides ids of projects and files, paths of the store are taken: `proj_id` can be the path of a collection, and `file_id` a path in it.
//! Names of members are read in any case, unknown ones are passed over.

mod resolve;

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::resolve::Resolver;
use crate::error::{CliError, Kind, Result};

/// The largest manifest that is read.
const LONGEST: u64 = 64 << 20;

/// A manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Manifest {
    pub(super) files: Vec<FileEntry>,
    pub(super) directories: Vec<DirectoryEntry>,
}

/// A file at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FileEntry {
    pub(super) proj_id: String,
    pub(super) file_id: String,
    pub(super) parent: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) fname: String,
    #[serde(skip_serializing_if = "is_nothing")]
    pub(super) size: i64,
    #[serde(skip_serializing_if = "is_nothing")]
    pub(super) ctime: i64,
    #[serde(skip_serializing_if = "is_nothing")]
    pub(super) mtime: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) state: String,
    #[serde(
        rename(serialize = "archivalState", deserialize = "archivalstate"),
        skip_serializing_if = "String::is_empty"
    )]
    pub(super) archival_state: String,
}

/// A folder at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DirectoryEntry {
    pub(super) proj_id: String,
    pub(super) folder: String,
    pub(super) dirname: String,
    #[serde(skip_serializing_if = "is_nothing")]
    pub(super) ctime: i64,
    #[serde(skip_serializing_if = "is_nothing")]
    pub(super) mtime: i64,
}

fn is_nothing(number: &i64) -> bool {
    *number == 0
}

impl Manifest {
    /// Reads and checks the manifest in a file.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let unreadable = |error| {
            CliError::new(Kind::NotFound, format!("the manifest {}: {error}", path.display()))
        };
        if std::fs::metadata(path).map_err(unreadable)?.len() > LONGEST {
            return Err(wrong(format!("{} has more than 64 MiB", path.display())));
        }
        let manifest = Self::parse(&std::fs::read(path).map_err(unreadable)?)?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    fn parse(text: &[u8]) -> Result<Self> {
        let value = serde_json::from_slice(text).map(in_lower_case);
        let value = value.map_err(|error| wrong(format!("it is no manifest: {error}")))?;
        if !has_its_form(&value) {
            return Err(wrong("it is no manifest: an object with lists of objects is expected"));
        }
        serde_json::from_value(value).map_err(|error| wrong(format!("it is no manifest: {error}")))
    }

    fn check(&self) -> Result<(), String> {
        if self.files.is_empty() && self.directories.is_empty() {
            return Err("it names no file and no folder".to_owned());
        }
        for entry in &self.files {
            check_place(&entry.parent)?;
            check_project(&entry.proj_id)?;
            if !entry.file_id.starts_with("file-") && !entry.file_id.starts_with('/') {
                return Err(format!("file has invalid ID {}", entry.file_id));
            }
        }
        for entry in &self.directories {
            check_place(&entry.dirname)?;
            check_project(&entry.proj_id)?;
            if !entry.folder.starts_with('/') {
                return Err(format!("the folder must start with a slash {}", entry.folder));
            }
        }
        Ok(())
    }
}

fn check_place(path: &str) -> Result<(), String> {
    match path {
        "" => Err("the directory cannot be empty".to_owned()),
        path if path.starts_with('/') => Ok(()),
        path => Err(format!("the directory name must start with a slash {path}")),
    }
}

fn check_project(id: &str) -> Result<(), String> {
    let known = ["project-", "container-", "/"].iter().any(|begin| id.starts_with(begin));
    if known { Ok(()) } else { Err(format!("project has invalid ID {id}")) }
}

/// An error of a manifest.
pub(super) fn wrong(message: impl std::fmt::Display) -> CliError {
    CliError::new(Kind::Usage, format!("manifest error: {message}")).hint(
        "a manifest is {\"files\": [{\"proj_id\", \"file_id\", \"parent\"}], \"directories\": [{\"proj_id\", \"folder\", \"dirname\"}]}",
    )
}

/// Whether it is an object whose lists have objects: lists of values in order would be read, too.
fn has_its_form(value: &Value) -> bool {
    let entries = ["files", "directories"].into_iter().filter_map(|name| value.get(name));
    let are_objects =
        |list: &Value| list.as_array().is_some_and(|items| items.iter().all(Value::is_object));
    value.is_object() && entries.into_iter().all(are_objects)
}

/// The same with the names of members in lower case, and without members that are null.
fn in_lower_case(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(in_lower_case).collect(),
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            kept.map(|(name, value)| (name.to_lowercase(), in_lower_case(value))).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Result<Manifest> {
        let manifest = Manifest::parse(value.to_string().as_bytes())?;
        manifest.check().map_err(wrong)?;
        Ok(manifest)
    }

    #[test]
    fn both_forms_are_read_whatever_the_case_of_their_names() {
        let file = json!({ "proj_id": "project-1", "file_id": "file-1", "parent": "/in", "fname": "x", "archivalState": "live", "future": [1] });
        let directory =
            json!({ "proj_id": "/lab", "folder": "/d", "dirname": "/data", "ctime": null });
        let manifest = read(&json!({ "Files": [file], "directories": [directory] })).unwrap();
        assert_eq!(manifest.files[0].fname, "x");
        assert_eq!(manifest.files[0].archival_state, "live");
        assert_eq!(manifest.directories[0].dirname, "/data");
        let written = serde_json::to_value(&manifest).unwrap();
        assert_eq!(written["files"][0]["archivalState"], "live");
        assert_eq!(read(&written).unwrap(), manifest);
    }

    #[test]
    fn errors_are_specific() {
        let file = |project: &str, id: &str, parent: &str| json!({ "files": [{ "proj_id": project, "file_id": id, "parent": parent }] });
        for (value, message) in [
            (file("project-1", "file-1", "in"), "must start with a slash in"),
            (file("project-1", "file-1", ""), "the directory cannot be empty"),
            (file("job-1", "file-1", "/"), "project has invalid ID job-1"),
            (file("project-1", "record-1", "/"), "file has invalid ID record-1"),
            (
                json!({ "directories": [{ "proj_id": "project-1", "folder": "a", "dirname": "/a" }] }),
                "the folder must",
            ),
            (json!({}), "no file and no folder"),
            (json!({ "files": 1 }), "it is no manifest"),
            (json!([]), "it is no manifest"),
            (json!({ "files": [["project-1", "file-1", "/"]] }), "it is no manifest"),
            (json!({ "files": [{ "size": "large" }] }), "it is no manifest"),
        ] {
            let error = read(&value).unwrap_err();
            assert!(error.to_string().contains(message), "{value}: {error}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "(project-|file-|/)?[a-z/.]{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let name =
                "(F|f)iles|directories|proj_id|file_id|parent|fname|folder|dirname|size|[a-z]{1,3}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map(name, inner, 0..6)
                    .prop_map(|it| it.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_manifest_is_read_or_refused_with_a_reason(value in any_json()) {
            match read(&value) {
                Ok(manifest) => {
                    let written = serde_json::to_value(&manifest).unwrap();
                    prop_assert_eq!(read(&written).unwrap(), manifest);
                }
                Err(error) => prop_assert!(error.to_string().contains("manifest error: ")),
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let _refused = Manifest::parse(&bytes);
        }
    }
}
