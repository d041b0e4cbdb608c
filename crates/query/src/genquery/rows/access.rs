//! Who may do what with a collection or an object: a row for each line of its own access list. What applies to it
//! from above is no line of its own. What has no lines is its owner's.

use cenote_store::{Person, PersonId, Rights, Scope, Stat};

use super::super::column::{Column, Entity};
use super::names::{Names, user_type};
use super::source::Source;
use super::token::TOKENS;

/// A line of the access list of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    resource: u64,
    person: PersonId,
    rights: Rights,
}

impl Source<'_> {
    /// The access list of something, as rows are made of it: its lines if they matter. What is hidden has none.
    pub(crate) fn access(&self, entity: Entity, stat: Option<&Stat>) -> Vec<Option<Access>> {
        match self.about(entity) {
            true => self.joined(stat.map(lines).unwrap_or_default()),
            false => vec![None],
        }
    }

    /// Whom a line is about, if users matter.
    pub(crate) fn holder(&self, access: Option<&Access>) -> Option<(PersonId, Person)> {
        let person = access.filter(|_| self.about(Entity::User))?.person;
        Some((person, self.names.persons.get(&person)?.clone()))
    }
}

fn lines(stat: &Stat) -> Vec<Access> {
    let line = |person, rights| Access { resource: stat.id.0, person, rights };
    let grants = stat.resource.access.grants.iter();
    let own = grants.filter(|grant| grant.scope != Scope::Default);
    let lines: Vec<_> = own.map(|grant| line(grant.person, grant.rights)).collect();
    match lines.is_empty() {
        true => vec![line(stat.resource.owner, Rights::OWN)],
        false => lines,
    }
}

impl Names<'_> {
    /// The text of a column of an access list.
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

/// The number that iRODS gives a level.
fn number(word: &str) -> String {
    let mut tokens = TOKENS.iter().filter(|token| token.namespace == NAMESPACE);
    tokens.find(|token| token.name == word).map(|token| token.id.to_string()).unwrap_or_default()
}
