//! Which replicas an object has after a change of its content.
//!
//! A put is stored in the named place, or in the default one, and makes the other replicas stale. A write in place is stored
//! where the object is: in the replica of the lowest number that is good, and those in the same group.

use crate::catalog::{BlobRecord, Reads, keys};
use crate::contents::{Received, blob_ids, require_up, resolve};
use crate::model::{ContentHead, Extent, PlaceId, Placement, Replica, Replicas, Resource, Time};
use crate::places::{Destination, KnownPlaces};
use crate::{Error, ErrorKind, Result, Store};

/// The content that a write in place changes, and the replicas that it changes.
pub(crate) struct Base {
    pub(crate) head: ContentHead,
    /// Where these are; never empty.
    pub(crate) places: Vec<PlaceId>,
    /// Nobody named a place for the object: it has the one replica.
    pub(crate) by_default: bool,
}

impl Store {
    /// A content for which nobody named a place: it is where its first blob is, in the default place if that has a copy, or, if it is
    /// in the catalog, where new contents go.
    fn placed_by_default(&self, reads: &impl Reads, extents: &[Extent]) -> Result<Placement> {
        let default = self.known().catalog_place();
        let first = blob_ids(extents).next().map(|blob| reads.get::<BlobRecord>(&keys::blob(blob)));
        let elsewhere = first.transpose()?.flatten().filter(|blob| blob.copy_in(default).is_none());
        Ok(Placement::ByDefault(elsewhere.map_or(default, |blob| blob.place())))
    }

    /// The place of a content in the catalog: the default one as this server knows it. The commit finds out whether that was closed or
    /// removed since, as it does for the places of blobs.
    fn open_catalog_place(&self, reads: &impl Reads) -> Result<PlaceId> {
        let place = self.known().catalog_place();
        require_up(reads, place)?;
        Ok(place)
    }

    /// Where a content of an earlier format is, which nobody named a place for.
    pub(crate) fn former_placement(
        &self,
        reads: &impl Reads,
        extents: &[Extent],
    ) -> Result<Placement> {
        match (self.places_with_all(reads, extents)?.first(), blob_ids(extents).next()) {
            (Some(place), Some(_)) => Ok(Placement::ByDefault(*place)),
            _ => self.placed_by_default(reads, extents),
        }
    }

    /// After these became the extents of an object.
    fn placed_now(&self, reads: &impl Reads, extents: &[Extent]) -> Result<Placement> {
        match blob_ids(extents).next() {
            Some(_) => self.placed_by_default(reads, extents),
            None => self.open_catalog_place(reads).map(Placement::ByDefault),
        }
    }

    /// After `received` became the content of what was `before`.
    pub(crate) fn placement_after_put(
        &self,
        reads: &impl Reads,
        before: Option<&Resource>,
        received: &Received,
    ) -> Result<Placement> {
        let unnamed =
            received.named.is_none() && before.is_none_or(|before| !before.placement.is_listed());
        if unnamed && self.known().has_one_default() {
            return match &received.blob {
                Some(blob) => Ok(Placement::ByDefault(blob.record.place())),
                None => self.placed_now(reads, &received.content.extents),
            };
        }
        let places = self.places_of_received(reads, received)?;
        Ok(self.placement_after_write(before, &places))
    }

    /// Where received bytes are: in the places of their blob; of all their parts; or, where there are none, where
    /// they were sent.
    fn places_of_received(&self, reads: &impl Reads, received: &Received) -> Result<Vec<PlaceId>> {
        let known = self.known();
        if let Some(blob) = &received.blob {
            return Ok(blob.record.copies.iter().map(|copy| copy.place()).collect());
        }
        let has_blobs = blob_ids(&received.content.extents).next().is_some();
        let sent = match received.named {
            Some(place) => known.destination(Some(place))?.ids(),
            None if has_blobs => vec![known.catalog_place()],
            None => vec![self.open_catalog_place(reads)?],
        };
        if !has_blobs {
            return Ok(sent);
        }
        let mut places = self.places_with_all(reads, &received.content.extents)?;
        if received.named.is_some() {
            places.retain(|place| sent.contains(place));
        }
        match places.is_empty() {
            true => Err(Error::new(ErrorKind::Conflict, "the places were changed meanwhile")
                .with_hint("send the bytes again")),
            false => Ok(places),
        }
    }

    /// After the object in `before` got another content, which is already stored.
    pub(crate) fn placement_after_replacement(
        &self,
        reads: &impl Reads,
        before: &Resource,
        content: Option<&ContentHead>,
    ) -> Result<Placement> {
        let Some(head) = content else { return Ok(Placement::default()) };
        let extents = resolve(reads, head)?;
        let placed = self.placed_now(reads, &extents)?;
        if before.placement.is_listed() {
            let places = self.places_with_all(reads, &extents)?;
            if !places.is_empty() {
                return Ok(self.placement_after_write(Some(before), &places));
            }
        }
        Ok(placed)
    }

