//! How a description is stored, and how a part of it is read.

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

/// What a [`GraphRecord`] has of one predicate, which is the context it is decoded in. The other statements are passed over, and not copied:
/// a description has hundreds, of which a pattern of a query wants one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartialGraph {
    pub(crate) statements: Vec<Statement>,
    /// Whether the statements are in rows of their own.
    pub(crate) is_spread: bool,
}

impl<'b> Decode<'b, &str> for PartialGraph {
    fn decode(decoder: &mut Decoder<'b>, predicate: &mut &str) -> Result<Self, Error> {
        let fields = length(decoder)?;
        let mut statements = Vec::new();
        for _ in 0..if fields > 0 { length(decoder)? } else { 0 } {
            match predicate_of(decoder)? == *predicate {
                true => statements.push(decoder.decode()?),
                false => decoder.skip()?,
            }
        }
        let spread: Option<Spread> = if fields > 1 { decoder.decode()? } else { None };
        Ok(Self { statements, is_spread: spread.is_some() })
    }
}

fn length(decoder: &mut Decoder<'_>) -> Result<u64, Error> {
    decoder.array()?.ok_or_else(|| Error::message("an array of no length"))
}

/// The predicate of the statement that comes next.
fn predicate_of<'b>(decoder: &mut Decoder<'b>) -> Result<&'b str, Error> {
    let mut ahead = decoder.probe();
    length(&mut ahead)?;
    ahead.skip()?;
    ahead.str()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::{Record, decoded, value_of};
    use crate::model::Term;

    fn statement() -> impl Strategy<Value = Statement> {
        let text = proptest::option::of("[a-c]{0,2}");
        let object = prop_oneof![
            ("[a-c]{0,2}", text.clone(), text.clone()).prop_map(|(value, datatype, language)| {
                Term::Literal { value, datatype, language }
            }),
            "[a-c]{0,2}".prop_map(Term::Iri),
            "[a-c]{0,2}".prop_map(Term::Blank),
        ];
        (text.clone(), "[a-c]", object, text).prop_map(|(subject, predicate, object, unit)| {
            Statement { subject, predicate, object, unit }
        })
    }

    proptest! {
        #[test]
        fn a_part_has_the_statements_with_its_predicate(
            statements in proptest::collection::vec(statement(), 0..20),
            spread in proptest::option::of((any::<u64>(), any::<u64>())),
        ) {
            let spread = spread.map(|(statements, bytes)| Spread { statements, bytes });
            let record = GraphRecord { statements, spread };
            let value = value_of(&record);
            let part: PartialGraph = decoded(&value, &mut "a").unwrap();
            let mut wanted = GraphRecord::from_value(&value).unwrap().statements;
            wanted.retain(|statement| statement.predicate == "a");
            prop_assert_eq!(part, PartialGraph { statements: wanted, is_spread: spread.is_some() });
        }

        #[test]
        fn a_part_of_any_bytes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = minicbor::decode_with::<_, PartialGraph>(&bytes, &mut "a");
        }
    }
}
