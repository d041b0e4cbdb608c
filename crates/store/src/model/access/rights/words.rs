//! Sets as people write them: a level, or levels and rights joined by `+`.

use std::fmt;
use std::str::FromStr;

use super::{Rights, Vocabulary};
use crate::{Error, Result};

/// The words for single rights.
const WORDS: [(&str, Rights); 11] = [
    ("read_description", Rights::READ_DESCRIPTION),
    ("read_content", Rights::READ_CONTENT),
    ("list", Rights::LIST),
    ("add_description", Rights::ADD_DESCRIPTION),
    ("change_description", Rights::CHANGE_DESCRIPTION),
    ("remove_description", Rights::REMOVE_DESCRIPTION),
    ("create", Rights::CREATE),
    ("append", Rights::APPEND),
    ("write_content", Rights::WRITE_CONTENT),
    ("remove", Rights::REMOVE),
    ("control", Rights::CONTROL),
];

impl Rights {
    /// The rights in it one by one, in the order of their words.
    pub fn each(self) -> impl Iterator<Item = Rights> {
        WORDS.into_iter().filter(move |(_, right)| self.contains(*right)).map(|(_, right)| right)
    }

    /// The words for the rights in it.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.into_iter().filter(move |(_, right)| self.contains(*right)).map(|(word, _)| word)
    }

    /// The largest of the ten levels within it.
    pub fn level(self) -> &'static str {
        Vocabulary::IRODS.shown(self).next().unwrap_or("null")
    }
}

/// The name of the level that it is, or else its words, joined by `+`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Vocabulary::IRODS.rights(self.level()) {
            Some(level) if level == *self => f.write_str(self.level()),
            _ => f.write_str(&self.words().collect::<Vec<_>>().join("+")),
        }
    }
}

impl FromStr for Rights {
    type Err = Error;

    /// Also accepts `none`, `read` and `write`.
    fn from_str(text: &str) -> Result<Self> {
        text.split('+').map(one).collect()
    }
}

fn one(word: &str) -> Result<Rights> {
    let right = WORDS.into_iter().find(|(name, _)| *name == word).map(|(_, right)| right);
    right.or_else(|| Vocabulary::IRODS.rights(word)).ok_or_else(|| {
        Error::invalid(format!("no such level of access: {word:.64?}")).with_hint(
            "levels are none, read, write, delete_object, own, and those between; rights, such as list or append, \
             are joined with `+`",
        )
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_round_trips_through_text(words in proptest::sample::subsequence(WORDS.to_vec(), 0..=11)) {
            let set: Rights = words.iter().map(|(_, right)| *right).collect();
            prop_assert_eq!(set.to_string().parse::<Rights>().unwrap(), set);
            prop_assert_eq!(set.words().map(|word| word.parse::<Rights>().unwrap()).collect::<Rights>(), set);
        }
    }

    #[test]
    fn levels_and_rights_are_joined() {
        let set = Rights::READ_OBJECT.union(Rights::APPEND);
        assert_eq!("read+append".parse::<Rights>().unwrap(), set);
        assert_eq!(set.to_string(), "read_description+read_content+list+append");
        assert_eq!((set.level(), Rights::CONTROL.level()), ("read_object", "null"));
        assert_eq!("write".parse::<Rights>().unwrap().to_string(), "modify_object");
        for wrong in ["", "+", "read+", "Read", "reed", "read append"] {
            assert!(wrong.parse::<Rights>().is_err(), "{wrong}");
        }
    }
}
