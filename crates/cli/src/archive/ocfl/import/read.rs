//! The resources in an object, and the states of each.
//!
//! * An object of fcrepo has a header for each resource: one, or all of an archival group.
//! * Any other object is a collection that is named after the id, with its files.

use std::collections::BTreeMap;

use cenote_client::ResourceKind;
use cenote_ocfl::{Inventory, Object, Version};
use jiff::Timestamp;

use super::super::extra::{self, Extra};
use super::super::headers::{ACL, ANY, BINARY, CLASSES, DIRECTORY, Header, METADATA, OWN};
use crate::archive::names::{Names, Place, encoded};
use crate::archive::wrong;
use crate::error::Result;

/// The most that a header may have, in bytes.
const LARGEST: u64 = 4 << 20;

/// What an object is.
#[derive(Debug, Default)]
pub(super) struct Resources {
    pub(super) found: Vec<Found>,
    /// What is not brought, and why.
    pub(super) left_out: Vec<(String, String)>,
}

/// A resource.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) kind: ResourceKind,
    /// What it was, the earliest first, and is now.
    pub(super) states: Vec<State>,
    pub(super) extra: Extra,
    pub(super) media_type: Option<String>,
}

/// A state of a resource. Digests are those of the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    pub(super) created: Timestamp,
    pub(super) label: Option<String>,
    /// Whether our export says that it was a version in the store.
    pub(super) kept: bool,
    pub(super) content: Option<String>,
    pub(super) graph: Option<String>,
    pub(super) class: Option<&'static str>,
    /// The name of the file, according to the header.
    pub(super) filename: Option<String>,
}

impl State {
    /// Whether two states have the same bytes and statements.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let what = |it: &Self| (it.content.clone(), it.graph.clone(), it.filename.clone());
        self.class == other.class && what(self) == what(other)
    }
}

impl Found {
    /// Whether states of it are to be versions. Of a resource that never changed, the one state is a version only if an export says so.
    pub(super) fn has_history(&self) -> bool {
        self.states.len() > 1 || self.states.iter().any(|state| state.kept)
    }
}

/// The header of a resource in one version.
#[derive(Debug, Default, Clone)]
struct VersionHeader {
    header: Option<Header>,
    /// The digest of the header, which differs wherever the resource was written.
    written: Option<String>,
    /// Whether the version was one in the store.
    kept: bool,
    content: Option<String>,
    description: Option<String>,
}

/// Reads an object whose files were checked.
pub(super) fn resources(object: &Object, names: &Names) -> Result<Resources> {
    let inventory = object.inventory();
    match inventory.newest().state.keys().any(|path| is_header(path)) {
        true => of_fedora(object, names),
        false => Ok(of_any(inventory, names)),
    }
}

fn is_header(path: &str) -> bool {
    path.starts_with(DIRECTORY) && path.ends_with(".json")
}

fn of_fedora(object: &Object, names: &Names) -> Result<Resources> {
    let versions = object.inventory().versions.iter();
    let headers =
        versions.map(|version| read_headers(object, version)).collect::<Result<Vec<_>>>()?;
    let mut resources = Resources::default();
    let Some(newest) = headers.last() else { return Ok(resources) };
    for (id, now) in newest {
        let mut leave = |why: &str| resources.left_out.push((id.clone(), why.to_owned()));
        let Some(header) = &now.header else { continue };
        let place = names.place(id);
        match (&place, header) {
            _ if id.ends_with(ACL) => leave("access lists are not imported"),
            (_, header) if header.deleted => leave("it was removed there"),
            (None, _) => leave("its id does not name a resource"),
            (Some(_), Header { external_url: Some(url), .. }) => {
                leave(&format!("its content is elsewhere: {url}"));
            }
            (Some(place), header) => {
                let extra = extra_of(object, id, header)?;
                let found = found(object.inventory(), place.clone(), id, &headers, header, extra);
                resources.found.push(found);
            }
        }
    }
    Ok(resources)
}

/// The headers of a version, by the ids of resources.
fn read_headers(object: &Object, version: &Version) -> Result<BTreeMap<String, VersionHeader>> {
    let mut headers: BTreeMap<String, VersionHeader> = BTreeMap::new();
    for (path, digest) in version.state.iter().filter(|(path, _)| is_header(path)) {
        let text = object.read(digest, LARGEST).map_err(wrong)?;
        let header: Header = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("{path} is not a header: {error}")))?;
        let content = header.content_path.as_ref().and_then(|path| version.state.get(path));
        match header.id.strip_suffix(METADATA) {
            Some(id) => headers.entry(id.to_owned()).or_default().description = content.cloned(),
            None => {
                let entry = headers.entry(header.id.clone()).or_default();
                entry.content = content.cloned();
                entry.written = Some(digest.clone());
                entry.header = Some(header);
            }
        }
    }
    if let Some(own) = headers.get_mut(&object.inventory().id) {
        own.kept = extra_in(object, version)?.kept;
    }
    Ok(headers)
}

/// What only our own exports say, in one version.
fn extra_in(object: &Object, version: &Version) -> Result<Extra> {
    let Some(digest) = version.state.get(extra::PATH) else { return Ok(Extra::default()) };
    let text = object.read(digest, LARGEST).map_err(wrong)?;
    serde_json::from_slice(&text)
        .map_err(|error| wrong(format!("{} cannot be read: {error}", extra::PATH)))
}

