//! The text of each column of a row.

use std::collections::HashMap;

use cenote_store::{Avu, ContentHead, Person, PersonId, PersonKind, Role, Stat, StorePath, Time};
use xxhash_rust::xxh3::xxh3_64;

use super::super::column::{Column, Entity};
use super::row::{CollectionRow, ReplicaRow, Row};
use super::token::Token;
use super::zone::{DelayedRule, RemoteZone, Resource, Zone};

/// Further data for computing the text of a column.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    pub(crate) zone: &'a Zone,
    pub(crate) persons: HashMap<PersonId, Person>,
}

impl Names<'_> {
    pub(crate) fn person(&self, id: PersonId) -> String {
        match (Role::of_principal(id), self.persons.get(&id)) {
            (Some(role), _) => format!("role:{}", role.as_str()),
            (None, Some(person)) => person.name.clone(),
            (None, None) => format!("#{id}"),
        }
    }

    /// A path, prefixed with the zone.
    pub(crate) fn path(&self, path: &StorePath) -> String {
        match path.names().is_empty() {
            true => format!("/{}", self.zone.name),
            false => format!("/{}{path}", self.zone.name),
        }
    }

    /// The text of a column; `None` if the row has no value for it.
    pub(crate) fn text(&self, row: &Row, column: Column) -> Option<String> {
        Some(match column.entity() {
            Entity::Collection => return self.of_collection(row.collection.as_ref()?, column),
            Entity::Object => self.of_object(row.object.as_ref()?, row.replica.as_ref(), column),
            Entity::CollectionAvu => {
                let stat = row.collection.as_ref()?.stat.as_ref();
                of_avu(row.collection_avu.as_ref()?, stat?.resource.described().time, column)
            }
            Entity::ObjectAvu => {
                let described = row.object.as_ref()?.resource.described();
                of_avu(row.object_avu.as_ref()?, described.time, column)
            }
            Entity::CollectionAccess => self.of_access(row.collection_access.as_ref()?, column),
            Entity::ObjectAccess => self.of_access(row.object_access.as_ref()?, column),
            Entity::User => self.of_user(row.user.as_ref()?, column),
            Entity::UserAvu => of_avu(row.user_avu.as_ref()?, row.user.as_ref()?.1.created, column),
            Entity::Resource => self.of_resource(row.resource.as_ref()?, column),
            Entity::ResourceAvu => {
                of_avu(row.resource_avu.as_ref()?, row.resource.as_ref()?.modified, column)
            }
            Entity::Ticket => self.of_ticket(row.ticket.as_ref()?, column),
            Entity::Zone => self.of_zone(row.remote.as_ref(), column),
            Entity::Rule => of_rule(row.rule.as_ref()?, column),
            Entity::Token => of_token(row.token?, column),
            Entity::Quota => return self.of_quota(*row.quota.as_ref()?, column),
        })
    }

    fn of_user(&self, (id, person): &(PersonId, Person), column: Column) -> String {
        match column {
            Column::UserId => id.to_string(),
            Column::UserName => person.name.clone(),
            Column::UserType => user_type(person).to_owned(),
            Column::UserZone => self.zone.name.clone(),
            Column::UserDn | Column::UserInfo | Column::UserComment => String::new(),
            _ => time(person.created),
        }
    }

    fn of_resource(&self, resource: &Resource, column: Column) -> String {
        match column {
            Column::RescId => resource.id.to_string(),
            Column::RescName => resource.name.clone(),
            Column::RescTypeName => resource.kind.clone(),
            Column::RescZoneName => self.zone.name.clone(),
            Column::RescLocation => resource.host.clone(),
            Column::RescVaultPath => resource.vault_path.clone(),
            Column::RescStatus => resource.status.clone(),
            Column::RescContext => resource.context.clone(),
            Column::RescComment => resource.comments.clone(),
            Column::RescInformation => resource.information.clone(),
            Column::RescFreeSpace => resource.free_space.clone(),
            Column::RescParent => resource.parent.map(|id| id.to_string()).unwrap_or_default(),
            Column::RescCreateTime => time(resource.created),
            _ => time(resource.modified),
        }
    }

    fn of_zone(&self, remote: Option<&RemoteZone>, column: Column) -> String {
        match (column, remote) {
            (Column::ZoneName, None) => self.zone.name.clone(),
            (Column::ZoneName, Some(zone)) => zone.name.clone(),
            (Column::ZoneType, None) => "local".to_owned(),
            (Column::ZoneType, Some(_)) => "remote".to_owned(),
            (Column::ZoneConnection, Some(zone)) => zone.connection.clone(),
            (_, Some(zone)) => zone.comment.clone(),
            (_, None) => String::new(),
        }
    }

    fn of_collection(&self, collection: &CollectionRow, column: Column) -> Option<String> {
        match column {
            Column::CollId => return Some(collection.id.to_string()),
            Column::CollName => return Some(self.path(&collection.path)),
            Column::CollParentName => {
                let parent = collection.path.split_last();
                return Some(parent.map_or_else(|| "/".to_owned(), |(path, _)| self.path(&path)));
            }
            _ => {}
        }
        let resource = &collection.stat.as_ref()?.resource;
        Some(match column {
            Column::CollOwnerName => self.person(resource.owner),
            Column::CollOwnerZone => self.zone.name.clone(),
            Column::CollInheritance => u8::from(resource.access.inherit).to_string(),
            Column::CollCreateTime => time(resource.created),
            _ => time(collection.modified?),
        })
    }

    fn of_object(&self, stat: &Stat, replica: Option<&ReplicaRow>, column: Column) -> String {
        if let Some(noted) = replica.and_then(|row| row.view.notes.get(&noted(column))) {
            return noted.clone();
        }
        let resource = &stat.resource;
        match column {
            Column::DataId => stat.id.to_string(),
            Column::DataCollId => resource.parent.to_string(),
            Column::DataName => resource.name.clone(),
            Column::DataTypeName => "generic".to_owned(),
            Column::DataOwnerName => self.person(resource.owner),
            Column::DataOwnerZone => self.zone.name.clone(),
            Column::DataComments
            | Column::DataExpiry
            | Column::DataMode
            | Column::DataStatus
            | Column::DataVersion => String::new(),
            _ => match replica {
                Some(row) => self.of_replica(stat, row, column),
                None => self.of_sole_replica(stat, column),
            },
        }
    }

    fn of_replica(&self, stat: &Stat, row: &ReplicaRow, column: Column) -> String {
        let view = &row.view;
        let place = || self.resource(view.place.0);
        match column {
            Column::DataReplNum => view.number.to_string(),
            Column::DataReplStatus => u8::from(view.good).to_string(),
            Column::DataSize => view.content.size.to_string(),
            Column::DataPath => view.file.clone().unwrap_or_else(|| stat.path.to_string()),
            Column::DataRescName => place().map(|found| found.name.clone()).unwrap_or_default(),
            Column::DataRescHier => {
                place().map(|found| found.hierarchy.clone()).unwrap_or_default()
            }
            Column::DataChecksum if row.first => checksum(&view.content),
            Column::DataChecksum => String::new(),
            Column::DataCreateTime => time(view.created),
            _ if row.first => time(stat.resource.mtime.unwrap_or(view.modified)),
            _ => time(view.modified),
        }
    }

    /// A column of the sole replica of an object without recorded replicas.
    fn of_sole_replica(&self, stat: &Stat, column: Column) -> String {
        let resource = &stat.resource;
        match column {
            Column::DataReplNum => "0".to_owned(),
            Column::DataReplStatus => "1".to_owned(),
            Column::DataSize => stat.size().to_string(),
            Column::DataChecksum => resource.content.as_ref().map(checksum).unwrap_or_default(),
            Column::DataCreateTime => time(resource.created),
            Column::DataModifyTime | Column::DataAccessTime => time(resource.shown_mtime()),
            _ => String::new(),
        }
    }

    pub(crate) fn resource(&self, id: u64) -> Option<&Resource> {
        self.zone.resources.iter().find(|resource| resource.id == id)
    }
}

