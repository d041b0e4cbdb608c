//! Which replicas an object has after a change of its content.
//!
//! A put is stored in the named place, or in the default one, and makes the other replicas stale. A write in place goes
//! where the object is: to the replica of the lowest number that is good, and those in the same group.

use crate::catalog::{BlobRecord, Reads, keys};
use crate::contents::{Received, blob_ids, resolve};
use crate::model::{ContentHead, Extent, PlaceId, Replica, Replicas, Resource, Time};
use crate::places::KnownPlaces;
use crate::{Error, ErrorKind, Result, Store};

/// The content that a write in place changes, and the replicas that it changes.
pub(crate) struct Base {
    pub(crate) head: ContentHead,
    /// None, if the object has one that is not recorded.
    pub(crate) places: Option<Vec<PlaceId>>,
}

impl Store {
    /// The replicas of an object, those that are not recorded, too.
    pub(crate) fn explicit_replicas(
        &self,
        reads: &impl Reads,
        resource: &Resource,
    ) -> Result<Replicas> {
        match (&resource.content, resource.replicas.is_empty()) {
            (Some(head), true) => {
                let place = self.sole_place(reads, head)?;
                Ok(Replicas::sole(place, resource.created, resource.written()))
            }
            _ => Ok(resource.replicas.clone()),
        }
    }

    /// Where the content of an object with one replica is.
    fn sole_place(&self, reads: &impl Reads, head: &ContentHead) -> Result<PlaceId> {
        let extents = resolve(reads, head)?;
        if let Some(place) = self.places_with_all(reads, &extents)?.first() {
            return Ok(*place);
        }
        let Some(blob) = blob_ids(&extents).next() else { return Ok(self.known().catalog_place()) };
        let record = reads.get::<BlobRecord>(&keys::blob(blob))?;
        let first = record.and_then(|record| record.copies.first().map(|copy| copy.place()));
        Ok(first.unwrap_or_default())
    }

    /// After `received` became the content of what was `before`.
    pub(crate) fn replicas_after_put(
        &self,
        reads: &impl Reads,
        before: Option<&Resource>,
        received: &Received,
    ) -> Result<Replicas> {
        let none = before.is_none_or(|before| before.replicas.is_empty());
        if received.named.is_none() && none && self.known().has_one_default() {
            return Ok(Replicas::default());
        }
        let places = self.places_of_received(reads, received)?;
        self.replicas_after_write(reads, before, &places)
    }

    /// Where received bytes are: in the places of their blob; of all their parts; or, where there are none, where
    /// they were sent.
    fn places_of_received(&self, reads: &impl Reads, received: &Received) -> Result<Vec<PlaceId>> {
        let known = self.known();
        if let Some(blob) = &received.blob {
            return Ok(blob.record.copies.iter().map(|copy| copy.place()).collect());
        }
        let sent = match received.named {
            Some(place) => known.destination(Some(place))?.ids(),
            None => vec![known.catalog_place()],
        };
        if blob_ids(&received.content.extents).next().is_none() {
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
    pub(crate) fn replicas_after_replacement(
        &self,
        reads: &impl Reads,
        before: &Resource,
        content: Option<&ContentHead>,
    ) -> Result<Replicas> {
        match content {
            Some(head) if !before.replicas.is_empty() => {
                let places = self.places_with_all(reads, &resolve(reads, head)?)?;
                match places.is_empty() {
                    true => Ok(Replicas::default()),
                    false => self.replicas_after_write(reads, Some(before), &places),
                }
            }
            _ => Ok(Replicas::default()),
        }
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

    fn replicas_after_write(
        &self,
        reads: &impl Reads,
        before: Option<&Resource>,
        places: &[PlaceId],
    ) -> Result<Replicas> {
        let now = self.now();
        let Some((before, head)) =
            before.and_then(|before| Some((before, before.content.as_ref()?)))
        else {
            return Ok(self.tidied(Replicas::new(places, now)));
        };
        let replicas = self.explicit_replicas(reads, before)?;
        Ok(self.tidied(replicas.written(head, places, now)))
    }

    /// One replica that is as with any other object needs no record.
    pub(crate) fn tidied(&self, replicas: Replicas) -> Replicas {
        let known = self.known();
        let plain = |replica: &Replica| {
            let place = known.catalog_place();
            let nothing_else = known.has_one_default();
            replica.number == 0
                && replica.is_good()
                && replica.notes.is_empty()
                && replica.place == place
                && nothing_else
        };
        let mut all = replicas.iter();
        match (all.next(), all.next()) {
            (Some(only), None) if plain(only) => Replicas::default(),
            _ => replicas,
        }
    }

    /// What a write in place changes: the replica in the place or group that is named, or where the object is.
    pub(crate) fn base(
        &self,
        reads: &impl Reads,
        resource: &Resource,
        head: &ContentHead,
        named: Option<PlaceId>,
    ) -> Result<Base> {
        if resource.replicas.is_empty() && named.is_none() {
            return Ok(Base { head: head.clone(), places: None });
        }
        let known = self.known();
        let replicas = self.explicit_replicas(reads, resource)?;
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
        let same = replicas
            .iter()
            .filter(|replica| together.contains(&replica.place) && replica.content(head) == base);
        let places: Vec<PlaceId> = same.map(|replica| replica.place).collect();
        Ok(Base { head: base.clone(), places: Some(places) })
    }

    /// The replicas after the content that `base` names was changed in its places.
    pub(crate) fn replicas_after_patch(
        &self,
        reads: &impl Reads,
        resource: &Resource,
        base: &Base,
    ) -> Result<Replicas> {
        match &base.places {
            None => Ok(Replicas::default()),
            Some(places) => self.replicas_after_write(reads, Some(resource), places),
        }
    }
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
