//! The replicas of an object: in which places its content is.
//!
//! Invariants: numbers and places are each unique in an object; a good replica holds the current
//! content, so every blob of that has a copy in its place. The record of each object with a content
//! says where that is.

use std::collections::BTreeMap;

use minicbor::encode::{Error, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::model::{ContentHead, PlaceId, Time};

/// The content of an object in one place.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Replica {
    /// Its number, which it keeps while others come and go.
    #[n(0)]
    pub number: u32,
    /// Where it is.
    #[n(1)]
    pub place: PlaceId,
    /// What it holds instead of the current content, if it is stale.
    #[n(2)]
    pub stale: Option<ContentHead>,
    /// When it was created.
    #[n(3)]
    pub created: Time,
    /// When what it holds was written.
    #[n(4)]
    pub modified: Time,
    /// What openings keep with it, by a word of their own, verbatim. A write drops it.
    #[n(5)]
    pub notes: BTreeMap<String, String>,
}

impl Replica {
    /// Whether it holds the current content.
    pub fn is_good(&self) -> bool {
        self.stale.is_none()
    }

    fn new(number: u32, place: PlaceId, now: Time) -> Self {
        let notes = BTreeMap::new();
        Self { number, place, stale: None, created: now, modified: now, notes }
    }

    /// What it holds.
    pub(crate) fn content<'a>(&'a self, current: &'a ContentHead) -> &'a ContentHead {
        self.stale.as_ref().unwrap_or(current)
    }
}

/// All replicas of an object, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replicas(Vec<Replica>);

impl Replicas {
    /// One good replica, number 0.
    pub(super) fn sole(place: PlaceId, created: Time, modified: Time) -> Self {
        Self(vec![Replica { created, ..Replica::new(0, place, modified) }])
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Replica> {
        self.0.iter()
    }

    /// The one replica, if there are not several.
    pub(crate) fn only(&self) -> Option<&Replica> {
        match &self.0[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    pub(super) fn as_slice(&self) -> &[Replica] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The one with this number.
    pub fn get(&self, number: u32) -> Option<&Replica> {
        self.iter().find(|replica| replica.number == number)
    }

    /// The one in this place.
    pub fn at(&self, place: PlaceId) -> Option<&Replica> {
        self.iter().find(|replica| replica.place == place)
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Replica> {
        self.0.iter_mut()
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Replica> {
        self.0.iter_mut().find(|replica| replica.number == number)
    }

    /// How many hold the current content.
    pub(crate) fn good(&self) -> usize {
        self.iter().filter(|replica| replica.is_good()).count()
    }

    /// After new bytes were written to `places`: these are good, the others hold what they held.
    pub(crate) fn written(&self, before: &ContentHead, places: &[PlaceId], now: Time) -> Self {
        let mut after = self.clone();
        for replica in &mut after.0 {
            match places.contains(&replica.place) {
                true => {
                    *replica = Replica {
                        created: replica.created,
                        ..Replica::new(replica.number, replica.place, now)
                    }
                }
                false => replica.stale = Some(replica.content(before).clone()),
            }
        }
        places.iter().for_each(|place| after.add(*place, now));
        after
    }

    /// After the current content was copied to `place`.
    pub(crate) fn add(&mut self, place: PlaceId, now: Time) {
        match self.0.iter_mut().find(|replica| replica.place == place) {
            Some(replica) if replica.is_good() => {}
            Some(replica) => {
                let created = replica.created;
                *replica = Replica { created, ..Replica::new(replica.number, place, now) };
            }
            None => {
                let next = self.0.last().map_or(0, |last| last.number.saturating_add(1));
                self.0.push(Replica::new(next, place, now));
            }
        }
    }

    /// Forgets those that should be good but are in another place than these.
    pub(crate) fn retain_good_in(&mut self, places: &[PlaceId]) {
        self.0.retain(|replica| !replica.is_good() || places.contains(&replica.place));
    }

    /// Those of a copy that shares the content: the good ones, renumbered.
    pub(crate) fn of_copy(&self, now: Time) -> Self {
        let mut copy = Self::default();
        self.iter().filter(|replica| replica.is_good()).for_each(|good| copy.add(good.place, now));
        copy
    }

    pub(crate) fn remove(&mut self, number: u32) {
        self.0.retain(|replica| replica.number != number);
    }

    /// Changes the number of one, if it is free.
    pub(crate) fn renumber(&mut self, number: u32, to: u32) -> bool {
        let free = number == to || self.get(to).is_none();
        if let (true, Some(replica)) = (free, self.get_mut(number)) {
            replica.number = to;
        }
        self.0.sort_by_key(|replica| replica.number);
        free
    }

    /// The contents of `from` are in `to` now; those that were already there count.
    pub(crate) fn moved(&mut self, from: PlaceId, to: PlaceId) {
        let there = self.at(to).map(Replica::is_good);
        let good = self.at(from).map(Replica::is_good);
        match (good, there) {
            (Some(true), Some(false)) => self.0.retain(|replica| replica.place != to),
            (Some(_), Some(_)) => self.0.retain(|replica| replica.place != from),
            _ => {}
        }
        if let Some(replica) = self.0.iter_mut().find(|replica| replica.place == from) {
            replica.place = to;
        }
    }
}

impl<C> Encode<C> for Replicas {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, ctx: &mut C) -> Result<(), Error<W::Error>> {
        self.0.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for Replicas {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        Vec::decode(d, ctx).map(Self)
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}
