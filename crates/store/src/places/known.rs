//! The places as this process knows them: their records, and those that it has opened.
//!
//! Read from the catalog when the store is opened and after each change of a place, so that a put looks
//! nothing up, except whether a default place other than the main one is still open. Another process's changes are seen at the next round of maintenance, or when a place is met that is
//! not known; whether a place may still be written to is decided by the commit.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use cenote_blob::{Outside, Place};

use crate::catalog::{BlobCopy, Reads, Record, keys};
use crate::model::{PlaceId, PlaceInfo, PlaceKind, PlaceState};
use crate::waiting::anyway;
use crate::{Error, ErrorKind, Result, Store};

/// All places, at one moment.
#[derive(Debug, Default)]
pub(crate) struct KnownPlaces {
    default: PlaceId,
    /// The place to which contents in the catalog are assigned, and whether the default is one place: derived once, since each put
    /// asks for it.
    catalog_place: PlaceId,
    has_one_default: bool,
    places: BTreeMap<PlaceId, Entry>,
}

#[derive(Debug)]
struct Entry {
    info: PlaceInfo,
    /// Opened, or the reason why not, for a leaf that is up.
    open: Option<Result<Place, String>>,
}

/// Where bytes go: each gets all of them.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    pub(crate) places: Vec<(PlaceId, Place)>,
    /// The place or group, if the request named one: then nothing is kept in the catalog instead.
    pub(crate) named: Option<PlaceId>,
}

impl Destination {
    pub(crate) fn ids(&self) -> Vec<PlaceId> {
        self.places.iter().map(|(id, _)| *id).collect()
    }
}

impl Default for PlaceId {
    fn default() -> Self {
        Self::MAIN
    }
}

impl KnownPlaces {
    fn new(default: PlaceId, places: BTreeMap<PlaceId, Entry>) -> Self {
        let known = Self { default, places, ..Self::default() };
        let leaves = known.leaves(default);
        let open = leaves.iter().find(|leaf| known.is_up(**leaf));
        let catalog_place = open.or(leaves.first()).copied().unwrap_or_default();
        let has_one_default = default == PlaceId::MAIN || leaves.len() == 1;
        Self { catalog_place, has_one_default, ..known }
    }

    pub(crate) fn default_place(&self) -> PlaceId {
        self.default
    }

    /// The place to which contents in the catalog are assigned.
    pub(crate) fn catalog_place(&self) -> PlaceId {
        self.catalog_place
    }

    /// Whether the default for new contents is one place, not a group of several.
    pub(crate) fn has_one_default(&self) -> bool {
        self.has_one_default
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (PlaceId, &PlaceInfo)> {
        self.places.iter().map(|(id, entry)| (*id, &entry.info))
    }

    pub(crate) fn info(&self, id: PlaceId) -> Option<&PlaceInfo> {
        self.places.get(&id).map(|entry| &entry.info)
    }

    /// Its name; `#id` for a removed one.
    pub(crate) fn name(&self, id: PlaceId) -> String {
        self.info(id).map_or_else(|| format!("#{id}"), |info| info.name.clone())
    }

    pub(crate) fn named(&self, name: &str) -> Result<(PlaceId, &PlaceInfo)> {
        self.iter().find(|(_, info)| info.name == name).ok_or_else(|| no_place(name))
    }

    /// The place itself, or those in the group that are places themselves.
    pub(crate) fn leaves(&self, id: PlaceId) -> Vec<PlaceId> {
        match self.info(id).map(|info| &info.kind) {
            Some(PlaceKind::Group) => {
                let members = self.iter().filter(|(_, info)| info.parent == Some(id));
                let mut leaves: Vec<_> =
                    members.flat_map(|(member, _)| self.leaves(member)).collect();
                leaves.sort();
                leaves
            }
            Some(_) => vec![id],
            None => Vec::new(),
        }
    }

    /// The outermost group that a place is in; itself, if it is in none.
    pub(crate) fn outermost(&self, id: PlaceId) -> PlaceId {
        let above = |id: &PlaceId| self.info(*id).and_then(|info| info.parent);
        std::iter::successors(Some(id), above).last().unwrap_or(id)
    }

    /// The opened place.
    pub(crate) fn open(&self, id: PlaceId) -> Result<&Place> {
        let entry = self.places.get(&id).ok_or_else(|| no_place(&format!("#{id}")))?;
        match &entry.open {
            Some(Ok(place)) => Ok(place),
            Some(Err(cause)) => Err(unavailable(&entry.info.name, cause)),
            None => Err(unavailable(&entry.info.name, entry.info.state.as_str())),
        }
    }

    /// Those that are opened.
    pub(crate) fn opened(&self) -> impl Iterator<Item = (PlaceId, &Place)> {
        self.places.iter().filter_map(|(id, entry)| match &entry.open {
            Some(Ok(place)) => Some((*id, place)),
            _ => None,
        })
    }

    /// Where to write for a place or group, or for the default: those that are up.
    pub(crate) fn destination(&self, named: Option<PlaceId>) -> Result<Destination> {
        let id = named.unwrap_or(self.default);
        let info = self.info(id).ok_or_else(|| no_place(&format!("#{id}")))?;
        let leaves = self.leaves(id).into_iter();
        let up = leaves.filter(|leaf| self.is_up(*leaf));
        let places: Vec<_> =
            up.map(|leaf| Ok((leaf, self.open(leaf)?.clone()))).collect::<Result<_>>()?;
        match places.is_empty() {
            true => Err(unavailable(&info.name, "no place in it accepts contents")),
            false => Ok(Destination { places, named: named.filter(|id| *id != self.default) }),
        }
    }

    /// Where to write into an object for which nobody named a place: where it is, or to the default, if that place is closed.
    pub(crate) fn destination_at(&self, place: PlaceId) -> Result<Destination> {
        match self.open(place) {
            Ok(open) if self.is_up(place) => {
                Ok(Destination { places: vec![(place, open.clone())], named: None })
            }
            _ => self.destination(None),
        }
    }

    /// Where to write into an object that is in these places, which were named.
    pub(crate) fn destination_among(&self, places: &[PlaceId]) -> Result<Destination> {
        let up = places.iter().filter(|place| self.is_up(**place));
        let open = up.map(|place| Ok((*place, self.open(*place)?.clone())));
        let open: Vec<_> = open.collect::<Result<_>>()?;
        match open.is_empty() {
            true => {
                let name = places.first().map_or_else(String::new, |place| self.name(*place));
                Err(unavailable(&name, "it does not accept contents"))
            }
            false => Ok(Destination { places: open, named: places.first().copied() }),
        }
    }

    /// Whether a place, and each group that it is in, takes new contents.
    pub(crate) fn is_up(&self, id: PlaceId) -> bool {
        let above = |id: &PlaceId| self.info(*id).and_then(|info| info.parent);
        let mut way = std::iter::successors(Some(id), above);
        way.all(|id| self.info(id).is_some_and(|info| info.state == PlaceState::Up))
    }
}

/// Something a copy of a blob can be read from.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    Kept(PlaceId, Place),
    Outside(PlaceId, Outside),
}

