//! The current state, in the store, of a resource to be imported.

use cenote_client::{At, Avu, Client, Resource, ResourceKind, Version};
use cenote_ocfl::{Checked, Object};

use super::super::headers::{FILENAME, METADATA};
use super::read::{Found, State};
use crate::archive::graph::Stated;
use crate::archive::names::{Names, Place, cut};
use crate::archive::wrong;
use crate::error::{CliError, Kind, Result};

/// The most that a description may have, in bytes.
const LARGEST: u64 = 64 << 20;

/// The existing resource.
#[derive(Debug)]
pub(super) struct Current {
    pub(super) resource: Resource,
    pub(super) stated: Stated,
    pub(super) described: Vec<Avu>,
    pub(super) versions: Vec<Version>,
}

impl Current {
    /// Reads the resource at a path; an existing one has to be of the same kind.
    pub(super) async fn find(
        client: &Client,
        names: &Names,
        found: &Found,
    ) -> Result<Option<Self>> {
        let Some(resource) = client.find(&names.path(&found.place)).await? else { return Ok(None) };
        if resource.kind != found.kind {
            let what = format!("{} is of another kind", resource.path);
            return Err(CliError::new(Kind::Exists, what).hint("import into another collection"));
        }
        let at = At::Id(resource.id);
        let stated = Stated::of_store(&client.graph(&at).await?, names, &found.place)?;
        let described = client.meta(&at).await?;
        let versions = client.versions(&at).await?;
        Ok(Some(Self { resource, stated, described, versions }))
    }

    /// Whether it has the expected state.
    pub(super) fn is(&self, wanted: &Wanted<'_>, found: &Found) -> bool {
        let extra = &found.extra;
        let is_same_content =
            found.kind != ResourceKind::Object || self.resource.sha256.as_deref() == wanted.sha256;
        is_same_content
            && self.stated.is_same(&wanted.stated)
            && extra.mode.is_none_or(|mode| self.resource.mode == Some(mode))
            && extra.mtime.is_none_or(|mtime| self.resource.mtime == Some(mtime))
            && extra.units.iter().all(|avu| self.described.contains(avu))
    }

    /// The version for each state that has one, which is no other state's: with the label of the state, if there is such a one.
    pub(super) fn matched<'s>(
        &self,
        states: &[&'s State],
        checked: &Checked,
    ) -> Vec<(&'s State, Option<&Version>)> {
        let mut free: Vec<&Version> = self.versions.iter().collect();
        let mut matched: Vec<_> = states.iter().map(|state| (*state, None)).collect();
        for is_labelled in [true, false] {
            for (state, found) in matched.iter_mut().filter(|(_, found)| found.is_none()) {
                let sha256 = sha256(checked, state);
                let at = free.iter().position(|version| {
                    is_of(version, state, sha256) && (!is_labelled || version.label == state.label)
                });
                *found = at.map(|at| free.remove(at));
            }
        }
        matched
    }
}

/// Whether a version has the time and the bytes of a state.
fn is_of(version: &Version, state: &State, sha256: Option<&str>) -> bool {
    let is_same = sha256.is_none() || version.sha256.as_deref() == sha256;
    version.time == Some(state.created) && is_same
}

/// The expected state in the store.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) stated: Stated,
    pub(super) sha256: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    pub(super) fn of(
        object: &Object,
        checked: &'a Checked,
        names: &Names,
        place: &Place,
        state: &State,
    ) -> Result<Self> {
        let own = names.iri(place);
        let mut stated = match &state.graph {
            None => Stated::default(),
            Some(digest) => {
                let text = object.read(digest, LARGEST).map_err(wrong)?;
                let stated = Stated::of_archive(&text, &own)?;
                stated.with(|iri| as_named(iri, names, place))
            }
        };
        if let Some(filename) = &state.filename
            && stated.take_text(&own, FILENAME).is_none()
            && place.name() != Some(filename)
        {
            stated.add_text(&own, FILENAME, filename);
        }
        if let Some(class) = state.class
            && stated.clone().take_type(&own, &[class]).is_none()
        {
            stated.add_type(&own, class);
        }
        Ok(Self { stated, sha256: sha256(checked, state) })
    }
}

/// An IRI of the archive as it is written here: other programs encode more characters of a name. What fcrepo writes as stated of the
/// description of a file, it shows as stated of the file.
fn as_named(iri: &str, names: &Names, own: &Place) -> Option<String> {
    let (id, fragment) = cut(iri);
    let of_description = id.strip_suffix(METADATA).and_then(|id| names.place(id));
    let place = match of_description.filter(|place| place == own) {
        Some(own) => own,
        None => names.place(id)?,
    };
    Some(names.iri(&place) + fragment)
}

/// The SHA-256 of the bytes of a state.
pub(super) fn sha256<'a>(checked: &'a Checked, state: &State) -> Option<&'a str> {
    Some(checked.content(state.content.as_ref()?)?.sha256.as_str())
}
