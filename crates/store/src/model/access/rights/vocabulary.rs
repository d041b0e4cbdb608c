//! The names that protocols have for sets of rights: one table for each protocol.
//!
//! Laws, which `tests` holds for every table and for tables at random:
//! * the shown names of a set are within it, and no name of the vocabulary that is within it is left out, unless a shown one
//!   includes it;
//! * a name that was set is the name that is shown;
//! * setting a name leaves those rights as they were that no name of the vocabulary includes.

use super::Rights;

/// The names that a protocol has for sets of rights.
#[derive(Debug, Clone, Copy)]
pub struct Vocabulary {
    names: &'static [(&'static str, Rights)],
    /// Further words that are understood, and never shown.
    aliases: &'static [(&'static str, Rights)],
}

/// A change of a set: which rights become what they are in `to`, and which stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    of: Rights,
    to: Rights,
}

/// The ten levels of iRODS 4.3, each with what those before it have.
impl Rights {
    /// `read_metadata`
    pub const READ_METADATA: Self = Self::READ_DESCRIPTION;
    /// `read_object`
    pub const READ_OBJECT: Self = Self::READ_METADATA.union(Self::READ_CONTENT).union(Self::LIST);
    /// `create_metadata`
    pub const CREATE_METADATA: Self = Self::READ_OBJECT.union(Self::ADD_DESCRIPTION);
    /// `modify_metadata`
    pub const MODIFY_METADATA: Self = Self::CREATE_METADATA.union(Self::CHANGE_DESCRIPTION);
    /// `delete_metadata`
    pub const DELETE_METADATA: Self = Self::MODIFY_METADATA.union(Self::REMOVE_DESCRIPTION);
    /// `create_object`
    pub const CREATE_OBJECT: Self = Self::DELETE_METADATA.union(Self::CREATE);
    /// `modify_object`
    pub const MODIFY_OBJECT: Self = Self::CREATE_OBJECT.union(Self::WRITE_CONTENT);
    /// `delete_object`
    pub const DELETE_OBJECT: Self = Self::MODIFY_OBJECT.union(Self::REMOVE);
    /// `own`
    pub const OWN: Self = Self::ALL;
}

impl Vocabulary {
    /// iRODS 4.3, and the native API. The place of a level is its number in a record.
    pub const IRODS: Self = Self {
        names: &[
            ("null", Rights::NONE),
            ("read_metadata", Rights::READ_METADATA),
            ("read_object", Rights::READ_OBJECT),
            ("create_metadata", Rights::CREATE_METADATA),
            ("modify_metadata", Rights::MODIFY_METADATA),
            ("delete_metadata", Rights::DELETE_METADATA),
            ("create_object", Rights::CREATE_OBJECT),
            ("modify_object", Rights::MODIFY_OBJECT),
            ("delete_object", Rights::DELETE_OBJECT),
            ("own", Rights::OWN),
        ],
        aliases: &[
            ("none", Rights::NONE),
            ("read", Rights::READ_OBJECT),
            ("write", Rights::MODIFY_OBJECT),
        ],
    };

    /// irods-rest 0.9.
    pub const IRODS_REST: Self = Self {
        names: &[
            ("null", Rights::NONE),
            ("read", Rights::READ_OBJECT),
            ("write", Rights::MODIFY_OBJECT),
            ("own", Rights::OWN),
        ],
        aliases: &[],
    };

    /// Web Access Control (<https://solidproject.org/TR/wac>): modes that are granted together. `Write` includes `Append`.
    pub const WEBAC: Self = Self {
        names: &[
            ("Read", Rights::READ_OBJECT),
            ("Append", APPEND),
            ("Write", APPEND.union(WRITE)),
            ("Control", Rights::CONTROL),
        ],
        aliases: &[],
    };

    /// The levels of a DNAnexus project.
    pub const DNANEXUS: Self = Self {
        names: &[
            ("NONE", Rights::NONE),
            ("VIEW", Rights::READ_OBJECT),
            ("UPLOAD", Rights::READ_OBJECT.union(Rights::CREATE)),
            ("CONTRIBUTE", Rights::READ_OBJECT.union(APPEND).union(WRITE)),
            ("ADMINISTER", Rights::ALL),
        ],
        aliases: &[],
    };

    /// The names with their sets.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, Rights)> + use<> {
        self.names.iter().copied()
    }

    /// The set of rights for a word.
    pub fn rights(&self, word: &str) -> Option<Rights> {
        let mut words = self.names.iter().chain(self.aliases);
        words.find(|(name, _)| *name == word).map(|(_, rights)| *rights)
    }

    /// The change that setting words together is; none if one of them is unknown.
    pub fn setting<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Option<Setting> {
        let of = self.names().map(|(_, rights)| rights).collect();
        let to = words.into_iter().map(|word| self.rights(word)).collect::<Option<_>>()?;
        Some(Setting { of, to })
    }

    /// The shown form of a set: the largest names within it. That is one in a vocabulary of levels.
    pub fn shown(&self, rights: Rights) -> impl Iterator<Item = &'static str> + use<> {
        let within = move |name: &(&str, Rights)| rights.contains(name.1);
        let names = self.names;
        let is_largest = move |(_, set): &(&str, Rights)| {
            let mut others = names.iter().copied().filter(within);
            !others.any(|(_, other)| other != *set && other.contains(*set))
        };
        self.names().filter(within).filter(is_largest).map(|(name, _)| name)
    }
}

const APPEND: Rights = Rights::CREATE.union(Rights::APPEND).union(Rights::ADD_DESCRIPTION);
const WRITE: Rights = Rights::WRITE_CONTENT
    .union(Rights::CHANGE_DESCRIPTION)
    .union(Rights::REMOVE_DESCRIPTION)
    .union(Rights::REMOVE);

