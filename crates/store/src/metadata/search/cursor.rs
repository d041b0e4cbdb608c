//! The position at which a search continues.

use crate::model::{Name, ResourceId};
use crate::{Error, Result};

/// The position at which a search continues. It can name what its caller may not see: an opening seals it before it returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchCursor(Position);

/// A place in one of the plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::metadata) enum Position {
    /// After the entry with these names below the collection that is searched.
    Tree(Vec<Name>),
    /// After this key, in the range of this number of those that the condition has.
    Index(u8, Vec<u8>),
    /// After the resource with this id.
    Text(ResourceId),
}

const TREE: u8 = b't';
const INDEX: u8 = b'i';
const TEXT: u8 = b'w';

impl SearchCursor {
    pub(in crate::metadata) fn at(position: Position) -> Self {
        Self(position)
    }

    pub(in crate::metadata) fn position(&self) -> &Position {
        &self.0
    }

    /// The cursor as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.0 {
            Position::Tree(names) => {
                let names: Vec<&str> = names.iter().map(Name::as_str).collect();
                [&[TREE], names.join("/").as_bytes()].concat()
            }
            Position::Index(range, key) => [&[INDEX, *range], key.as_slice()].concat(),
            Position::Text(id) => [&[TEXT], id.0.to_be_bytes().as_slice()].concat(),
        }
    }

    /// The cursor in these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes {
            [TREE, names @ ..] => {
                let names = std::str::from_utf8(names).map_err(|_| foreign())?.split('/');
                let names: Result<_, _> = names.map(Name::new).collect();
                Ok(Self(Position::Tree(names.map_err(|_| foreign())?)))
            }
            [INDEX, range, key @ ..] => Ok(Self(Position::Index(*range, key.to_vec()))),
            [TEXT, id @ ..] => {
                let id = id.try_into().map_err(|_| foreign())?;
                Ok(Self(Position::Text(ResourceId(u64::from_be_bytes(id)))))
            }
            _ => Err(foreign()),
        }
    }
}

/// A cursor that does not fit the search.
pub(in crate::metadata) fn foreign() -> Error {
    Error::invalid("the cursor does not belong to this search").with_hint("begin the search again")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_round_trips(names in proptest::collection::vec("[^/\0.]{1,9}", 1..4), range: u8, key: Vec<u8>, id: u64) {
            let names = names.into_iter().map(|name| Name::new(name).unwrap()).collect();
            let text = Position::Text(ResourceId(id));
            for position in [Position::Tree(names), Position::Index(range, key), text] {
                let cursor = SearchCursor::at(position);
                prop_assert_eq!(SearchCursor::from_bytes(&cursor.to_bytes()).unwrap(), cursor);
            }
        }

        #[test]
        fn any_bytes_are_a_cursor_or_refused(bytes: Vec<u8>) {
            let _ = SearchCursor::from_bytes(&bytes);
        }
    }
}
