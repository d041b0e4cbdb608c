//! Rows about neither objects nor collections: users, quotas, tickets, storage resources, zones, delayed rules. There
//! are few of them, so all are examined.

use cenote_store::{PersonId, PersonKind, QuotaOf};

use super::super::column::Entity;
use super::row::{QuotaRow, Row, TicketRow};
use super::source::{Each, Source};
use super::token::TOKENS;
use super::zone::Resource;
use crate::Result;

impl Source<'_> {
    /// Yields every row of the first of these that the query is about.
    pub(crate) fn others(&self, each: Each<'_>) -> Result<()> {
        if self.about(Entity::Quota) {
            return self.quotas(each);
        }
        if self.about(Entity::Ticket) {
            return self.tickets(each);
        }
        if self.about(Entity::User) || self.about(Entity::UserAvu) {
            return self.users(each);
        }
        if self.about(Entity::Resource) || self.about(Entity::ResourceAvu) {
            return self.resources(each);
        }
        if self.about(Entity::Rule) {
            self.rules(each)
        } else if self.about(Entity::Token) {
            let mut tokens = TOKENS.iter();
            tokens.try_for_each(|token| each(Row { token: Some(*token), ..Row::default() }))
        } else {
            self.zones(each)
        }
    }

    fn users(&self, each: Each<'_>) -> Result<()> {
        if !self.reading.may_list_persons() {
            return Ok(());
        }
        for (id, person) in &self.names.persons {
            for user_avu in self.avus(Entity::UserAvu, id.0)? {
                each(Row { user: Some((*id, person.clone())), user_avu, ..Row::default() })?;
            }
        }
        Ok(())
    }

    /// The quotas of users and groups that limit bytes: iRODS has no others.
    fn quotas(&self, each: Each<'_>) -> Result<()> {
        for quota in self.reading.quotas()? {
            let (QuotaOf::User(owner) | QuotaOf::Group(owner)) = quota.of else { continue };
            let Some(limit) = quota.hard.bytes.or(quota.soft.bytes) else { continue };
            let person = self.names.persons.get(&owner);
            let user = person.map(|person| (owner, person.clone()));
            let used = quota.total.map(|total| total.bytes);
            each(Row { quota: Some(QuotaRow { owner, limit, used }), user, ..Row::default() })?;
        }
        Ok(())
    }

    /// A ticket has a row for each combination of the entries in its lists of permitted users.
    fn tickets(&self, each: Each<'_>) -> Result<()> {
        for ticket in self.reading.tickets()? {
            let resource = self.reading.stat(&ticket.resource.into())?;
            let known = &self.names.persons;
            let is_group = |id: &PersonId| {
                known.get(id).is_some_and(|person| person.kind == PersonKind::Group)
            };
            let (groups, users): (Vec<_>, Vec<_>) =
                ticket.persons.iter().copied().partition(is_group);
            for user in or_none(users) {
                for group in or_none(groups.clone()) {
                    for host in or_none(ticket.hosts.clone()) {
                        let (ticket, resource) = (ticket.clone(), resource.clone());
                        let row = TicketRow { ticket, resource, user, group, host };
                        each(Row { ticket: Some(row), ..Row::default() })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn resources(&self, each: Each<'_>) -> Result<()> {
        for resource in &self.names.zone.resources {
            self.resource(resource, &Row::default(), each)?;
        }
        Ok(())
    }

    /// The rows of a storage resource: one for each of its attributes, if they are needed.
    pub(crate) fn resource(&self, resource: &Resource, row: &Row, each: Each<'_>) -> Result<()> {
        let avus = match self.about(Entity::ResourceAvu) {
            true => self.joined(resource.avus.clone()),
            false => vec![None],
        };
        for resource_avu in avus {
            each(Row { resource: Some(resource.clone()), resource_avu, ..row.clone() })?;
        }
        Ok(())
    }

    fn rules(&self, each: Each<'_>) -> Result<()> {
        let mut rules = self.names.zone.delayed.iter();
        rules.try_for_each(|rule| each(Row { rule: Some(rule.clone()), ..Row::default() }))
    }

    fn zones(&self, each: Each<'_>) -> Result<()> {
        each(Row::default())?;
        let mut zones = self.names.zone.remote.iter();
        zones.try_for_each(|zone| each(Row { remote: Some(zone.clone()), ..Row::default() }))
    }
}

fn or_none<T>(items: Vec<T>) -> Vec<Option<T>> {
    match items.is_empty() {
        true => vec![None],
        false => items.into_iter().map(Some).collect(),
    }
}
