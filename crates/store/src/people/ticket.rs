//! Tickets: access to one resource and what is below, for whoever shows them, within limits.
//!
//! Invariants: a use is counted in the same commit that grants it, so no race gives one too many; a ticket opens nothing
//! that who made it does not own any more.

use std::time::Duration;

use super::account::{by_name, nobody, person};
use super::authenticate::caller;
use crate::access::{Chain, Credential, TicketGrant};
use crate::catalog::{Reads, Record, TicketRecord, Transaction, keys};
use crate::model::{At, Level, PersonId, ResourceId, Time};
use crate::tree::find;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A ticket to be made. A limit of 0 is no limit; an empty list lets everybody use it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTicket {
    /// What it lets somebody do: at most [`Level::ModifyObject`].
    pub level: Level,
    /// How often it may be used.
    pub uses: u64,
    /// How often it may be used to write.
    pub writes: u64,
    /// How many bytes may be written with it.
    pub bytes: u64,
    /// How long it holds; for ever, if none.
    pub lifetime: Option<Duration>,
    /// Which users and groups may use it.
    pub persons: Vec<String>,
    /// From which addresses it may be used.
    pub hosts: Vec<String>,
}

/// A ticket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The secret that is shown.
    pub ticket: String,
    /// What it opens.
    pub resource: ResourceId,
    /// What it lets somebody do.
    pub level: Level,
    /// Who made it.
    pub issuer: PersonId,
    /// When it was made.
    pub created: Time,
    /// When it ends.
    pub expires: Option<Time>,
    /// Uses so far, and the limit.
    pub uses: (u64, u64),
    /// Writes so far, and the limit.
    pub writes: (u64, u64),
    /// Bytes written so far, and the limit.
    pub bytes: (u64, u64),
    /// Who may use it.
    pub persons: Vec<PersonId>,
    /// From where.
    pub hosts: Vec<String>,
}

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What a ticket is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketUse {
    /// To see what is there. It is not counted, but a ticket that is used up does not allow it.
    Look,
    /// To read a content.
    Read,
    /// To change something, with this many bytes.
    Write(u64),
    /// To go on with a change that was counted when it began, with this many bytes more.
    More(u64),
}

impl Store {
    /// Makes a ticket for a resource. Needs [`Level::Own`].
    pub fn add_ticket(&self, caller: &Caller, at: &At, new: &NewTicket) -> Result<Ticket> {
        let ticket = self.new_ticket();
        self.transact(|tx| {
            let id = find(tx, caller, at, Level::Own)?.id();
            let record = TicketRecord {
                resource: id,
                level: new.level.min(Level::ModifyObject),
                issuer: caller.user(),
                created: tx.now(),
                expires: new.lifetime.map(|lifetime| tx.now().plus(lifetime)),
                uses_limit: new.uses,
                uses: 0,
                writes_limit: new.writes,
                writes: 0,
                bytes_limit: new.bytes,
                bytes: 0,
                persons: persons(tx, &new.persons)?,
                hosts: new.hosts.clone(),
            };
            tx.put(keys::ticket(&ticket), &record);
            tx.mark(keys::ticket_on(id, &ticket));
            Ok(Ticket::new(&ticket, record))
        })
    }

    /// The tickets on a resource. Needs [`Level::Own`].
    pub fn tickets(&self, caller: &Caller, at: &At) -> Result<Vec<Ticket>> {
        let view = self.view()?;
        let id = find(&view, caller, at, Level::Own)?.id();
        let mut tickets = Vec::new();
        for ticket in names(&view, id)? {
            let record = view.get::<TicketRecord>(&keys::ticket(&ticket))?;
            tickets.extend(record.map(|record| Ticket::new(&ticket, record)));
        }
        Ok(tickets)
    }

    /// All tickets that the caller made; all there are, for an administrator.
    pub fn all_tickets(&self, caller: &Caller) -> Result<Vec<Ticket>> {
        all(&self.view()?, caller)
    }

    /// Removes a ticket. Its maker may, and who owns the resource.
    pub fn remove_ticket(&self, caller: &Caller, ticket: &str) -> Result<()> {
        self.transact(|tx| {
            let record = record(tx, ticket)?;
            if record.issuer != caller.user() || !caller.is_unlimited() {
                find(tx, caller, &At::Id(record.resource), Level::Own)?;
            }
            tx.delete(keys::ticket(ticket));
            tx.delete(keys::ticket_on(record.resource, ticket));
            Ok(())
        })
    }

    /// Lets the caller use a ticket once, from an address.
    pub fn use_ticket(
        &self,
        caller: &Caller,
        ticket: &str,
        host: &str,
        what: TicketUse,
    ) -> Result<TicketGrant> {
        self.transact(|tx| {
            let mut record = record(tx, ticket)?;
            record.check(caller, host, tx.now())?;
            require_issuer(tx, &record)?;
            record.count(what)?;
            let grant = TicketGrant {
                ticket: ticket.to_owned(),
                resource: record.resource,
                level: record.level,
                issuer: record.issuer,
            };
            if record.is_counted() && what != TicketUse::Look {
                tx.put(keys::ticket(ticket), &record);
            }
            Ok(grant)
        })
    }

    /// Counts a further use of the ticket that the caller shows, if they show one.
    pub fn count_use(&self, caller: &Caller, what: TicketUse) -> Result<()> {
        let Some(ticket) = caller.shown_ticket() else { return Ok(()) };
        self.transact(|tx| {
            let mut record = record(tx, ticket)?;
            record.count(what)?;
            if record.is_counted() {
                tx.put(keys::ticket(ticket), &record);
            }
            Ok(())
        })
    }

