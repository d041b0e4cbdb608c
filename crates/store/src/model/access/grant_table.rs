//! An access list while it is being changed.

use std::collections::{BTreeMap, HashMap};

use super::{Grant, Only, Scope};
use crate::model::{PersonId, Rights};

/// What there is at most one line for.
type About = (PersonId, Scope, Option<Only>);

/// The lines of an access list, in their order. A change takes a time that does not grow with the list, so that a request with many of
/// them does not take the square of it.
#[derive(Debug, Default)]
pub(crate) struct GrantTable {
    lines: BTreeMap<usize, Grant>,
    places: HashMap<About, usize>,
    next: usize,
}

impl GrantTable {
    /// Sets a line, which becomes the last one, instead of the one with the same person, scope and restriction; [`Rights::NONE`] removes that.
    pub(crate) fn put(&mut self, line: Grant) {
        let about = (line.person, line.scope, line.only.clone());
        if let Some(place) = self.places.remove(&about) {
            self.lines.remove(&place);
        }
        if !line.rights.is_empty() {
            self.places.insert(about, self.next);
            self.lines.insert(self.next, line);
            self.next += 1;
        }
    }

    /// The rights of the line about this, or none.
    pub(crate) fn of(&self, person: PersonId, scope: Scope, only: Option<Only>) -> Rights {
        let place = self.places.get(&(person, scope, only));
        let line = place.and_then(|place| self.lines.get(place));
        line.map_or(Rights::NONE, |line| line.rights)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

impl FromIterator<Grant> for GrantTable {
    fn from_iter<I: IntoIterator<Item = Grant>>(grants: I) -> Self {
        let mut lines = Self::default();
        grants.into_iter().for_each(|line| lines.put(line));
        lines
    }
}

impl From<GrantTable> for Vec<Grant> {
    fn from(lines: GrantTable) -> Self {
        lines.lines.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Access, ResourceId};

    fn line() -> impl Strategy<Value = Grant> {
        let only = prop_oneof![
            Just(None),
            Just(Some(Only::Class("urn:a".into()))),
            Just(Some(Only::Resource(ResourceId(7))))
        ];
        let rights = prop_oneof![Just(Rights::NONE), Just(Rights::READ_OBJECT), Just(Rights::OWN)];
        let scope = prop_oneof![Just(Scope::This), Just(Scope::Default)];
        (1u64..4, rights, scope, only).prop_map(|(person, rights, scope, only)| Grant {
            person: PersonId(person),
            rights,
            scope,
            only,
        })
    }

    proptest! {
        /// A list that is changed line by line is the other way to the same answer.
        #[test]
        fn many_changes_give_the_list_of_one_change_after_the_other(changes in vec(line(), 0..40)) {
            let (mut access, mut lines) = (Access::default(), GrantTable::default());
            for change in changes {
                access.put(change.clone());
                lines.put(change.clone());
                let Grant { person, scope, only, .. } = change;
                let found = access.grants.iter().find(|line| line.is_of(person, scope, only.as_ref()));
                let rights = found.map_or(Rights::NONE, |line| line.rights);
                prop_assert_eq!(lines.of(person, scope, only), rights);
            }
            prop_assert_eq!(Vec::from(lines), access.grants);
        }
    }
}
