//! Resolves the entries of a manifest to resources of the store.
//!
//! Ids of projects and files are those of the DNAnexus opening, which resolves them.

use std::collections::{BTreeMap, HashMap};

use cenote_client::dnanexus::Platform;
use cenote_client::{At, Client};
use cenote_mount::{Folder, Placed};
use serde_json::{Value, json};

use super::{DirectoryEntry, FileEntry, Manifest, wrong};
use crate::error::{CliError, Kind, Result};

/// How many files are resolved with one request.
const BATCH: usize = 1_000;

/// A collection that entries are in.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    /// Its path in the store.
    path: String,
    pub(crate) name: String,
    folder: Option<Folder>,
    /// Whether the caller may create files in it.
    write: bool,
    /// Seconds since 1970.
    ctime: i64,
    mtime: i64,
}

impl Base {
    /// The id of its project.
    pub(crate) fn id(&self) -> Option<&str> {
        Some(&self.folder.as_ref()?.project)
    }

    /// The folder of the project that it is.
    pub(crate) fn folder_path(&self) -> &str {
        self.folder.as_ref().map_or("/", |folder| &folder.path)
    }
}

/// Resolves names, each once.
#[derive(Debug)]
pub(crate) struct Resolver {
    client: Client,
    platform: Platform,
    /// Whether it has to be known which folder of which project a collection is.
    folders: bool,
    known: HashMap<String, Base>,
}

impl Resolver {
    pub(crate) fn new(client: Client, folders: bool) -> Self {
        let platform = Platform::of_store(client.clone());
        Self { client, platform, folders, known: HashMap::new() }
    }

    /// What is at the places of a manifest, which has all that is known of its files afterwards.
    pub(crate) async fn places(&mut self, manifest: &mut Manifest) -> Result<Vec<Placed>> {
        let described = self.describe_files(manifest).await?;
        let mut places = Vec::new();
        for entry in &mut manifest.files {
            let base = self.base(&entry.proj_id).await?;
            places.push(match described.get(&(entry.proj_id.clone(), entry.file_id.clone())) {
                Some(found) => file_by_id(entry, &base, found)?,
                None if entry.file_id.starts_with('/') => file_by_path(entry, &base),
                None => return Err(wrong(format!("File {} was not described", entry.file_id))),
            });
        }
        for entry in &mut manifest.directories {
            let base = self.base(&entry.proj_id).await?;
            places.push(directory(entry, &base));
        }
        Ok(places)
    }

    /// The collection that is a project, by its id or its path.
    pub(crate) async fn base(&mut self, project: &str) -> Result<Base> {
        if let Some(known) = self.known.get(project) {
            return Ok(known.clone());
        }
        let base = match project.starts_with('/') {
            true => self.by_path(project).await?,
            false => self.by_id(project, "/".to_owned()).await?,
        };
        self.known.insert(project.to_owned(), base.clone());
        Ok(base)
    }

    async fn by_path(&self, path: &str) -> Result<Base> {
        let path = match path.trim_end_matches('/') {
            "" => "/",
            path => path,
        };
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        if !self.folders {
            let (path, folder) = (path.to_owned(), None);
            return Ok(Base { path, name, folder, write: true, ctime: 0, mtime: 0 });
        }
        let found = self.platform.call("system", "findFolder", &json!({ "path": path })).await?;
        let text = |member: &str| found[member].as_str().unwrap_or_default().to_owned();
        let base = self.by_id(&text("project"), text("folder")).await?;
        Ok(Base { path: path.to_owned(), name, ..base })
    }

    async fn by_id(&self, id: &str, path: String) -> Result<Base> {
        let input = json!({ "fields": fields() });
        let described = self.platform.call(id, "describe", &input).await.map_err(|error| {
            CliError::new(
                Kind::NotFound,
                format!("Could not describe project {id}, check permissions"),
            )
            .hint(error.to_string())
        })?;
        self.described(&described, path).await
    }

    async fn described(&self, described: &Value, folder: String) -> Result<Base> {
        let resource = described["resource"].as_u64().ok_or_else(other_server)?;
        let found = self.client.stat(&At::Id(resource)).await?;
        let text = |member: &str| described[member].as_str().unwrap_or_default().to_owned();
        let seconds = |member: &str| described[member].as_i64().unwrap_or(0) / 1_000;
        Ok(Base {
            path: found.path,
            name: text("name"),
            folder: Some(Folder { project: text("id"), path: folder }),
            write: described["level"] != "VIEW",
            ctime: seconds("created"),
            mtime: seconds("modified"),
        })
    }

    /// The project of a name, which has to be the only one.
    pub(crate) async fn named(&mut self, name: &str) -> Result<Base> {
        let describe = json!({ "fields": fields() });
        let input = json!({ "name": name, "level": "VIEW", "describe": describe });
        let found = self.platform.call("system", "findProjects", &input).await?;
        let found: Vec<&Value> = found["results"].as_array().into_iter().flatten().collect();
        match found.as_slice() {
            [one] => self.described(&one["describe"], "/".to_owned()).await,
            [] => Err(CliError::new(
                Kind::NotFound,
                format!("Could not find project with name {name}"),
            )
            .hint("`cenote ls /` lists collections, and `dx find projects` projects")),
            several => Err(CliError::new(
                Kind::Usage,
                format!("there are {} projects with the name {name}", several.len()),
            )
            .hint("give the id of the project")),
        }
    }

