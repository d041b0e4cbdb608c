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
    pub(super) content: Option<String>,
    pub(super) graph: Option<String>,
    pub(super) class: Option<&'static str>,
    /// The name of the file, according to the header.
    pub(super) filename: Option<String>,
}

/// The header of a resource in one version.
#[derive(Debug, Default, Clone)]
struct Said {
    header: Option<Header>,
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
    let said = versions.map(|version| said(object, version)).collect::<Result<Vec<_>>>()?;
    let mut resources = Resources::default();
    let Some(newest) = said.last() else { return Ok(resources) };
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
                let found = found(object.inventory(), place.clone(), id, &said, header, extra);
                resources.found.push(found);
            }
        }
    }
    Ok(resources)
}

/// What the headers of a version say, by the ids of resources.
fn said(object: &Object, version: &Version) -> Result<BTreeMap<String, Said>> {
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for (path, digest) in version.state.iter().filter(|(path, _)| is_header(path)) {
        let text = object.read(digest, LARGEST).map_err(wrong)?;
        let header: Header = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("{path} is not a header: {error}")))?;
        let content = header.content_path.as_ref().and_then(|path| version.state.get(path));
        match header.id.strip_suffix(METADATA) {
            Some(id) => said.entry(id.to_owned()).or_default().description = content.cloned(),
            None => {
                let entry = said.entry(header.id.clone()).or_default();
                entry.content = content.cloned();
                entry.header = Some(header);
            }
        }
    }
    Ok(said)
}

/// What only our own exports say, of the resource that has the object for itself.
fn extra_of(object: &Object, id: &str, header: &Header) -> Result<Extra> {
    let inventory = object.inventory();
    let newest = &inventory.newest().state;
    let is_own = *id == inventory.id && newest.contains_key(OWN) && !header.deleted;
    match newest.get(extra::PATH).filter(|_| is_own) {
        None => Ok(Extra::default()),
        Some(digest) => {
            let text = object.read(digest, LARGEST).map_err(wrong)?;
            serde_json::from_slice(&text)
                .map_err(|error| wrong(format!("{} cannot be read: {error}", extra::PATH)))
        }
    }
}

fn found(
    inventory: &Inventory,
    place: Place,
    id: &str,
    said: &[BTreeMap<String, Said>],
    now: &Header,
    extra: Extra,
) -> Found {
    let is_binary = now.interaction_model.as_deref() == Some(BINARY);
    let kind = match (is_binary, extra.kind) {
        (true, _) => ResourceKind::Object,
        (false, Some(kind @ (ResourceKind::Link | ResourceKind::Description))) => kind,
        (false, _) => ResourceKind::Collection,
    };
    let states = inventory.versions.iter().zip(said).filter_map(|(version, said)| {
        let said = said.get(id)?;
        let header = said.header.as_ref().filter(|header| !header.deleted)?;
        let model = header.interaction_model.as_deref();
        let class = CLASSES.into_iter().find(|class| model == Some(class));
        let (content, graph) = match model == Some(BINARY) {
            true => (Some(said.content.clone()?), said.description.clone()),
            false => (None, said.content.clone()),
        };
        let (created, label) = (version.created, version.message.clone());
        let filename = header.filename.clone().filter(|_| is_binary);
        let state = State { created, label, content, graph, class, filename };
        // A resource of another kind in an earlier version was another resource.
        (is_binary == state.content.is_some()).then_some(state)
    });
    let states = labelled(distinct(states));
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
    let state = State { created, label, content: None, graph: None, class: None, filename: None };
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
            let (created, label) = (version.created, version.message.clone());
            Some(State { created, label, content, graph: None, class: None, filename: None })
        });
        let states = labelled(distinct(states));
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

/// States that say the same as the one before are none of their own.
fn distinct(states: impl Iterator<Item = State>) -> Vec<State> {
    let mut distinct: Vec<State> = Vec::new();
    for state in states {
        let is_same = |last: &State| {
            let plain =
                |it: &State| (it.content.clone(), it.graph.clone(), it.class, it.filename.clone());
            plain(last) == plain(&state)
        };
        if !distinct.last().is_some_and(is_same) {
            distinct.push(state);
        }
    }
    distinct
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
