//! One row before it is projected: what it is about, and the text of each of its columns.

use std::collections::HashMap;

use cenote_store::{Avu, Level, Person, PersonId, PersonKind, Role, Stat, StorePath, Ticket, Time};

use super::Zone;
use super::column::Column;

/// What a row is about.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub(super) collection: Option<Stat>,
    pub(super) object: Option<Stat>,
    pub(super) collection_avu: Option<Avu>,
    pub(super) object_avu: Option<Avu>,
    pub(super) user: Option<(PersonId, Person)>,
    pub(super) user_avu: Option<Avu>,
    pub(super) ticket: Option<TicketRow>,
}

/// A ticket with what it opens, and one of each list of those who may use it.
#[derive(Debug, Clone)]
pub(super) struct TicketRow {
    pub(super) ticket: Ticket,
    pub(super) resource: Option<Stat>,
    pub(super) user: Option<PersonId>,
    pub(super) group: Option<PersonId>,
    pub(super) host: Option<String>,
}

/// What the text of a column needs besides the row.
#[derive(Debug)]
pub(super) struct Names<'a> {
    pub(super) zone: &'a Zone,
    pub(super) persons: HashMap<PersonId, Person>,
}

impl Names<'_> {
    fn person(&self, id: PersonId) -> String {
        self.persons.get(&id).map_or_else(|| format!("#{id}"), |person| person.name.clone())
    }

    /// A path, with the zone in front.
    pub(super) fn path(&self, path: &StorePath) -> String {
        match path.names().is_empty() {
            true => format!("/{}", self.zone.name),
            false => format!("/{}{path}", self.zone.name),
        }
    }

    /// The text of a column; none, if the row has nothing there.
    pub(super) fn text(&self, row: &Row, column: Column) -> Option<String> {
        use Column as C;
        Some(match column {
            C::CollId
            | C::CollName
            | C::CollParentName
            | C::CollOwnerName
            | C::CollOwnerZone
            | C::CollInheritance
            | C::CollCreateTime
            | C::CollModifyTime => self.of_collection(row.collection.as_ref()?, column),
            C::MetaCollName => row.collection_avu.as_ref()?.attribute.clone(),
            C::MetaCollValue => row.collection_avu.as_ref()?.value.clone(),
            C::MetaCollUnits => row.collection_avu.as_ref()?.unit.clone().unwrap_or_default(),
            C::MetaDataName => row.object_avu.as_ref()?.attribute.clone(),
            C::MetaDataValue => row.object_avu.as_ref()?.value.clone(),
            C::MetaDataUnits => row.object_avu.as_ref()?.unit.clone().unwrap_or_default(),
            C::MetaUserName => row.user_avu.as_ref()?.attribute.clone(),
            C::MetaUserValue => row.user_avu.as_ref()?.value.clone(),
            C::MetaUserUnits => row.user_avu.as_ref()?.unit.clone().unwrap_or_default(),
            C::UserId => row.user.as_ref()?.0.to_string(),
            C::UserName => row.user.as_ref()?.1.name.clone(),
            C::UserType => user_type(&row.user.as_ref()?.1).to_owned(),
            C::UserZone | C::RescZoneName | C::ZoneName => self.zone.name.clone(),
            C::UserCreateTime => time(row.user.as_ref()?.1.created),
            C::RescName => self.zone.resource.clone(),
            C::RescTypeName => "unixfilesystem".to_owned(),
            C::ZoneType => "local".to_owned(),
            C::MetaRescName | C::MetaRescValue | C::MetaRescUnits | C::RuleExecId => return None,
            _ if column.entity() == super::column::Entity::Ticket => {
                self.of_ticket(row.ticket.as_ref()?, column)
            }
            _ => self.of_object(row.object.as_ref()?, column),
        })
    }

    fn of_collection(&self, stat: &Stat, column: Column) -> String {
        let resource = &stat.resource;
        match column {
            Column::CollId => stat.id.to_string(),
            Column::CollName => self.path(&stat.path),
            Column::CollParentName => match stat.path.split_last() {
                Some((parent, _)) => self.path(&parent),
                None => "/".to_owned(),
            },
            Column::CollOwnerName => self.person(resource.owner),
            Column::CollOwnerZone => self.zone.name.clone(),
            Column::CollInheritance => u8::from(resource.access.inherit).to_string(),
            Column::CollCreateTime => time(resource.created),
            _ => time(resource.mtime.unwrap_or(resource.modified)),
        }
    }

    fn of_object(&self, stat: &Stat, column: Column) -> String {
        use base64::Engine;
        let resource = &stat.resource;
        match column {
            Column::DataId => stat.id.to_string(),
            Column::DataCollId => resource.parent.to_string(),
            Column::DataName => resource.name.clone(),
            Column::DataReplNum => "0".to_owned(),
            Column::DataReplStatus => "1".to_owned(),
            Column::DataTypeName => "generic".to_owned(),
            Column::DataSize => stat.size().to_string(),
            Column::DataPath => stat.path.to_string(),
            Column::DataRescName | Column::DataRescHier => self.zone.resource.clone(),
            Column::DataChecksum => {
                let sha256 = resource.content.as_ref().and_then(|content| content.digests.sha256);
                let encoded = sha256.map(|digest| base64::prelude::BASE64_STANDARD.encode(digest));
                encoded.map_or_else(String::new, |digest| format!("sha2:{digest}"))
            }
            Column::DataOwnerName => self.person(resource.owner),
            Column::DataOwnerZone => self.zone.name.clone(),
            Column::DataCreateTime => time(resource.created),
            _ => time(resource.mtime.unwrap_or(resource.modified)),
        }
    }

    fn of_ticket(&self, row: &TicketRow, column: Column) -> String {
        let ticket = &row.ticket;
        let stat = row.resource.as_ref();
        let of_kind = |content: bool| stat.filter(|s| s.resource.content.is_some() == content);
        match column {
            Column::TicketString => ticket.ticket.clone(),
            Column::TicketType if ticket.level > Level::ReadObject => "write".to_owned(),
            Column::TicketType => "read".to_owned(),
            Column::TicketDataName => {
                of_kind(true).map(|s| s.resource.name.clone()).unwrap_or_default()
            }
            Column::TicketCollName => {
                of_kind(false).map(|s| self.path(&s.path)).unwrap_or_default()
            }
            Column::TicketUsesLimit => ticket.uses.1.to_string(),
            Column::TicketUsesCount => ticket.uses.0.to_string(),
            Column::TicketExpiry => ticket.expires.map(time).unwrap_or_default(),
            Column::TicketAllowedUser => row.user.map(|id| self.person(id)).unwrap_or_default(),
            Column::TicketAllowedGroup => row.group.map(|id| self.person(id)).unwrap_or_default(),
            _ => row.host.clone().unwrap_or_default(),
        }
    }
}

/// Seconds since 1970 in 11 digits, so that they sort as text.
fn time(time: Time) -> String {
    format!("{:011}", time.secs())
}

fn user_type(person: &Person) -> &'static str {
    match (person.kind, person.role) {
        (PersonKind::Group, _) => "rodsgroup",
        (_, Role::User) => "rodsuser",
        (_, Role::GroupAdmin) => "groupadmin",
        (_, Role::Admin) => "rodsadmin",
    }
}