/// `sha2:` and the SHA-256 in base64, if it is known.
fn checksum(content: &ContentHead) -> String {
    use base64::Engine;
    let encode = |digest| base64::prelude::BASE64_STANDARD.encode(digest);
    content.digests.sha256.map(|digest| format!("sha2:{}", encode(digest))).unwrap_or_default()
}

/// The key under which a replica stores an overridden column value.
fn noted(column: Column) -> String {
    format!("irods:{}", column.name())
}

/// A column of an attribute; `modified` is that of the entity, since attributes have no times of their own.
fn of_avu(avu: &Avu, modified: Time, column: Column) -> String {
    use Column as C;
    match column {
        C::MetaCollName | C::MetaDataName | C::MetaUserName | C::MetaRescName => {
            avu.attribute.clone()
        }
        C::MetaCollValue | C::MetaDataValue | C::MetaUserValue | C::MetaRescValue => {
            avu.value.clone()
        }
        C::MetaCollUnits | C::MetaDataUnits | C::MetaUserUnits | C::MetaRescUnits => {
            avu.unit.clone().unwrap_or_default()
        }
        C::MetaCollId | C::MetaDataId | C::MetaUserId | C::MetaRescId => {
            let unit = avu.unit.as_deref().unwrap_or_default();
            number(&[&avu.attribute, &avu.value, unit]).to_string()
        }
        _ => time(modified),
    }
}

/// A number for something without one: as in iRODS, equal attribute, value and units have the same number.
pub(crate) fn number(parts: &[&str]) -> u64 {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    xxh3_64(&bytes) >> 1
}

fn of_rule(rule: &DelayedRule, column: Column) -> String {
    match column {
        Column::RuleExecId => rule.id.to_string(),
        Column::RuleExecName => rule.text.clone(),
        Column::RuleExecUser => rule.user.clone(),
        _ => time(rule.due),
    }
}

fn of_token(token: Token, column: Column) -> String {
    match column {
        Column::TokenNamespace => token.namespace.to_owned(),
        Column::TokenId => token.id.to_string(),
        _ => token.name.to_owned(),
    }
}

/// Seconds since 1970 in 11 digits, so that they sort as text.
pub(crate) fn time(time: Time) -> String {
    format!("{:011}", time.secs())
}

pub(crate) fn user_type(person: &Person) -> &'static str {
    match (person.kind, person.role) {
        (PersonKind::Group, _) => "rodsgroup",
        (_, Role::User) => "rodsuser",
        (_, Role::GroupAdmin) => "groupadmin",
        (_, Role::Admin) => "rodsadmin",
    }
}
