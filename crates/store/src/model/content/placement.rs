//! Where the content of an object is, as its record says.
//!
//! Nearly all objects have one replica, for which nobody named a place. It is recorded as that place alone: a byte or two in each
//! record, and no list to decode in each row of a listing. That nobody named it matters: the object follows the default place, and
//! a put after that was changed leaves nothing behind in the former one.

use minicbor::data::Type;
use minicbor::encode::{Error, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

use super::replica::{Replica, Replicas};
use crate::model::{ContentHead, PlaceId, Resource, Time};

/// The replicas of an object, as its record has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// One good replica, number 0, in the place to which the content was put or moved, or that was written to last. Its times are those
    /// of the object and its content. Parts may be in another place that was the default before, or is it now.
    ByDefault(PlaceId),
    /// These; none if there is no content.
    Replicas(Replicas),
}

impl Default for Placement {
    fn default() -> Self {
        Self::Replicas(Replicas::default())
    }
}

impl Placement {
    /// The place, if nobody named one.
    pub fn by_default(&self) -> Option<PlaceId> {
        match self {
            Self::ByDefault(place) => Some(*place),
            Self::Replicas(_) => None,
        }
    }

    /// Whether somebody named a place, so that the replicas are listed.
    pub fn is_listed(&self) -> bool {
        !self.listed().is_empty()
    }

    /// Whether nothing is recorded, as of a resource without a content.
    pub(crate) fn is_empty(&self) -> bool {
        self.places().next().is_none()
    }

    /// The places of all replicas, the stale ones, too.
    pub(crate) fn places(&self) -> impl Iterator<Item = PlaceId> {
        let listed = self.listed().iter().map(|replica| replica.place);
        self.by_default().into_iter().chain(listed)
    }

    /// The places of those listed replicas that hold the current content.
    pub(crate) fn good_places(&self) -> impl Iterator<Item = PlaceId> {
        let good = self.listed().iter().filter(|replica| replica.is_good());
        good.map(|replica| replica.place)
    }

    /// What stale replicas hold, by their numbers.
    pub(crate) fn stale(&self) -> impl Iterator<Item = (u32, &ContentHead)> {
        self.listed().iter().filter_map(|replica| Some((replica.number, replica.stale.as_ref()?)))
    }

    /// Those that are listed, to be changed.
    pub(crate) fn listed_mut(&mut self) -> impl Iterator<Item = &mut Replica> {
        let listed = match self {
            Self::ByDefault(_) => None,
            Self::Replicas(replicas) => Some(replicas.iter_mut()),
        };
        listed.into_iter().flatten()
    }

    /// Those of a copy that shares the content.
    pub(crate) fn of_copy(&self, now: Time) -> Self {
        match self {
            Self::ByDefault(place) => Self::ByDefault(*place),
            Self::Replicas(replicas) if replicas.good() > 0 => {
                Self::Replicas(replicas.of_copy(now))
            }
            // A repair found that none has all bytes.
            Self::Replicas(replicas) => match replicas.iter().next() {
                Some(first) => Self::ByDefault(first.place),
                None => Self::default(),
            },
        }
    }

    /// The contents of `from` are in `to` now.
    pub(crate) fn moved(&mut self, from: PlaceId, to: PlaceId) {
        match self {
            Self::ByDefault(place) if *place == from => *place = to,
            Self::ByDefault(_) => {}
            Self::Replicas(replicas) => replicas.moved(from, to),
        }
    }

    fn listed(&self) -> &[Replica] {
        match self {
            Self::ByDefault(_) => &[],
            Self::Replicas(replicas) => replicas.as_slice(),
        }
    }
}

impl Resource {
    /// The replicas of the object; none without a content.
    pub(crate) fn replicas(&self) -> Replicas {
        match &self.placement {
            Placement::ByDefault(place) => Replicas::sole(*place, self.created, self.written()),
            Placement::Replicas(replicas) => replicas.clone(),
        }
    }
}

/// A place, or a list of replicas; nothing where there are none.
impl<C> Encode<C> for Placement {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, ctx: &mut C) -> Result<(), Error<W::Error>> {
        match self {
            Self::ByDefault(place) => place.encode(e, ctx),
            Self::Replicas(replicas) => replicas.encode(e, ctx),
        }
    }

    fn is_nil(&self) -> bool {
        self.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for Placement {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        match d.datatype()? {
            Type::Array | Type::ArrayIndef => Replicas::decode(d, ctx).map(Self::Replicas),
            _ => PlaceId::decode(d, ctx).map(Self::ByDefault),
        }
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Record;
    use crate::model::{Kind, Name, PersonId, ResourceId};

    fn recorded(placement: Placement) -> Resource {
        let name = Name::trusted("x");
        let at = Time::from_nanos(7);
        let new = Resource::new(ResourceId::ROOT, &name, Kind::Object, PersonId(1_000), at);
        Resource { placement, ..new }
    }

    #[test]
    fn a_placement_is_read_as_it_was_written() {
        let mut listed = Replicas::default();
        listed.add(PlaceId::MAIN, Time::from_nanos(9));
        listed.add(PlaceId(2_001), Time::from_nanos(9));
        for placement in [
            Placement::default(),
            Placement::ByDefault(PlaceId::MAIN),
            Placement::ByDefault(PlaceId(u64::MAX)),
            Placement::Replicas(listed),
        ] {
            let resource = recorded(placement);
            assert_eq!(Resource::from_value(&resource.to_value()).unwrap(), resource);
        }
    }

    #[test]
    fn a_place_by_default_takes_a_byte_of_the_record() {
        let size = |placement| recorded(placement).to_value().len();
        // Fields before it that are absent have a byte each in an array.
        let absent = Resource { late_links: Some(true), ..recorded(Placement::default()) };
        let present =
            Resource { late_links: Some(true), ..recorded(Placement::ByDefault(PlaceId::MAIN)) };
        assert_eq!(absent.to_value().len(), present.to_value().len());
        assert!(size(Placement::ByDefault(PlaceId::MAIN)) <= size(Placement::default()) + 5);
    }
}
