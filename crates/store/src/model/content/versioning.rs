//! Which versions of a resource are kept, and for how long.

use minicbor::decode::Error as DecodeError;
use minicbor::encode::{Error as EncodeError, Write};
use minicbor::{Decode, Decoder, Encode, Encoder};

/// What happens to a state that is replaced; set on a collection, for itself and all below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Versioning {
    /// It is dropped.
    #[default]
    Off,
    /// It is dropped, unless a version was requested before.
    OnRequest(Retention),
    /// It is kept as a version, whether its content or its description was changed.
    EachChange(Retention),
}

/// How many versions of a resource are kept, in addition to those with a label: all that one of these rules keeps. Without any
/// rule, all are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Retention {
    /// So many, the newest.
    #[n(0)]
    pub last: Option<u32>,
    /// The newest of each of the last so many days that have one, in UTC.
    #[n(1)]
    pub daily: Option<u32>,
    /// The same of weeks, which begin on Monday.
    #[n(2)]
    pub weekly: Option<u32>,
    /// The same of months.
    #[n(3)]
    pub monthly: Option<u32>,
}

impl Retention {
    /// So many, the newest.
    pub const fn last(versions: u32) -> Self {
        Self { last: Some(versions), daily: None, weekly: None, monthly: None }
    }

    /// Whether there is no rule: all versions are kept.
    pub fn is_unlimited(&self) -> bool {
        *self == Self::default()
    }
}

impl Versioning {
    /// Which versions are kept; none where versions are off.
    pub fn retention(self) -> Option<Retention> {
        match self {
            Self::Off => None,
            Self::OnRequest(retention) | Self::EachChange(retention) => Some(retention),
        }
    }

    fn index(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::OnRequest(_) => 1,
            Self::EachChange(_) => 2,
        }
    }
}

/// The number of the variant, and an array of the rules: stores of earlier programs have the first of them only.
impl<C> Encode<C> for Versioning {
    fn encode<W: Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), EncodeError<W::Error>> {
        e.array(2)?.u32(self.index())?;
        match self.retention() {
            None => e.array(0).map(drop),
            Some(retention) => retention.encode(e, ctx),
        }
    }
}

impl<'b, C> Decode<'b, C> for Versioning {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, DecodeError> {
        d.array()?;
        let at = d.position();
        match d.u32()? {
            0 => d.skip().map(|()| Self::Off),
            1 => Ok(Self::OnRequest(Retention::decode(d, ctx)?)),
            2 => Ok(Self::EachChange(Retention::decode(d, ctx)?)),
            other => Err(DecodeError::unknown_variant(i64::from(other)).at(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What earlier programs wrote.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
    enum Earlier {
        #[n(0)]
        Off,
        #[n(1)]
        OnRequest {
            #[n(0)]
            keep: Option<u32>,
        },
        #[n(2)]
        EachChange {
            #[n(0)]
            keep: Option<u32>,
        },
    }

    #[test]
    fn settings_of_earlier_versions_are_read_and_written_unchanged() {
        let last = |last| Retention { last, ..Retention::default() };
        for (earlier, now) in [
            (Earlier::Off, Versioning::Off),
            (Earlier::OnRequest { keep: None }, Versioning::OnRequest(last(None))),
            (Earlier::OnRequest { keep: Some(7) }, Versioning::OnRequest(last(Some(7)))),
            (Earlier::EachChange { keep: None }, Versioning::EachChange(last(None))),
            (Earlier::EachChange { keep: Some(300) }, Versioning::EachChange(last(Some(300)))),
        ] {
            let bytes = minicbor::to_vec(earlier).unwrap();
            assert_eq!(minicbor::decode::<Versioning>(&bytes).unwrap(), now);
            assert_eq!(minicbor::to_vec(now).unwrap(), bytes);
        }
    }

    #[test]
    fn every_rule_round_trips() {
        let some = Retention { last: None, daily: Some(7), weekly: None, monthly: Some(12) };
        let all = Retention { weekly: Some(4), ..some };
        for versioning in [Versioning::OnRequest(some), Versioning::EachChange(all)] {
            let bytes = minicbor::to_vec(versioning).unwrap();
            assert_eq!(minicbor::decode::<Versioning>(&bytes).unwrap(), versioning);
        }
        assert!(minicbor::decode::<Versioning>(&[0x82, 3, 0x80]).is_err());
    }
}
