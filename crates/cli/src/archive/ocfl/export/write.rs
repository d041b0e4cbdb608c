//! From the states of a resource to versions of its object.

use std::collections::BTreeMap;
use std::io::Write;

use cenote_client::{At, ReadOptions, Resource};
use cenote_ocfl::{Draft, Hashes, Inventory, Object, Stamp, User, Version};
use futures_util::StreamExt;

use super::super::headers::{
    ANY, BASIC, BINARY, Bytes, CLASSES, DESCRIPTION, DIRECTORY, FILENAME, Header, OWN, Times,
};
use super::super::{Written, extra};
use super::Export;
use super::states::{State, states};
use crate::archive::names::{Place, encoded};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};
use crate::migrate::Outcome;

const CONTAINER: &str = "fcr-container.nt";
const DESCRIBED: &str = "~fcr-desc.nt";
/// The longest name that a file has of its own; file systems take 255 bytes.
const LONGEST: usize = 240;

/// A state as files: those of its object in this version, except headers.
struct Files {
    /// The class of a container, which is a header.
    model: &'static str,
    graph_path: String,
    graph: Vec<u8>,
    /// The path of the bytes, and their SHA-256.
    content: Option<(String, String)>,
    /// The name of a file.
    filename: Option<String>,
    extra: Option<Vec<u8>>,
}

impl Export<'_> {
    /// Writes the states that the object of a resource does not have.
    pub(super) async fn export(
        &self,
        resource: &Resource,
        written: &mut Written,
    ) -> Result<Outcome> {
        let place = self.names.at(&resource.path);
        let place = place.ok_or_else(|| wrong("it is not below the collection"))?;
        let id = self.names.iri(&place);
        let object = self.object(&id)?;
        let mut all = Vec::new();
        for state in states(self.client, resource, &self.names, &place).await? {
            let files = self.files(resource, &place, &state).await?;
            all.push((state, files));
        }
        let missing = match &object {
            Some(object) => missing(object.inventory(), all),
            None => all,
        };
        if missing.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        if self.check {
            let what = format!("its object does not have {} of its states", missing.len());
            return Err(CliError::new(Kind::Mismatch, what));
        }
        let mut draft = match &object {
            Some(object) => Draft::of(&self.root, object),
            None => Draft::new(&self.root, &id),
        }
        .map_err(wrong)?;
        for (state, files) in &missing {
            self.version(&mut draft, resource, &place, state, files, written).await?;
        }
        draft.publish().map_err(wrong)?;
        Ok(Outcome::Brought)
    }

    /// The existing object; when only comparing, with all of its files checked.
    fn object(&self, id: &str) -> Result<Option<Object>> {
        let directory = self.root.place(id).map_err(wrong)?;
        if !directory.exists() {
            return Ok(None);
        }
        let object = match self.check {
            true => Object::open(&directory).and_then(|it| it.check().map(|_| it)),
            false => Object::open_settled(&directory),
        };
        let object = object.map_err(wrong)?;
        match object.inventory().id == id {
            true => Ok(Some(object)),
            false => Err(wrong(format!("{} has another object", directory.display()))),
        }
    }

    async fn files(&self, resource: &Resource, place: &Place, state: &State) -> Result<Files> {
        let mut stated = state.stated.clone();
        let class = stated.take_type(&self.names.iri(place), &CLASSES);
        let extra = state.extra.text();
        let Some(content) = &state.content else {
            let (graph, graph_path) = (stated.text(), CONTAINER.to_owned());
            let model = class.unwrap_or(BASIC);
            return Ok(Files { model, graph_path, graph, content: None, filename: None, extra });
        };
        let name = file_name(place);
        let sha256 = match &content.sha256 {
            Some(sha256) => sha256.clone(),
            None => self.sha256(resource, state).await?,
        };
        let mut stated = state.stated.clone();
        let filename = stated.take_text(&self.names.iri(place), FILENAME);
        let filename = filename.or_else(|| place.name().map(str::to_owned));
        let (graph, graph_path) = (stated.text(), format!("{name}{DESCRIBED}"));
        let content = Some((name, sha256));
        Ok(Files { model: BINARY, graph_path, graph, content, filename, extra })
    }

    /// The SHA-256 of bytes of which the store does not know it yet.
    async fn sha256(&self, resource: &Resource, state: &State) -> Result<String> {
        let mut hashes = Hashes::new([cenote_ocfl::Algorithm::Sha256]);
        self.bytes(resource, state, |bytes| {
            hashes.update(bytes);
            Ok(())
        })
        .await?;
        Ok(hashes.finish().into_values().next().unwrap_or_default())
    }

    async fn bytes(
        &self,
        resource: &Resource,
        state: &State,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<()> {
        let options = ReadOptions { version: state.version, ..ReadOptions::default() };
        let content = self.client.read(At::Id(resource.id), &options).await?;
        let mut chunks = content.into_stream();
        while let Some(chunk) = chunks.next().await {
            take(&chunk?)?;
        }
        Ok(())
    }

    async fn version(
        &self,
        draft: &mut Draft,
        resource: &Resource,
        place: &Place,
        state: &State,
        files: &Files,
        written: &mut Written,
    ) -> Result<()> {
        let id = self.names.iri(place);
        // The root of a repository of fcrepo is its own parent: it does not read a root without one.
        let parent = place.parent().map_or_else(|| id.clone(), |parent| self.names.iri(&parent));
        let times = Times {
            created: resource.created,
            created_by: resource.created_by.clone(),
            modified: state.created,
            modified_by: state.user.clone(),
        };
        let graph = draft.add_bytes(&files.graph_path, &files.graph).map_err(wrong)?;
        let described = Bytes {
            path: &files.graph_path,
            size: files.graph.len() as u64,
            sha512: &graph,
            mime_type: None,
            filename: None,
        };
        let mut header = Header::new(&id, &parent, files.model, &times);
        match (&files.content, &state.content) {
            (Some((path, sha256)), Some(content)) => {
                let digest = self.content(draft, (resource, state), path, sha256, written).await?;
                header = header.with(&Bytes {
                    path,
                    size: content.size,
                    sha512: &digest,
                    mime_type: Some(resource.media_type.as_deref().unwrap_or(ANY)),
                    filename: files.filename.as_deref(),
                });
                let description = Header::of_description(&id, &times).with(&described);
                draft.add_bytes(DESCRIPTION, &description.text()).map_err(wrong)?;
            }
            _ => header = header.with(&described),
        }
        draft.add_bytes(OWN, &header.text()).map_err(wrong)?;
        if let Some(extra) = &files.extra {
            draft.add_bytes(extra::PATH, extra).map_err(wrong)?;
        }
        written.versions += 1;
        draft.end_version(stamp(state)).map_err(wrong)
    }

    /// Adds the bytes of a state, which are fetched only if the object does not have them.
    async fn content(
        &self,
        draft: &mut Draft,
        (resource, state): (&Resource, &State),
        path: &str,
        sha256: &str,
        written: &mut Written,
    ) -> Result<String> {
        if let Some(digest) = draft.known(sha256) {
            draft.add_known(path, &digest);
            return Ok(digest);
        }
        let mut incoming = draft.incoming().map_err(wrong)?;
        self.bytes(resource, state, |bytes| {
            written.bytes += bytes.len() as u64;
            incoming.write_all(bytes)
        })
        .await?;
        let digest = draft.add(path, incoming).map_err(wrong)?;
        match draft.known(sha256).as_ref() == Some(&digest) {
            true => Ok(digest),
            false => {
                Err(CliError::new(Kind::Mismatch, "the bytes that arrived have another digest")
                    .hint("run the same command again"))
            }
        }
    }
}