    /// What the opening says of the files that have ids.
    async fn describe_files(
        &self,
        manifest: &Manifest,
    ) -> Result<HashMap<(String, String), Value>> {
        let mut requested: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for entry in manifest.files.iter().filter(|entry| entry.file_id.starts_with("file-")) {
            requested.entry(&entry.proj_id).or_default().push(&entry.file_id);
        }
        let mut described = HashMap::new();
        for (project, ids) in requested {
            for ids in ids.chunks(BATCH) {
                for found in self.describe_in(project, ids).await? {
                    let id = found["id"].as_str().unwrap_or_default().to_owned();
                    described.insert((project.to_owned(), id), found["describe"].clone());
                }
            }
        }
        Ok(described)
    }

    async fn describe_in(&self, project: &str, ids: &[&str]) -> Result<Vec<Value>> {
        let project = match project.starts_with('/') {
            false => project.to_owned(),
            true => {
                let input = json!({ "path": project });
                let found = self.platform.call("system", "findFolder", &input).await?;
                found["project"].as_str().unwrap_or_default().to_owned()
            }
        };
        let describe = json!({ "fields": file_fields() });
        let input = json!({ "id": ids, "scope": { "project": project }, "describe": describe, "limit": BATCH });
        let mut found = self.platform.call("system", "findDataObjects", &input).await?;
        Ok(match found["results"].take() {
            Value::Array(results) => results,
            _ => Vec::new(),
        })
    }
}

fn fields() -> Value {
    json!({ "name": true, "level": true, "created": true, "modified": true, "resource": true })
}

fn file_fields() -> Value {
    json!({
        "name": true, "folder": true, "project": true, "size": true, "state": true, "archivalState": true,
        "created": true, "modified": true, "resource": true,
    })
}

fn other_server() -> CliError {
    CliError::new(Kind::Unavailable, "the server speaks the DNAnexus API, and is none of cenote")
        .hint("mount other servers with dxfuse itself")
}

fn file_by_id(entry: &mut FileEntry, base: &Base, found: &Value) -> Result<Placed> {
    let text = |member: &str| found[member].as_str().unwrap_or_default().to_owned();
    let seconds = |member: &str| found[member].as_i64().unwrap_or(0) / 1_000;
    if text("state") != "closed" {
        return Err(wrong(format!(
            "File {} is not closed, it is {}",
            entry.file_id,
            text("state")
        )));
    }
    if entry.fname.is_empty() {
        entry.fname = text("name");
    }
    (entry.state, entry.archival_state) = (text("state"), text("archivalState"));
    entry.size = found["size"].as_i64().unwrap_or(0);
    (entry.ctime, entry.mtime) = (seconds("created"), seconds("modified"));
    let resource = found["resource"].as_u64().ok_or_else(other_server)?;
    let folder = Folder { project: text("project"), path: text("folder") };
    Ok(placed_file(entry, At::Id(resource), (base.write, Some(folder))))
}

fn file_by_path(entry: &mut FileEntry, base: &Base) -> Placed {
    let (above, name) = entry.file_id.rsplit_once('/').unwrap_or(("", &entry.file_id));
    let folder = base
        .folder
        .as_ref()
        .map(|folder| Folder { project: folder.project.clone(), path: join(&folder.path, above) });
    if entry.fname.is_empty() {
        entry.fname = name.to_owned();
    }
    let path = join(&base.path, &entry.file_id);
    placed_file(entry, At::Path(path), (base.write, folder))
}

fn placed_file(entry: &FileEntry, resource: At, (write, folder): (bool, Option<Folder>)) -> Placed {
    let at = join(&entry.parent, &entry.fname.replace('/', "___"));
    Placed { at, resource, write, folder }
}

fn directory(entry: &mut DirectoryEntry, base: &Base) -> Placed {
    if entry.ctime == 0 || entry.mtime == 0 {
        (entry.ctime, entry.mtime) = (base.ctime, base.mtime);
    }
    let folder = base.folder.as_ref().map(|folder| Folder {
        project: folder.project.clone(),
        path: join(&folder.path, &entry.folder),
    });
    Placed {
        at: entry.dirname.clone(),
        resource: At::Path(join(&base.path, &entry.folder)),
        write: base.write,
        folder,
    }
}

/// The path of something below a collection.
fn join(base: &str, rest: &str) -> String {
    let names = base.split('/').chain(rest.split('/')).filter(|name| !name.is_empty());
    format!("/{}", names.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined() {
        for (base, rest, joined) in [("/", "/", "/"), ("/lab", "/", "/lab"), ("/", "a//b/", "/a/b")]
        {
            assert_eq!(join(base, rest), joined);
        }
    }
}
