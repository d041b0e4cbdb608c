//! How a description is stored, and how a part of it is read.

use minicbor::data::Type;
use minicbor::decode::Error;
use minicbor::{Decode, Decoder, Encode};

use crate::model::{Graph, Statement};

/// The description of a resource, or a statement of a large one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct GraphRecord {
    #[n(0)]
    pub(crate) statements: Vec<Statement>,
    /// Set if the statements are in rows of their own.
    #[n(1)]
    pub(crate) spread: Option<Spread>,
}

/// A [`GraphRecord`] to be written, of statements that are not copied for it.
#[derive(Debug, Encode)]
pub(crate) struct GraphInPlace<'a> {
    #[n(0)]
    pub(crate) statements: &'a Graph,
    #[n(1)]
    pub(crate) spread: Option<Spread>,
}

/// How much there is in the rows of a description.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Spread {
    #[n(0)]
    pub(crate) statements: u64,
    /// As they are encoded.
    #[n(1)]
    pub(crate) bytes: u64,
}

/// Which statements of a [`GraphRecord`] are wanted: the context in which a [`PartialGraph`] is decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Those with one of these predicates.
    pub(crate) predicates: &'a [&'a str],
    /// Besides, those whose subject or object is an IRI that begins so.
    pub(crate) naming: Option<&'a str>,
}

/// The wanted part of a [`GraphRecord`]. The other statements are passed over, and not copied: a description has hundreds, of which a
/// pattern of a query wants one, and the headers of a response a few.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartialGraph {
    pub(crate) statements: Vec<Statement>,
    /// Whether the statements are in rows of their own.
    pub(crate) is_spread: bool,
}

impl<'b> Decode<'b, Part<'_>> for PartialGraph {
    fn decode(decoder: &mut Decoder<'b>, part: &mut Part<'_>) -> Result<Self, Error> {
        let fields = length(decoder)?;
        let mut statements = Vec::new();
        for _ in 0..if fields > 0 { length(decoder)? } else { 0 } {
            match part.has_next(decoder)? {
                true => statements.push(decoder.decode()?),
                false => pass(decoder)?,
            }
        }
        let spread: Option<Spread> = if fields > 1 { decoder.decode()? } else { None };
        Ok(Self { statements, is_spread: spread.is_some() })
    }
}

/// How many statements a description has, by its [`GraphRecord`], of which none is decoded.
#[derive(Debug)]
pub(crate) struct GraphLength(pub(crate) u64);

impl<'b> Decode<'b, ()> for GraphLength {
    fn decode(decoder: &mut Decoder<'b>, (): &mut ()) -> Result<Self, Error> {
        let fields = length(decoder)?;
        let mut here = 0;
        if fields > 0 {
            here = length(&mut decoder.probe())?;
            pass(decoder)?;
        }
        let spread: Option<Spread> = if fields > 1 { decoder.decode()? } else { None };
        Ok(Self(spread.map_or(here, |spread| spread.statements)))
    }
}

impl Part<'_> {
    /// Whether the statement that comes next is wanted.
    fn has_next(&self, decoder: &mut Decoder<'_>) -> Result<bool, Error> {
        let mut ahead = decoder.probe();
        length(&mut ahead)?;
        let subject = text(&mut ahead)?;
        if subject.is_none() {
            pass(&mut ahead)?;
        }
        let predicate = text(&mut ahead)?;
        if self.predicates.iter().any(|wanted| predicate == Some(wanted.as_bytes())) {
            return Ok(true);
        }
        let Some(prefix) = self.naming else { return Ok(false) };
        let names = |iri: Option<&[u8]>| iri.is_some_and(|iri| iri.starts_with(prefix.as_bytes()));
        Ok(names(subject) || {
            length(&mut ahead)?;
            let is_iri = ahead.u32()? == IRI && length(&mut ahead)? > 0;
            is_iri && names(text(&mut ahead)?)
        })
    }
}

