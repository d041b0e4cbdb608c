//! A set as a number of a record.
//!
//! Invariant: a set that is one of the ten levels has the number that it had when there was nothing but levels, so that
//! records of older stores are read and written as they were. Other sets are their bits with [`SET`].

use minicbor::{Decode, Decoder, Encode, Encoder, decode, encode};

use super::{Rights, Vocabulary};

/// Marks the bits of a set.
const SET: u16 = 1 << 15;

impl Rights {
    fn to_number(self) -> u16 {
        let level = Vocabulary::IRODS.names().position(|(_, rights)| rights == self);
        level.map_or(SET | self.0, |level| level as u16)
    }

    /// The set of this number. Bits that this program does not know make it unreadable: they might refuse something.
    fn from_number(number: u16) -> Option<Self> {
        match number & SET {
            0 => Vocabulary::IRODS.names().nth(number.into()).map(|(_, rights)| rights),
            _ => Self::from_bits(number & !SET),
        }
    }

    fn from_bits(bits: u16) -> Option<Self> {
        let set = Self(bits);
        let is_closed = set.0 & 1 << 8 == 0 || set.contains(Self::APPEND);
        (Self::ALL.contains(set) && is_closed).then_some(set)
    }
}

impl<C> Encode<C> for Rights {
    fn encode<W: encode::Write>(
        &self,
        encoder: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        encoder.u16(self.to_number())?.ok()
    }
}

impl<'b, C> Decode<'b, C> for Rights {
    fn decode(decoder: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        let number = decoder.u16()?;
        Self::from_number(number).ok_or_else(|| decode::Error::message("no such set of rights"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_rights_round_trips_and_levels_keep_their_numbers() {
        let sets = (0..=Rights::ALL.0).filter_map(Rights::from_bits);
        for set in sets {
            let bytes = minicbor::to_vec(set).unwrap();
            assert_eq!(minicbor::decode::<Rights>(&bytes).unwrap(), set);
        }
        for (number, (name, rights)) in Vocabulary::IRODS.names().enumerate() {
            assert_eq!(minicbor::to_vec(rights).unwrap(), [number as u8], "{name}");
        }
    }

    #[test]
    fn a_number_that_is_not_a_set_of_rights_is_refused() {
        let unclosed = SET | 1 << 8;
        for number in [10, SET - 1, unclosed, SET | 1 << 11, u16::MAX] {
            let bytes = minicbor::to_vec(number).unwrap();
            assert!(minicbor::decode::<Rights>(&bytes).is_err(), "{number}");
        }
    }
}
