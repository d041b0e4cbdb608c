//! Access to collections and objects: a row for each entry of the resource's own access list. Inherited
//! and restricted entries are not included. A resource without entries of its own has one for its owner.

use cenote_store::{Person, PersonId, Rights, Scope, Stat};

use super::super::column::{Column, Entity};
use super::names::{Names, user_type};
use super::source::Source;
use super::token::TOKENS;

/// An entry of a resource's access list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    resource: u64,
    person: PersonId,
    rights: Rights,
}

impl Source<'_> {
    /// The access list entries from which rows are built, if they are needed. A hidden resource has none.
    pub(crate) fn access(&self, entity: Entity, stat: Option<&Stat>) -> Vec<Option<Access>> {
        match self.about(entity) {
            true => self.joined(stat.map(lines).unwrap_or_default()),
            false => vec![None],
        }
    }

    /// The user or group of an entry, if users are needed.
    pub(crate) fn holder(&self, access: Option<&Access>) -> Option<(PersonId, Person)> {
        let person = access.filter(|_| self.about(Entity::User))?.person;
        Some((person, self.names.persons.get(&person)?.clone()))
    }
}

fn lines(stat: &Stat) -> Vec<Access> {
    let line = |person, rights| Access { resource: stat.id.0, person, rights };
    let grants = stat.resource.access.grants.iter();
    let own = grants.filter(|grant| grant.scope != Scope::Default && grant.only.is_none());
    let lines: Vec<_> = own.map(|grant| line(grant.person, grant.rights)).collect();
    match lines.is_empty() {
        true => vec![line(stat.resource.owner, Rights::OWN)],
        false => lines,
    }
}

impl Names<'_> {
    /// The text of an access list column.
    pub(crate) fn of_access(&self, access: &Access, column: Column) -> String {
        use Column as C;
        let word = access.rights.level();
        match column {
            C::CollAccessName | C::DataAccessName => word.to_owned(),
            C::CollAccessType | C::DataAccessType => number(word),
            C::CollTokenNamespace | C::DataTokenNamespace => NAMESPACE.to_owned(),
            C::CollAccessCollId | C::DataAccessDataId => access.resource.to_string(),
            C::CollAccessUserId | C::DataAccessUserId => access.person.to_string(),
            C::CollAccessUserName | C::DataAccessUserName => self.person(access.person),
            C::CollAccessUserType | C::DataAccessUserType => {
                self.persons.get(&access.person).map(user_type).unwrap_or_default().to_owned()
            }
            _ => self.zone.name.clone(),
        }
    }
}

const NAMESPACE: &str = "access_type";

/// The number of an access level in iRODS.
fn number(word: &str) -> String {
    let mut tokens = TOKENS.iter().filter(|token| token.namespace == NAMESPACE);
    tokens.find(|token| token.name == word).map(|token| token.id.to_string()).unwrap_or_default()
}