fn stamp(state: &State) -> Stamp {
    let user = state.user.clone().map(|name| User { name, address: None });
    Stamp { created: state.created, message: state.label.clone(), user }
}

/// The name that the bytes of a file have in its object: that in its id, if no other file of the object can have it.
fn file_name(place: &Place) -> String {
    let name = encoded(place.name().unwrap_or_default());
    let reserved = [DIRECTORY, extra::DIRECTORY].map(|directory| directory.trim_end_matches('/'));
    let is_free = name.len() <= LONGEST && !reserved.contains(&name.as_str());
    if is_free { name } else { "content".to_owned() }
}

/// The states that an object does not have: each in a version of its own with the same time, the current one in the newest.
fn missing(inventory: &Inventory, states: Vec<(State, Files)>) -> Vec<(State, Files)> {
    let mut free: Vec<&Version> = inventory.versions.iter().collect();
    let newest = free.last().copied();
    let is_newest = |(state, files): &(State, Files)| {
        state.version.is_none() && newest.is_some_and(|it| has(inventory, it, state, files))
    };
    if states.iter().any(is_newest) {
        free.pop();
    }
    let mut is_missing = |it: &(State, Files)| match it.0.version {
        None => !is_newest(it),
        Some(_) => {
            let found = free.iter().position(|version| has(inventory, version, &it.0, &it.1));
            found.map(|at| free.remove(at)).is_none()
        }
    };
    states.into_iter().filter(|it| is_missing(it)).collect()
}

/// Whether a version of an object has a state.
fn has(inventory: &Inventory, version: &Version, state: &State, files: &Files) -> bool {
    version.created == state.created
        && wanted(inventory, state, files).is_some_and(|wanted| compared(version, state) == wanted)
}

/// The digests that a version with these files would have; none if the object does not have the bytes.
fn wanted(inventory: &Inventory, state: &State, files: &Files) -> Option<BTreeMap<String, String>> {
    let of = |bytes: &[u8]| inventory.algorithm.of(bytes);
    let mut wanted = BTreeMap::from([(files.graph_path.clone(), of(&files.graph))]);
    if let Some((path, sha256)) = &files.content {
        wanted.insert(path.clone(), inventory.known(sha256)?);
    }
    if let (None, Some(extra)) = (state.version, &files.extra) {
        wanted.insert(extra::PATH.to_owned(), of(extra));
    }
    Some(wanted)
}

/// The compared parts of a version: headers are derived from the rest, and other properties are not kept.
fn compared(version: &Version, state: &State) -> BTreeMap<String, String> {
    let is_compared = |path: &String| {
        let is_extra = path.starts_with(extra::DIRECTORY);
        !path.starts_with(DIRECTORY) && (!is_extra || state.version.is_none())
    };
    let files = version.state.iter().filter(|(path, _)| is_compared(path));
    files.map(|(path, digest)| (path.clone(), digest.clone())).collect()
}
