//! The notes of this opening: what the protocol knows of a resource, and the store has no word for.
//!
//! | name of the note | about | what it says |
//! |---|---|---|
//! | `object/ID/RESOURCE` | an object | [`ObjectNote`]; `ID` is the object's, `RESOURCE` its place's own |
//! | `project/ID` | a collection | [`ProjectNote`]: it is a project, whatever its place |
//! | `known/ID/RESOURCE` | an object, a collection | nothing: the resource had the id `ID` where it was brought from |
//! | `nonce/USER/NONCE` | what a call created | the digest of that call's input |
//!
//! An object without a note is closed and visible, and has the name of its resource. Notes are changed in the commit that
//! changes the resource, and removed with it.

use bytes::Bytes;
use cenote_blob::append_crc64nvme;
use cenote_store::{
    Algorithm, ContentHead, Error, ErrorKind, NoteAbout, Notes, Part, ResourceId, Stat,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id::{Class, ObjectId};
use crate::dnanexus::call::fault::Fault;

/// The name of this opening in the store.
pub(crate) const OPENING: &str = "dnanexus";

/// A name of this opening, and the name that the resource had in the tree when it was given. Once another opening renames the
/// resource, it no longer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ShownName {
    name: String,
    at: String,
}

impl ShownName {
    /// None where the name is that of the resource.
    pub(crate) fn of(name: &str, at: &str) -> Option<Self> {
        (name != at).then(|| Self { name: name.to_owned(), at: at.to_owned() })
    }
}

/// The name that is shown of a resource.
pub(crate) fn shown<'a>(given: Option<&'a ShownName>, stat: &'a Stat) -> &'a str {
    let at = stat.resource.name.as_str();
    given.filter(|given| given.at == at).map_or(at, |given| given.name.as_str())
}

/// Whether a file can be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Open,
    #[default]
    Closed,
}

impl State {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// The notes about an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ObjectNote {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<ShownName>,
    pub(crate) state: State,
    /// The upload of an open file, once a part was announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) upload: Option<String>,
    pub(crate) hidden: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) types: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) details: Option<Value>,
    /// Of a clone: when the object was created, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<i64>,
    /// Unless it is `live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archival: Option<String>,
    /// The time from which it is `live`, regardless of `archival`, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) live_from: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<PartsNote>,
    /// The id that it had on the server that it was brought from, by which it is found, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<String>,
}

/// The parts that a content was sent in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PartsNote {
    /// The CRC-64/NVME of the content, as it follows from those of the parts: of another content they say nothing.
    crc64nvme: u64,
    /// Number, size and MD5 of each.
    pub(crate) parts: Vec<(u64, u64, String)>,
}

impl PartsNote {
    /// Of parts, each with its number.
    pub(crate) fn of<'a>(sent: impl Iterator<Item = (u64, &'a Part)>) -> Self {
        let mut note = Self::default();
        for (number, part) in sent {
            let crc = part.digests.crc64nvme.unwrap_or_default();
            note.crc64nvme = append_crc64nvme(note.crc64nvme, crc, part.length);
            let md5 = part.digests.get(Algorithm::Md5).map(hex::encode).unwrap_or_default();
            note.parts.push((number, part.length, md5));
        }
        note
    }

    /// Whether these are the parts of a content.
    pub(crate) fn are_of(&self, content: &ContentHead) -> bool {
        let size: u64 = self.parts.iter().map(|(_, size, _)| size).sum();
        size == content.size && content.digests.crc64nvme == Some(self.crc64nvme)
    }
}

/// The notes about a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ProjectNote {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shown: Option<ShownName>,
    /// Members of a description that clients set, and that this server only keeps.
    pub(crate) settings: Map<String, Value>,
    /// The region that it was created in, unless that is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<String>,
    /// The id of the project that was brought here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<String>,
}

/// The note of an object's place, and the object's id.
pub(crate) fn object_of(notes: &[NoteAbout], stat: &Stat) -> Option<(ObjectId, ObjectNote)> {
    let class = Class::of(stat.resource.kind)?;
    let noted = notes.iter().find_map(|note| {
        let (id, _) = note.name.strip_prefix("object/")?.split_once('/')?;
        Some((id.parse().ok()?, read(&note.note)))
    });
    Some(noted.unwrap_or_else(|| (ObjectId::new(class, stat.id), ObjectNote::default())))
}