impl Setting {
    /// What a set becomes.
    #[must_use]
    pub fn applied_to(self, held: Rights) -> Rights {
        held.without(self.of).union(self.to)
    }
}

/// A set of which nothing stays.
impl From<Rights> for Setting {
    fn from(to: Rights) -> Self {
        Self { of: Rights::ALL, to }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    use super::*;

    const VOCABULARIES: [(&str, Vocabulary); 4] = [
        ("iRODS", Vocabulary::IRODS),
        ("irods-rest", Vocabulary::IRODS_REST),
        ("WebAC", Vocabulary::WEBAC),
        ("DNAnexus", Vocabulary::DNANEXUS),
    ];

    fn sets() -> impl Strategy<Value = Rights> {
        let words: Vec<&'static str> = Rights::ALL.words().collect();
        subsequence(words, 0..=11)
            .prop_map(|words| words.iter().map(|word| word.parse::<Rights>().unwrap()).collect())
    }

    /// A vocabulary with up to four names for any sets, none of them the same.
    fn vocabularies() -> impl Strategy<Value = Vocabulary> {
        proptest::collection::hash_set(sets(), 1..=4).prop_map(|sets| {
            let names = ["a", "b", "c", "d"].into_iter().zip(sets).collect::<Vec<_>>();
            Vocabulary { names: names.leak(), aliases: &[] }
        })
    }

    fn all() -> impl Strategy<Value = Vocabulary> {
        let written = proptest::sample::select(VOCABULARIES.to_vec()).prop_map(|(_, v)| v);
        prop_oneof![written, vocabularies()]
    }

    fn together(vocabulary: &Vocabulary, names: &[&str]) -> Rights {
        names.iter().filter_map(|name| vocabulary.rights(name)).collect()
    }

    proptest! {
        #[test]
        fn the_displayed_names_cover_the_set_and_do_not_exceed_it(
            vocabulary in all(),
            held in sets(),
        ) {
            let shown: Vec<_> = vocabulary.shown(held).collect();
            let named = together(&vocabulary, &shown);
            prop_assert!(held.contains(named), "never more than there is");
            for (name, rights) in vocabulary.names() {
                prop_assert_eq!(held.contains(rights), named.contains(rights), "{}", name);
            }
        }

        #[test]
        fn a_set_name_is_displayed(
            vocabulary in all(),
            held in sets(),
            which in any::<proptest::sample::Index>(),
        ) {
            let (name, rights) = vocabulary.names[which.index(vocabulary.names.len())];
            let set = vocabulary.setting([name]).unwrap().applied_to(held);
            let shown: Vec<_> = vocabulary.shown(set).collect();
            prop_assert!(set.contains(rights));
            prop_assert_eq!(shown, vec![name]);
        }

        #[test]
        fn other_rights_are_unchanged(
            vocabulary in all(),
            held in sets(),
            which in any::<proptest::sample::Index>(),
        ) {
            let (name, _) = vocabulary.names[which.index(vocabulary.names.len())];
            let set = vocabulary.setting([name]).unwrap().applied_to(held);
            let of: Rights = vocabulary.names().map(|(_, rights)| rights).collect();
            let others = Rights::ALL.words().filter_map(|word| word.parse::<Rights>().ok());
            for other in others.filter(|other| other.intersection(of).is_empty()) {
                prop_assert_eq!(set.contains(other), held.contains(other));
            }
        }

        #[test]
        fn combined_modes_are_shown_together(
            modes in subsequence(vec!["Read", "Append", "Write", "Control"], 0..=4),
            held in sets(),
        ) {
            let set = Vocabulary::WEBAC.setting(modes.iter().copied()).unwrap().applied_to(held);
            let mut expected = modes;
            if expected.contains(&"Write") {
                expected.retain(|mode| *mode != "Append");
            }
            prop_assert_eq!(Vocabulary::WEBAC.shown(set).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn every_vocabulary_covers_every_right() {
        for (name, vocabulary) in VOCABULARIES {
            let of: Rights = vocabulary.names().map(|(_, rights)| rights).collect();
            assert_eq!(
                of,
                Rights::ALL,
                "setting a name of {name} leaves nothing of what was granted"
            );
        }
    }

    #[test]
    fn a_set_without_a_name_is_shown_as_the_largest_named_subset() {
        let shown = |vocabulary: Vocabulary, set: &str| {
            vocabulary.shown(set.parse().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for (set, irods, rest, webac, dnanexus) in [
            ("none", "null", "null", "", "NONE"),
            ("list+create", "null", "null", "", "NONE"),
            ("read_metadata", "read_metadata", "null", "", "NONE"),
            ("read+append", "read_object", "read", "Read", "VIEW"),
            ("read+create", "read_object", "read", "Read", "UPLOAD"),
            ("create+append+add_description", "null", "null", "Append", "NONE"),
            ("write", "modify_object", "write", "Read Append", "UPLOAD"),
            ("write+control", "modify_object", "write", "Read Append Control", "UPLOAD"),
            ("delete_object", "delete_object", "write", "Read Write", "CONTRIBUTE"),
            ("own", "own", "own", "Read Write Control", "ADMINISTER"),
        ] {
            assert_eq!(shown(Vocabulary::IRODS, set), irods, "{set}");
            assert_eq!(shown(Vocabulary::IRODS_REST, set), rest, "{set}");
            assert_eq!(shown(Vocabulary::WEBAC, set), webac, "{set}");
            assert_eq!(shown(Vocabulary::DNANEXUS, set), dnanexus, "{set}");
        }
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert_eq!(Vocabulary::WEBAC.setting(["Read", "own"]), None);
        assert_eq!(Vocabulary::IRODS.setting(["Read"]), None);
    }
}
