//! Ids of this opening: the word of a class and 24 letters and digits.
//!
//! An id is computed from the id of a resource, and the resource from it, so that whatever any opening stores has one at once:
//! 11 digits to the base 62 are the resource's id, the other 13 are a digest of the class and those. An id of another class,
//! or one that was mistyped, is therefore no id of anything.
//!
//! Invariant: an id is that of one object for as long as any project has it. The object is the resource that it was computed
//! from, and the clones whose notes name it (`crate::dnanexus::note`).

use std::fmt;
use std::str::FromStr;

use cenote_store::{Kind, ResourceId};
use ring::digest::{SHA256, digest};

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Digits of the resource's id, and of its check.
const DIGITS: usize = 11;
const CHECK: usize = 13;

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Class {
    Project,
    File,
    Record,
}

impl Class {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::File => "file",
            Self::Record => "record",
        }
    }

    /// The class of a resource of this kind; links have none.
    pub(crate) fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Collection => Some(Self::Project),
            Kind::Object => Some(Self::File),
            Kind::Description => Some(Self::Record),
            Kind::Link => None,
        }
    }

    /// The kind of a resource of this class.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Project => Kind::Collection,
            Self::File => Kind::Object,
            Self::Record => Kind::Description,
        }
    }
}

/// The classes of the protocol that this server has no resources of.
const OTHERS: [&str; 13] = [
    "container",
    "applet",
    "workflow",
    "database",
    "dbcluster",
    "drive",
    "job",
    "analysis",
    "app",
    "globalworkflow",
    "org",
    "user",
    "token",
];

/// Whether a word is a class of the protocol.
pub(crate) fn is_class(word: &str) -> bool {
    ["project", "file", "record"].contains(&word) || OTHERS.contains(&word)
}

/// The id of a project or an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId {
    pub(crate) class: Class,
    pub(crate) resource: ResourceId,
}

/// A text that is the id of nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoId;

impl ObjectId {
    pub(crate) fn new(class: Class, resource: ResourceId) -> Self {
        Self { class, resource }
    }

    pub(crate) fn project(resource: ResourceId) -> Self {
        Self::new(Class::Project, resource)
    }

    fn check(self) -> [u8; CHECK] {
        let text = format!("cenote {} {}", self.class.as_str(), self.resource.0);
        let digest = digest(&SHA256, text.as_bytes());
        std::array::from_fn(|n| ALPHABET[usize::from(digest.as_ref()[n]) % 62])
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [b'0'; DIGITS];
        let mut rest = self.resource.0;
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[(rest % 62) as usize];
            rest /= 62;
        }
        write!(f, "{}-", self.class.as_str())?;
        digits.iter().chain(&self.check()).try_for_each(|letter| write!(f, "{}", *letter as char))
    }
}

impl FromStr for ObjectId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<Self, NoId> {
        let (class, letters) = text.split_once('-').ok_or(NoId)?;
        let classes = [Class::Project, Class::File, Class::Record];
        let class = classes.into_iter().find(|known| known.as_str() == class).ok_or(NoId)?;
        let (digits, check) = letters.as_bytes().split_at_checked(DIGITS).ok_or(NoId)?;
        let resource = digits.iter().try_fold(0_u64, |id, letter| {
            let digit = ALPHABET.iter().position(|known| known == letter)?;
            id.checked_mul(62)?.checked_add(digit as u64)
        });
        let id = Self::new(class, ResourceId(resource.ok_or(NoId)?));
        if check == id.check() { Ok(id) } else { Err(NoId) }
    }
}

/// Whether a text has the form of an id of this class, as clients check it.
pub(crate) fn looks_like(class: &str, text: &str) -> bool {
    let letters = text.strip_prefix(class).and_then(|rest| rest.strip_prefix('-'));
    letters.is_some_and(|letters| {
        letters.len() == DIGITS + CHECK && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn classes() -> impl Strategy<Value = Class> {
        proptest::sample::select(vec![Class::Project, Class::File, Class::Record])
    }

    proptest! {
        #[test]
        fn an_id_names_one_resource_and_has_the_form_that_clients_check(class in classes(), resource: u64) {
            let id = ObjectId::new(class, ResourceId(resource));
            let text = id.to_string();
            prop_assert!(looks_like(class.as_str(), &text), "{}", text);
            prop_assert_eq!(text.parse::<ObjectId>(), Ok(id));
        }

        #[test]
        fn a_changed_id_or_one_of_another_class_is_invalid(
            class in classes(),
            resource: u64,
            at in 0usize..24,
            letter in "[0-9A-Za-z]",
        ) {
            let text = ObjectId::new(class, ResourceId(resource)).to_string();
            let mut wrong = text.clone();
            let at = text.len() - 24 + at;
            wrong.replace_range(at..at + 1, &letter);
            prop_assert!(wrong == text || wrong.parse::<ObjectId>().is_err());
            for other in [Class::Project, Class::File, Class::Record] {
                let swapped = text.replacen(class.as_str(), other.as_str(), 1);
                prop_assert!(other == class || swapped.parse::<ObjectId>().is_err());
            }
        }

        #[test]
        fn any_text_is_read(text in "(file-|project-|record-)?\\PC{0,30}") {
            if let Ok(id) = text.parse::<ObjectId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }

        #[test]
        fn later_resources_have_later_ids(one: u64, other: u64) {
            let id = |resource| ObjectId::new(Class::File, ResourceId(resource)).to_string();
            prop_assert_eq!(id(one).cmp(&id(other)), one.cmp(&other));
        }
    }
}
