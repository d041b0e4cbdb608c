//! The classes of a resource, as its record keeps them.
//!
//! Invariant: a set of digests in ascending order, without duplicates, so that equal sets have equal records; an empty one takes
//! no room in a record.

use minicbor::encode::{Error, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};
use xxhash_rust::xxh3::xxh3_64;

/// Digests (XXH3, 64 bits) of the IRIs of classes. Who can choose IRIs with the same digest could as well state the class itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Classes(Vec<u64>);

impl Classes {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the class with this IRI is among them.
    pub(crate) fn contains(&self, iri: &str) -> bool {
        !self.is_empty() && self.0.binary_search(&digest(iri)).is_ok()
    }
}

fn digest(iri: &str) -> u64 {
    xxh3_64(iri.as_bytes())
}

impl<'a> FromIterator<&'a str> for Classes {
    fn from_iter<T: IntoIterator<Item = &'a str>>(iris: T) -> Self {
        let mut digests: Vec<u64> = iris.into_iter().map(digest).collect();
        digests.sort_unstable();
        digests.dedup();
        Self(digests)
    }
}

impl<C> Encode<C> for Classes {
    fn encode<W: Write>(&self, e: &mut Encoder<W>, ctx: &mut C) -> Result<(), Error<W::Error>> {
        self.0.encode(e, ctx)
    }

    fn is_nil(&self) -> bool {
        self.is_empty()
    }
}

impl<'b, C> Decode<'b, C> for Classes {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let digests: Vec<u64> = Vec::decode(d, ctx)?;
        match digests.is_sorted_by(|one, next| one < next) {
            true => Ok(Self(digests)),
            false => Err(minicbor::decode::Error::message("classes are not in order")),
        }
    }

    fn nil() -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Access;

    #[test]
    fn classes_round_trip_and_none_take_no_room() {
        let none = Access::default();
        let classes: Classes = ["urn:b", "urn:a", "urn:b"].into_iter().collect();
        let some = Access { classes, ..Access::default() };
        for access in [&none, &some] {
            let bytes = minicbor::to_vec(access).unwrap();
            assert_eq!(minicbor::decode::<Access>(&bytes).unwrap(), *access);
        }
        assert_eq!(minicbor::to_vec(&some.classes).unwrap().len(), 1 + 2 * 9);
        assert_eq!(minicbor::to_vec(&none).unwrap(), [0x83, 0x80, 0xf4, 0xf4]);
        assert!(some.classes.contains("urn:a") && !some.classes.contains("urn:c"));
    }
}
