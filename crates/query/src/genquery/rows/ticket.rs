//! The columns of tickets.

use cenote_store::Rights;

use super::super::column::Column;
use super::names::{Names, number, time};
use super::row::TicketRow;

impl Names<'_> {
    /// The text of a column of a ticket.
    pub(crate) fn of_ticket(&self, row: &TicketRow, column: Column) -> String {
        use Column as C;
        let ticket = &row.ticket;
        match column {
            C::TicketString => ticket.id.clone(),
            C::TicketType if ticket.rights.contains(Rights::WRITE_CONTENT) => "write".to_owned(),
            C::TicketType => "read".to_owned(),
            C::TicketUserId => ticket.issuer.to_string(),
            C::TicketOwnerName => self.person(ticket.issuer),
            C::TicketOwnerZone => self.zone.name.clone(),
            C::TicketUsesLimit => ticket.uses.1.to_string(),
            C::TicketUsesCount => ticket.uses.0.to_string(),
            C::TicketWriteFileLimit => ticket.writes.1.to_string(),
            C::TicketWriteFileCount => ticket.writes.0.to_string(),
            C::TicketWriteByteLimit => ticket.bytes.1.to_string(),
            C::TicketWriteByteCount => ticket.bytes.0.to_string(),
            C::TicketExpiry | C::TicketExpiryTs => ticket.expires.map(time).unwrap_or_default(),
            C::TicketCreateTime | C::TicketModifyTime => time(ticket.created),
            C::TicketAllowedUser => row.user.map(|id| self.person(id)).unwrap_or_default(),
            C::TicketAllowedGroup => row.group.map(|id| self.person(id)).unwrap_or_default(),
            C::TicketAllowedHost => row.host.clone().unwrap_or_default(),
            C::TicketAllowedUserTicketId => id_if(row, row.user.is_some()),
            C::TicketAllowedGroupTicketId => id_if(row, row.group.is_some()),
            C::TicketAllowedHostTicketId => id_if(row, row.host.is_some()),
            C::TicketId => id_if(row, true),
            _ => self.of_ticket_s_resource(row, column),
        }
    }

    /// A column of the resource that the ticket opens.
    fn of_ticket_s_resource(&self, row: &TicketRow, column: Column) -> String {
        use Column as C;
        let of_kind = |content: bool| {
            row.resource.as_ref().filter(|stat| stat.resource.content.is_some() == content)
        };
        match column {
            C::TicketObjectId => row.ticket.resource.to_string(),
            C::TicketObjectType if of_kind(true).is_some() => "data".to_owned(),
            C::TicketObjectType => "collection".to_owned(),
            C::TicketDataName => of_kind(true).map(|s| s.resource.name.clone()).unwrap_or_default(),
            C::TicketDataCollName => {
                let path = of_kind(true).and_then(|stat| stat.path.split_last());
                path.map(|(path, _)| self.path(&path)).unwrap_or_default()
            }
            _ => of_kind(false).map(|stat| self.path(&stat.path)).unwrap_or_default(),
        }
    }
}

/// The number of the ticket, for rows that have a value to go with it.
fn id_if(row: &TicketRow, is_shown: bool) -> String {
    if is_shown { number(&[&row.ticket.id]).to_string() } else { String::new() }
}