    /// The places that have a copy of each blob of these extents.
    pub(crate) fn places_with_all(
        &self,
        reads: &impl Reads,
        extents: &[Extent],
    ) -> Result<Vec<PlaceId>> {
        let mut all: Option<Vec<PlaceId>> = None;
        for blob in blob_ids(extents) {
            let Some(record) = reads.get::<BlobRecord>(&keys::blob(blob))? else { continue };
            let copies = record.copies.iter().map(|copy| copy.place());
            all = Some(match all {
                None => copies.collect(),
                Some(before) => copies.filter(|place| before.contains(place)).collect(),
            });
        }
        Ok(all.unwrap_or_else(|| vec![self.known().catalog_place()]))
    }

    fn placement_after_write(&self, before: Option<&Resource>, places: &[PlaceId]) -> Placement {
        let now = self.now();
        let replaced = before.and_then(|before| Some((before, before.content.as_ref()?)));
        self.tidied(match replaced {
            Some((before, head)) => before.replicas().written(head, places, now),
            None => Replicas::new(places, now),
        })
    }

    /// One replica that is as if nobody had named a place is recorded like that.
    pub(crate) fn tidied(&self, replicas: Replicas) -> Placement {
        let known = self.known();
        let plain = |replica: &&Replica| {
            replica.number == 0
                && replica.is_good()
                && replica.notes.is_empty()
                && replica.place == known.catalog_place()
                && known.has_one_default()
        };
        match replicas.only().filter(plain) {
            Some(only) => Placement::ByDefault(only.place),
            None => Placement::Replicas(replicas),
        }
    }

    /// What a write in place changes: the replica in the place or group that is named, or where the object is.
    pub(crate) fn base(
        &self,
        resource: &Resource,
        head: &ContentHead,
        named: Option<PlaceId>,
    ) -> Result<Base> {
        let known = self.known();
        // Nothing is recorded if a repair found that no replica has all bytes, and the object was copied then.
        let unrecorded = resource.placement.is_empty().then(|| known.catalog_place());
        if let (Some(place), None) = (resource.placement.by_default().or(unrecorded), named) {
            return Ok(Base { head: head.clone(), places: vec![place], by_default: true });
        }
        let replicas = resource.replicas();
        let target = match named {
            Some(named) => {
                let leaves = known.leaves(named);
                let there = || replicas.iter().filter(|replica| leaves.contains(&replica.place));
                first_good(there())
                    .or_else(|| there().next())
                    .ok_or_else(|| not_there(&known, named))?
            }
            None => first_good(replicas.iter())
                .or_else(|| replicas.iter().next())
                .ok_or_else(|| Error::damaged("an object has no replica"))?,
        };
        let base = target.content(head);
        let together = known.leaves(known.outermost(target.place));
        let same = replicas.iter().filter(|replica| replica.content(head) == base);
        let places = same.map(|replica| replica.place);
        let places = places.filter(|place| together.contains(place) || *place == target.place);
        let places = open_among(&known, places.collect());
        Ok(Base { head: base.clone(), places, by_default: false })
    }

    /// Where its replicas are after the content that `base` names was changed in its places.
    pub(crate) fn placement_after_patch(&self, resource: &Resource, base: &Base) -> Placement {
        match base.by_default {
            true => Placement::ByDefault(base.places[0]),
            false => self.placement_after_write(Some(resource), &base.places),
        }
    }
}

impl Base {
    /// Where bytes that are written into it are stored.
    pub(crate) fn destination(&self, known: &KnownPlaces) -> Result<Destination> {
        match self.by_default {
            true => known.destination_at(self.places[0]),
            false => known.destination_among(&self.places),
        }
    }

    /// After bytes of such a write went to the places of a blob.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] if it has none of these replicas there.
    pub(crate) fn written_to(&mut self, blob: &BlobRecord) -> Result<()> {
        self.places.retain(|place| blob.copy_in(*place).is_some());
        if self.by_default && self.places.is_empty() {
            self.places.push(blob.place());
        }
        match self.places.is_empty() {
            true => Err(Error::new(ErrorKind::Conflict, "the bytes were sent to another place")
                .with_hint("send them again, to a place that has a replica")),
            false => Ok(()),
        }
    }
}

/// Those that are open, since what is written does not come into the others: their replicas become stale. All, if none is.
fn open_among(known: &KnownPlaces, places: Vec<PlaceId>) -> Vec<PlaceId> {
    let open: Vec<_> = places.iter().copied().filter(|place| known.is_up(*place)).collect();
    if open.is_empty() { places } else { open }
}

fn first_good<'a>(mut replicas: impl Iterator<Item = &'a Replica>) -> Option<&'a Replica> {
    replicas.find(|replica| replica.is_good())
}

fn not_there(known: &KnownPlaces, place: PlaceId) -> Error {
    let message = format!("no replica is in place {}", known.name(place));
    Error::new(ErrorKind::NotFound, message).with_hint("list the existing replicas")
}

impl Replicas {
    fn new(places: &[PlaceId], now: Time) -> Self {
        let mut replicas = Self::default();
        places.iter().for_each(|place| replicas.add(*place, now));
        replicas
    }
}