    fn new_ticket(&self) -> String {
        let random: [u8; 30] = self.random();
        let letter = |pair: &[u8]| {
            char::from(ALPHABET[usize::from(u16::from_be_bytes([pair[0], pair[1]])) % 62])
        };
        random.chunks(2).map(letter).collect()
    }
}

impl TicketRecord {
    fn is_counted(&self) -> bool {
        self.uses_limit > 0 || self.writes_limit > 0 || self.bytes_limit > 0
    }

    fn check(&self, caller: &Caller, host: &str, now: Time) -> Result<()> {
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(refused("has expired"));
        }
        if !self.persons.is_empty() && !self.persons.iter().any(|person| caller.is(*person)) {
            return Err(refused("is for other users"));
        }
        if !self.hosts.is_empty() && !self.hosts.iter().any(|known| known == host) {
            return Err(refused("is for other addresses"));
        }
        Ok(())
    }

    fn count(&mut self, what: TicketUse) -> Result<()> {
        let (uses, writes, bytes) = match what {
            TicketUse::Look if self.uses_limit > 0 && self.uses >= self.uses_limit => {
                return Err(refused("is used up"));
            }
            TicketUse::Look => (0, 0, 0),
            TicketUse::Read => (1, 0, 0),
            TicketUse::Write(bytes) => (1, 1, bytes),
            TicketUse::More(bytes) => (0, 0, bytes),
        };
        let counted = [
            (&mut self.uses, self.uses_limit, uses),
            (&mut self.writes, self.writes_limit, writes),
            (&mut self.bytes, self.bytes_limit, bytes),
        ];
        for (count, limit, more) in counted {
            *count = count.saturating_add(more);
            if limit > 0 && *count > limit {
                return Err(refused("is used up"));
            }
        }
        Ok(())
    }
}

impl Ticket {
    fn new(ticket: &str, record: TicketRecord) -> Self {
        Self {
            ticket: ticket.to_owned(),
            resource: record.resource,
            level: record.level,
            issuer: record.issuer,
            created: record.created,
            expires: record.expires,
            uses: (record.uses, record.uses_limit),
            writes: (record.writes, record.writes_limit),
            bytes: (record.bytes, record.bytes_limit),
            persons: record.persons,
            hosts: record.hosts,
        }
    }
}

/// The tickets that a caller made; all there are, for an administrator.
pub(crate) fn all(reads: &impl Reads, caller: &Caller) -> Result<Vec<Ticket>> {
    let rows = reads.rows(&keys::tickets(), usize::MAX)?;
    let mut tickets = Vec::new();
    for (key, value) in rows {
        let record = TicketRecord::from_value(&value)?;
        if is_shown(reads, caller, &record)? {
            tickets.push(Ticket::new(&String::from_utf8_lossy(&key[1..]), record));
        }
    }
    Ok(tickets)
}

/// A ticket is a secret: a token that may not make it is not shown it.
fn is_shown(reads: &impl Reads, caller: &Caller, record: &TicketRecord) -> Result<bool> {
    if record.issuer != caller.user() && !caller.is_admin() {
        return Ok(false);
    }
    if caller.is_unlimited() {
        return Ok(true);
    }
    match find(reads, caller, &At::Id(record.resource), Level::Own) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied) => Ok(false),
        found => found.map(|_| true),
    }
}

/// Deletes the tickets that a user made who goes.
pub(super) fn revoke_all(tx: &mut Transaction, issuer: PersonId) -> Result<()> {
    for (key, value) in tx.rows(&keys::tickets(), usize::MAX)? {
        let record = TicketRecord::from_value(&value)?;
        if record.issuer == issuer {
            tx.delete(keys::ticket_on(record.resource, &String::from_utf8_lossy(&key[1..])));
            tx.delete(key);
        }
    }
    Ok(())
}

/// Refuses a ticket whose maker could not make it any more.
fn require_issuer(reads: &impl Reads, record: &TicketRecord) -> Result<()> {
    let person = person(reads, record.issuer)?;
    let person = person.ok_or_else(|| refused("has ended: its maker is gone"))?;
    let issuer = caller(reads, record.issuer, &person, Credential::Password)?;
    let chain = Chain::read(reads, record.resource)?;
    match chain.is_some_and(|chain| chain.level(&issuer) == Level::Own) {
        true => Ok(()),
        false => Err(refused("has ended: its maker does not own what it opens")),
    }
}

/// Deletes the tickets of a resource that goes.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId) -> Result<()> {
    for ticket in names(tx, id)? {
        tx.delete(keys::ticket(&ticket));
        tx.delete(keys::ticket_on(id, &ticket));
    }
    Ok(())
}

fn names(reads: &impl Reads, id: ResourceId) -> Result<Vec<String>> {
    let rows = reads.rows(&keys::tickets_on(id), usize::MAX)?;
    Ok(rows.iter().map(|(key, _)| String::from_utf8_lossy(&key[9..]).into_owned()).collect())
}

fn record(reads: &impl Reads, ticket: &str) -> Result<TicketRecord> {
    if ticket.len() > 256 {
        return Err(refused("is unknown"));
    }
    reads.get(&keys::ticket(ticket))?.ok_or_else(|| refused("is unknown"))
}

fn persons(reads: &impl Reads, names: &[String]) -> Result<Vec<PersonId>> {
    names.iter().map(|name| Ok(by_name(reads, name)?.ok_or_else(|| nobody(name))?.0)).collect()
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, format!("the ticket {why}"))
        .with_hint("ask who gave it to you for another")
}