impl Store {
    /// The places as they are known now.
    pub(crate) fn known(&self) -> Arc<KnownPlaces> {
        self.inner.known.load()
    }

    /// Reads the records of all places, and opens those that are not open yet. Blocks.
    pub(crate) fn refresh_places(&self) -> Result<()> {
        let view = self.itself().view()?;
        let before = self.known();
        let mut places = BTreeMap::new();
        for (id, info) in records(&view)? {
            let open = self.open_place(id, &info, &before);
            places.insert(id, Entry { info, open });
        }
        let default = default_place(&view)?;
        self.inner.known.store(Arc::new(KnownPlaces::new(default, places)));
        Ok(())
    }

    /// Has a change of places seen, which is committed already: if that fails now, the next round of maintenance does it.
    pub(crate) fn show_places(&self) {
        if let Err(error) = anyway(|| self.refresh_places()) {
            tracing::warn!(%error, "a change of places could not be read and will be seen later");
        }
    }

    fn open_place(
        &self,
        id: PlaceId,
        info: &PlaceInfo,
        before: &KnownPlaces,
    ) -> Option<Result<Place, String>> {
        let same = |entry: &&Entry| entry.info.kind == info.kind && entry.info.name == info.name;
        let opened = before.places.get(&id).filter(same).and_then(|entry| entry.open.clone());
        match &info.kind {
            _ if info.state == PlaceState::Down => None,
            PlaceKind::Group => None,
            PlaceKind::Main => Some(Ok(self.parts().main.clone())),
            PlaceKind::Leaf { address } => Some(match opened {
                Some(Ok(place)) => Ok(place),
                _ => self.parts().opener.open(&info.name, address).map_err(|e| cause_of(&e)),
            }),
        }
    }

    /// What a copy is read from; none where that cannot be reached.
    pub(crate) fn source(&self, known: &KnownPlaces, copy: &BlobCopy) -> Option<Source> {
        match copy {
            BlobCopy::Kept(place) => Some(Source::Kept(*place, known.open(*place).ok()?.clone())),
            BlobCopy::Outside(place, path) => {
                let outside = self.parts().opener.outside(&known.name(*place), path)?;
                Some(Source::Outside(*place, outside))
            }
        }
    }
}

/// An error with its causes, in a line.
pub(super) fn cause_of(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Records of all places, that of [`PlaceId::MAIN`] among them.
pub(crate) fn records(reads: &impl Reads) -> Result<Vec<(PlaceId, PlaceInfo)>> {
    let rows = reads.rows(&keys::places(), usize::MAX)?;
    let record = |(key, value): &(bytes::Bytes, bytes::Bytes)| {
        Ok((PlaceId(keys::last_id(key).unwrap_or_default()), PlaceInfo::from_value(value)?))
    };
    let mut records: Vec<_> = rows.iter().map(record).collect::<Result<_>>()?;
    if records.iter().all(|(id, _)| *id != PlaceId::MAIN) {
        records.insert(0, (PlaceId::MAIN, PlaceInfo::main()));
    }
    Ok(records)
}

/// Where new contents go.
pub(crate) fn default_place(reads: &impl Reads) -> Result<PlaceId> {
    Ok(reads.get(&keys::setting("default-place"))?.unwrap_or_default())
}

pub(super) fn no_place(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such place: {name:.64}"))
        .with_hint("`cenote place ls` lists them")
}

fn unavailable(name: &str, cause: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("place {name} cannot be used: {cause}"))
        .with_hint("check it with `cenote place ls`")
}

/// The places as they are known, replaced as a whole.
#[derive(Debug, Default)]
pub(crate) struct Shared(RwLock<Arc<KnownPlaces>>);

impl Shared {
    fn load(&self) -> Arc<KnownPlaces> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn store(&self, known: Arc<KnownPlaces>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = known;
    }
}