/// The note of a project, if the collection has one.
pub(crate) fn project_of(notes: &[NoteAbout]) -> Option<ProjectNote> {
    let note = notes.iter().find(|note| note.name.starts_with(PROJECTS))?;
    Some(read(&note.note))
}

pub(crate) const PROJECTS: &str = "project/";

/// What the names of all places of an object begin with.
pub(crate) fn places(object: ObjectId) -> String {
    format!("object/{object}/")
}

fn place(object: ObjectId, resource: ResourceId) -> String {
    format!("{}{resource}", places(object))
}

/// A note that this server cannot read was written by a later version, and is ignored.
fn read<T: Default + for<'de> Deserialize<'de>>(note: &Bytes) -> T {
    serde_json::from_slice(note).unwrap_or_default()
}

/// Stores the note of an object's place, or removes it if it is empty.
pub(crate) fn keep_object(
    notes: &mut Notes<'_>,
    object: ObjectId,
    resource: ResourceId,
    note: &ObjectNote,
) -> cenote_store::Result<()> {
    let name = place(object, resource);
    keep_former_id(notes, note.known.as_deref(), resource)?;
    match *note == ObjectNote::default() && object.resource == resource {
        true => notes.remove_named(&name),
        false => notes.put_about(resource, &name, bytes(note)),
    }
}

pub(crate) fn keep_project(
    notes: &mut Notes<'_>,
    project: ResourceId,
    note: &ProjectNote,
) -> cenote_store::Result<()> {
    keep_former_id(notes, note.known.as_deref(), project)?;
    notes.put_about(project, &format!("{PROJECTS}{}", ObjectId::project(project)), bytes(note))
}

/// What the names of notes begin with about what had this id elsewhere.
pub(crate) fn former_id_prefix(id: &str) -> String {
    format!("known/{id}/")
}

fn keep_former_id(
    notes: &mut Notes<'_>,
    id: Option<&str>,
    resource: ResourceId,
) -> cenote_store::Result<()> {
    let Some(id) = id else { return Ok(()) };
    notes.put_about(
        resource,
        &format!("{}{resource}", former_id_prefix(id)),
        Bytes::from_static(b"{}"),
    )
}

fn bytes(note: &impl Serialize) -> Bytes {
    serde_json::to_vec(note).expect("a note has text for keys").into()
}

/// A call that creates something once, however often it is repeated.
#[derive(Debug, Clone)]
pub(crate) struct Once {
    name: String,
    digest: Bytes,
}

impl Once {
    /// That of the input of a call by a user, if it has a nonce.
    pub(crate) fn of(user: u64, class: Class, input: &Value) -> Result<Option<Self>, Fault> {
        let Some(nonce) = input.get("nonce").filter(|nonce| !nonce.is_null()) else {
            return Ok(None);
        };
        let nonce = nonce.as_str().ok_or_else(|| Fault::input("\"nonce\" is not a string"))?;
        if nonce.is_empty() || nonce.len() > 128 {
            return Err(Fault::input("\"nonce\" has 1 to 128 bytes"));
        }
        let mut sorted = input.clone();
        sorted.sort_all_objects();
        let digest = ring::digest::digest(&ring::digest::SHA256, sorted.to_string().as_bytes());
        let name = format!("nonce/{user}/{}/{nonce}", class.as_str());
        Ok(Some(Self { name, digest: Bytes::copy_from_slice(digest.as_ref()) }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the same input was sent with the nonce before.
    pub(crate) fn is_same(&self, digest: &Bytes) -> bool {
        self.digest == digest
    }

    pub(crate) fn keep(
        &self,
        notes: &mut Notes<'_>,
        resource: ResourceId,
    ) -> cenote_store::Result<()> {
        notes.put_about(resource, &self.name, self.digest.clone()).map_err(|error| {
            match error.kind() {
                // Must not be confused with the conflict of a name in the tree.
                ErrorKind::Exists => Error::new(ErrorKind::Conflict, error.to_string()),
                _ => error,
            }
        })
    }
}

/// Forgets the nonces of what was created: once it is closed, the call that created it was answered.
pub(crate) fn forget_nonces(
    notes: &mut Notes<'_>,
    resource: ResourceId,
) -> cenote_store::Result<()> {
    let about = notes.about(resource)?.into_iter();
    let mut nonces = about.filter(|note| note.name.starts_with("nonce/"));
    nonces.try_for_each(|note| notes.remove_named(&note.name))
}