/// What only our own exports say, of the resource that has the object for itself.
fn extra_of(object: &Object, id: &str, header: &Header) -> Result<Extra> {
    let inventory = object.inventory();
    let newest = inventory.newest();
    let is_own = *id == inventory.id && newest.state.contains_key(OWN) && !header.deleted;
    if is_own { extra_in(object, newest) } else { Ok(Extra::default()) }
}

fn found(
    inventory: &Inventory,
    place: Place,
    id: &str,
    headers: &[BTreeMap<String, VersionHeader>],
    now: &Header,
    extra: Extra,
) -> Found {
    let is_binary = now.interaction_model.as_deref() == Some(BINARY);
    let kind = match (is_binary, extra.kind) {
        (true, _) => ResourceKind::Object,
        (false, Some(kind @ (ResourceKind::Link | ResourceKind::Description))) => kind,
        (false, _) => ResourceKind::Collection,
    };
    let states = inventory.versions.iter().zip(headers).filter_map(|(version, headers)| {
        let found = headers.get(id)?;
        let header = found.header.as_ref().filter(|header| !header.deleted)?;
        let model = header.interaction_model.as_deref();
        let class = CLASSES.into_iter().find(|class| model == Some(class));
        let (content, graph) = match model == Some(BINARY) {
            true => (Some(found.content.clone()?), found.description.clone()),
            false => (None, found.content.clone()),
        };
        let (created, label, kept) = (version.created, version.message.clone(), found.kept);
        let filename = header.filename.clone().filter(|_| is_binary);
        let state = State { created, label, kept, content, graph, class, filename };
        // A resource of another kind in an earlier version was another resource.
        (is_binary == state.content.is_some()).then_some((state, found.written.as_deref()))
    });
    // Versions of an object with one resource are all versions of that; of several, those in which it was written.
    let is_alone = headers.last().is_some_and(|newest| newest.len() == 1);
    let states = distinct(states, |one, other| !is_alone && one == other);
    let states = labelled(exported_once(states));
    // Without a known media type, the store guesses one.
    let media_type = now.mime_type.clone().filter(|it| it != ANY);
    Found { place, kind, states, extra, media_type }
}

fn of_any(inventory: &Inventory, names: &Names) -> Resources {
    let mut resources = Resources::default();
    let place =
        names.place(&inventory.id).or_else(|| Place::default().child(&name_of(&inventory.id)));
    let Some(place) = place else {
        let why = "its id cannot be a name".to_owned();
        resources.left_out.push((inventory.id.clone(), why));
        return resources;
    };
    let newest = inventory.newest();
    let (created, label) = (newest.created, None);
    let of_version = |created, label, content| State {
        created,
        label,
        kept: false,
        content,
        graph: None,
        class: None,
        filename: None,
    };
    let state = of_version(created, label, None);
    let of = |place, kind, states| Found {
        place,
        kind,
        states,
        extra: Extra::default(),
        media_type: None,
    };
    resources.found.push(of(place.clone(), ResourceKind::Collection, vec![state]));
    for path in newest.state.keys() {
        let Some(file) = place.join(path) else {
            resources.left_out.push((format!("{}: {path}", inventory.id), "not a path".to_owned()));
            continue;
        };
        let states = inventory.versions.iter().filter_map(|version| {
            let content = Some(version.state.get(path)?.clone());
            Some((of_version(version.created, version.message.clone(), content), ()))
        });
        let states = labelled(distinct(states, |(), ()| true));
        resources.found.push(of(file, ResourceKind::Object, states));
    }
    resources
}

/// A name of the store for any id.
fn name_of(id: &str) -> String {
    match id {
        "." | ".." => encoded(id).replace('.', "%2E"),
        id => id.replace('%', "%25").replace('/', "%2F").replace('\0', "%00"),
    }
}

/// States that say the same as the one before are none of their own, where versions with these marks may be of something else.
fn distinct<M: Copy>(
    states: impl Iterator<Item = (State, M)>,
    may_be_of_others: impl Fn(M, M) -> bool,
) -> Vec<State> {
    let (mut distinct, mut last): (Vec<State>, Option<M>) = (Vec::new(), None);
    for (state, mark) in states {
        let is_of_others = last.is_some_and(|last| may_be_of_others(last, mark));
        if !(is_of_others && distinct.last().is_some_and(|last| last.is_same(&state))) {
            distinct.push(state);
            last = Some(mark);
        }
    }
    distinct
}

/// Without the states that were exported first when they were no version, and again when they were one.
fn exported_once(states: Vec<State>) -> Vec<State> {
    let mut once: Vec<State> = Vec::new();
    for state in states {
        let is_again = |last: &mut State| {
            !last.kept && state.kept && last.created == state.created && last.is_same(&state)
        };
        once.pop_if(is_again);
        once.push(state);
    }
    once
}

/// A message labels one version: those that several versions have are none.
fn labelled(mut states: Vec<State>) -> Vec<State> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for label in states.iter().filter_map(|state| state.label.clone()) {
        *known.entry(label).or_default() += 1;
    }
    for state in &mut states {
        state.label = state.label.take().filter(|label| !label.is_empty() && known[label] == 1);
    }
    states
}
