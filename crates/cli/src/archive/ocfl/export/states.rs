//! What the store has kept of a resource: its versions and the current state, the earliest first.

use cenote_client::{At, Client, Resource, ResourceKind, Version};
use jiff::Timestamp;

use super::super::extra::Extra;
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place};
use crate::error::Result;

/// A state of a resource.
#[derive(Debug)]
pub(super) struct State {
    /// The number of the version; none for the current state.
    pub(super) version: Option<u64>,
    pub(super) created: Timestamp,
    pub(super) user: Option<String>,
    pub(super) label: Option<String>,
    /// Of a file.
    pub(super) content: Option<Content>,
    pub(super) stated: Stated,
    pub(super) extra: Extra,
}

/// The bytes of a file.
#[derive(Debug)]
pub(super) struct Content {
    pub(super) size: u64,
    pub(super) sha256: Option<String>,
}

/// Reads the known attributes of all states, without any bytes.
pub(super) async fn states(
    client: &Client,
    resource: &Resource,
    names: &Names,
    place: &Place,
) -> Result<Vec<State>> {
    let at = At::Id(resource.id);
    let mut states = Vec::new();
    let mut versions = client.versions(&at).await?;
    versions.reverse();
    for version in versions {
        let stated = client.graph_of_version(&at, version.version).await?;
        let stated = Stated::of_store(&stated, names, place)?;
        states.push(kept(version, resource, stated));
    }
    let stated = Stated::of_store(&client.graph(&at).await?, names, place)?;
    let described = client.meta(&at).await?;
    let mut current = current(resource, stated, Extra::of_current(resource, described));
    // The current state may also be kept as a version, which has more details.
    if let Some(kept) = states.pop_if(|state| state.is_same(&current)) {
        let State { created, user, label, .. } = kept;
        current = State { created, user, label, ..current };
        current.extra.kept = true;
    }
    states.sort_by_key(|state| state.created);
    states.push(current);
    Ok(states)
}

impl State {
    /// Whether it has the same bytes and statements.
    fn is_same(&self, other: &Self) -> bool {
        let sha256 = |state: &Self| state.content.as_ref().and_then(|it| it.sha256.clone());
        let is_known = self.content.is_none() || sha256(self).is_some();
        is_known && sha256(self) == sha256(other) && self.stated.is_same(&other.stated)
    }
}

fn kept(version: Version, resource: &Resource, stated: Stated) -> State {
    let content = Content { size: version.size, sha256: version.sha256 };
    State {
        version: Some(version.version),
        created: version.time.unwrap_or(version.modified),
        user: version.modified_by,
        label: version.label,
        content: (resource.kind == ResourceKind::Object).then_some(content),
        stated,
        extra: Extra::of_version(resource),
    }
}

fn current(resource: &Resource, stated: Stated, extra: Extra) -> State {
    let content = Content { size: resource.size.unwrap_or(0), sha256: resource.sha256.clone() };
    let changed = resource.content_modified.max(resource.description_modified);
    State {
        version: None,
        created: changed.max(resource.created).unwrap_or(Timestamp::UNIX_EPOCH),
        user: resource.modified_by.clone(),
        label: None,
        content: (resource.kind == ResourceKind::Object).then_some(content),
        stated,
        extra,
    }
}