/// The bytes of the text that comes next, which need not be UTF-8: what is compared or passed over is not checked, since that takes
/// longer than the rest of decoding it. None, and nothing is read, if something else comes, or a text in pieces.
fn text<'b>(decoder: &mut Decoder<'b>) -> Result<Option<&'b [u8]>, Error> {
    const TEXT: u8 = 3 << 5;
    let (input, start) = (decoder.input(), decoder.position());
    let size = match input.get(start).map_or(0, |first| first ^ TEXT) {
        short @ 0..24 => return Ok(Some(taken(decoder, start + 1, short.into())?)),
        size @ 24..28 => 1 << (size - 24),
        _ => return Ok(None),
    };
    let length = taken(decoder, start + 1, size)?;
    let length = length.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte));
    let length = usize::try_from(length).map_err(|_| Error::end_of_input())?;
    Ok(Some(taken(decoder, start + 1 + size, length)?))
}

/// Some bytes of the input, after which decoding continues.
fn taken<'b>(decoder: &mut Decoder<'b>, from: usize, length: usize) -> Result<&'b [u8], Error> {
    let taken = decoder.input().get(from..).and_then(|rest| rest.get(..length));
    let taken = taken.ok_or_else(Error::end_of_input)?;
    decoder.set_position(from + length);
    Ok(taken)
}

/// Passes over what comes next.
fn pass(decoder: &mut Decoder<'_>) -> Result<(), Error> {
    let mut left = 1_u64;
    while left > 0 {
        left -= 1;
        if text(decoder)?.is_some() {
            continue;
        }
        match decoder.datatype()? {
            Type::Array => left = left.saturating_add(length(decoder)?),
            _ => decoder.skip()?,
        }
    }
    Ok(())
}

/// The number of [`Term::Iri`](crate::model::Term::Iri) where terms are encoded.
const IRI: u32 = 1;

fn length(decoder: &mut Decoder<'_>) -> Result<u64, Error> {
    decoder.array()?.ok_or_else(|| Error::message("an array of no length"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::{Record, decoded, value_of};
    use crate::model::Term;

    /// Lengths of each size in CBOR.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            20 => "[a-c]{0,2}",
            2 => "[a-cé]{20,300}",
            1 => Just("a".repeat(70_000)),
        ]
    }

    fn statement() -> impl Strategy<Value = Statement> {
        let maybe = || proptest::option::of(text());
        let object = prop_oneof![
            (text(), maybe(), maybe()).prop_map(|(value, datatype, language)| {
                Term::Literal { value, datatype, language }
            }),
            text().prop_map(Term::Iri),
            text().prop_map(Term::Blank),
        ];
        (maybe(), text(), object, maybe()).prop_map(|(subject, predicate, object, unit)| {
            Statement { subject, predicate, object, unit }
        })
    }

    fn part() -> impl Strategy<Value = Part<'static>> {
        let predicates = proptest::sample::select(vec![&["a"][..], &["b", "c"], &[]]);
        let naming = proptest::option::of(proptest::sample::select(vec!["a", "bc"]));
        (predicates, naming).prop_map(|(predicates, naming)| Part { predicates, naming })
    }

    fn is_wanted(part: &Part<'_>, statement: &Statement) -> bool {
        let object = match &statement.object {
            Term::Iri(iri) => Some(iri),
            _ => None,
        };
        let mut iris = statement.subject.iter().chain(object);
        part.predicates.contains(&&*statement.predicate)
            || part.naming.is_some_and(|prefix| iris.any(|iri| iri.starts_with(prefix)))
    }

    proptest! {
        #[test]
        fn a_part_has_the_wanted_statements(
            statements in proptest::collection::vec(statement(), 0..20),
            spread in proptest::option::of((any::<u64>(), any::<u64>())),
            mut part in part(),
        ) {
            let spread = spread.map(|(statements, bytes)| Spread { statements, bytes });
            let record = GraphRecord { statements, spread };
            let value = value_of(&record);
            let partial: PartialGraph = decoded(&value, &mut part).unwrap();
            let mut wanted = GraphRecord::from_value(&value).unwrap().statements;
            let length: GraphLength = decoded(&value, &mut ()).unwrap();
            prop_assert_eq!(length.0, spread.map_or(wanted.len() as u64, |spread| spread.statements));
            wanted.retain(|statement| is_wanted(&part, statement));
            prop_assert_eq!(partial, PartialGraph { statements: wanted, is_spread: spread.is_some() });
        }

        #[test]
        fn a_part_of_any_bytes_is_read_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            mut part in part(),
        ) {
            let _ = minicbor::decode_with::<_, PartialGraph>(&bytes, &mut part);
        }
    }
}
