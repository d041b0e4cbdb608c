//! Tickets: access to one resource and everything below, for everybody who presents them, within limits.
//!
//! Invariants: a use is counted in the same commit that grants it, so no race gives one too many; a ticket opens nothing
//! that its creator does not own any more, or does not read if it is for reading only; the catalog keeps the SHA-256 of its letters only, which are random enough (89
//! bits) that nobody finds them from that.

use std::time::Duration;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::account::{by_name, nobody, person};
use super::authenticate::caller;
use crate::access::{Act, Chain, Credential, Operation, TicketGrant};
use crate::catalog::{Reads, Record, TicketRecord, Transaction, keys};
use crate::model::{At, PersonId, ResourceId, Rights, Time};
use crate::resources::find;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// A ticket to create. A limit of 0 is no limit; an empty list lets everybody use it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTicket {
    /// What it allows: at most [`Rights::MODIFY_OBJECT`].
    pub rights: Rights,
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

/// The SHA-256 of the letters of a ticket.
pub(crate) type TicketDigest = [u8; 32];

/// A ticket, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// Names it: the first 8 bytes of its digest, in hexadecimal digits. It opens nothing.
    pub id: String,
    /// What it opens.
    pub resource: ResourceId,
    /// What it allows.
    pub rights: Rights,
    /// The user who created it.
    pub issuer: PersonId,
    /// When it was created.
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

/// Bytes of a digest that are an id.
const ID: usize = 8;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What a ticket is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TicketUse {
    /// Looking at a resource. It is not counted, but a ticket that is used up does not allow it.
    Look,
    /// To read a content.
    Read,
    /// To change something, with this many bytes.
    Write(u64),
    /// To continue with a change that was counted when it began, with this many bytes more.
    More(u64),
}

impl Store {
    /// Creates a ticket for a resource. The secret is returned here, and never again. Needs [`Rights::CONTROL`].
    pub fn add_ticket(
        &self,
        caller: &Caller,
        at: &At,
        new: &NewTicket,
    ) -> Result<(String, Ticket)> {
        self.keep_ticket(caller, new, |tx| {
            let id = find(tx, caller, at, Operation::Tickets)?.id();
            Ok((id, new.rights.intersection(Rights::MODIFY_OBJECT), None))
        })
    }

    /// Creates a ticket for reading one content, for a logged-in user who may read it. It grants no more than its creator has, and ends when
    /// they read it no more. Needs [`Rights::READ_CONTENT`].
    pub fn add_reading_ticket(
        &self,
        caller: &Caller,
        at: &At,
        lifetime: Duration,
    ) -> Result<(String, Ticket)> {
        if caller.is_anonymous() {
            caller.require(Act::Account)?;
        }
        let new = NewTicket { lifetime: Some(lifetime), ..NewTicket::default() };
        self.keep_ticket(caller, &new, |tx| {
            let chain = find(tx, caller, at, Operation::Read)?;
            let rights = chain.rights(caller).intersection(Rights::READ_OBJECT);
            Ok((chain.id(), rights, Some(true)))
        })
    }

    /// Keeps a ticket for a resource, with rights, by somebody who reads or who controls.
    fn keep_ticket(
        &self,
        caller: &Caller,
        new: &NewTicket,
        permit: impl Fn(&Transaction) -> Result<(ResourceId, Rights, Option<bool>)>,
    ) -> Result<(String, Ticket)> {
        let secret = self.new_ticket();
        let digest = digest(&secret);
        let ticket = self.transact(|tx| {
            let (id, rights, by_reader) = permit(tx)?;
            let record = TicketRecord {
                resource: id,
                rights,
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
                by_reader,
            };
            tx.put(keys::ticket(&digest), &record);
            tx.mark(keys::ticket_on(id, &digest));
            Ok(Ticket::new(&digest, record))
        })?;
        Ok((secret, ticket))
    }

    /// The tickets on a resource. Needs [`Rights::CONTROL`].
    pub fn tickets(&self, caller: &Caller, at: &At) -> Result<Vec<Ticket>> {
        let view = self.view()?;
        let id = find(&view, caller, at, Operation::Tickets)?.id();
        let mut tickets = Vec::new();
        for digest in digests(&view, id)? {
            let record = view.get::<TicketRecord>(&keys::ticket(&digest))?;
            tickets.extend(record.map(|record| Ticket::new(&digest, record)));
        }
        Ok(tickets)
    }

    /// All tickets that the caller made; all there are, for an administrator.
    pub fn all_tickets(&self, caller: &Caller) -> Result<Vec<Ticket>> {
        all(&self.view()?, caller)
    }

    /// Removes a ticket, given by its secret or by its id. Allowed for its creator, and for those who own the resource.
    pub fn remove_ticket(&self, caller: &Caller, ticket: &str) -> Result<()> {
        let removed = self.transact(|tx| {
            let digest = named(tx, ticket)?;
            let record = record(tx, &digest)?;
            if record.issuer != caller.user() || !caller.is_unlimited() {
                find(tx, caller, &At::Id(record.resource), Operation::Tickets)?;
            }
            tx.delete(keys::ticket(&digest));
            tx.delete(keys::ticket_on(record.resource, &digest));
            Ok(())
        });
        self.wake_followers();
        removed
    }

    /// Lets the caller use a ticket once, from an address.
    pub fn use_ticket(
        &self,
        caller: &Caller,
        ticket: &str,
        host: &str,
        what: TicketUse,
    ) -> Result<TicketGrant> {
        let digest = digest(ticket);
        self.transact(|tx| {
            let mut record = record(tx, &digest)?;
            record.check_host(host)?;
            let grant = grant(tx, caller, (digest, &record), tx.now())?;
            record.count(what)?;
            if record.is_counted() && what != TicketUse::Look {
                tx.put(keys::ticket(&digest), &record);
            }
            Ok(grant)
        })
    }

    /// Counts a further use of the ticket that the caller shows, if they show one: a commit on this thread. Without a ticket it costs
    /// nothing, so it can be called for each of many entries.
    pub fn count_use(&self, caller: &Caller, what: TicketUse) -> Result<()> {
        let Some(digest) = caller.shown_ticket() else { return Ok(()) };
        let count = |tx: &mut Transaction| {
            let mut record = record(tx, digest)?;
            record.count(what)?;
            if record.is_counted() {
                tx.put(keys::ticket(digest), &record);
            }
            Ok(())
        };
        self.in_place(|store| store.transact(count))
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

    fn check(&self, caller: &Caller, now: Time) -> Result<()> {
        if self.expires.is_some_and(|expires| expires <= now) {
            return Err(refused("has expired"));
        }
        if !self.persons.is_empty() && !self.persons.iter().any(|person| caller.is(*person)) {
            return Err(refused("is for other users"));
        }
        Ok(())
    }

    fn check_host(&self, host: &str) -> Result<()> {
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
    fn new(digest: &[u8], record: TicketRecord) -> Self {
        Self {
            id: hex::encode(digest.get(..ID).unwrap_or(digest)),
            resource: record.resource,
            rights: record.rights,
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
            tickets.push(Ticket::new(&key[1..], record));
        }
    }
    Ok(tickets)
}

/// A token is shown those tickets that it could make.
fn is_shown(reads: &impl Reads, caller: &Caller, record: &TicketRecord) -> Result<bool> {
    if record.issuer != caller.user() && !caller.may(Act::OthersWork) {
        return Ok(false);
    }
    if caller.is_unlimited() {
        return Ok(true);
    }
    match find(reads, caller, &At::Id(record.resource), Operation::Tickets) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Denied) => Ok(false),
        found => found.map(|_| true),
    }
}

/// Deletes the tickets created by a user who is removed.
pub(super) fn revoke_all(tx: &mut Transaction, issuer: PersonId) -> Result<()> {
    for (key, value) in tx.rows(&keys::tickets(), usize::MAX)? {
        let record = TicketRecord::from_value(&value)?;
        if record.issuer == issuer {
            tx.delete(keys::ticket_on(record.resource, &key[1..]));
            tx.delete(key);
        }
    }
    Ok(())
}

/// What a ticket opens to a caller now.
fn grant(
    reads: &impl Reads,
    caller: &Caller,
    (digest, record): (TicketDigest, &TicketRecord),
    now: Time,
) -> Result<TicketGrant> {
    record.check(caller, now)?;
    let rights = lent(reads, record)?;
    let TicketRecord { resource, issuer, expires, .. } = *record;
    Ok(TicketGrant { digest, resource, rights, issuer, expires })
}

/// The same for a ticket that was shown when a request began, and whose address was checked then.
pub(super) fn renewed(
    reads: &impl Reads,
    caller: &Caller,
    shown: &TicketGrant,
    now: Time,
) -> Result<TicketGrant> {
    let mut record = record(reads, &shown.digest)?;
    record.count(TicketUse::Look)?;
    grant(reads, caller, (shown.digest, &record), now)
}

/// The rights of a ticket; refused if its creator could not create it any more.
fn lent(reads: &impl Reads, record: &TicketRecord) -> Result<Rights> {
    let person = person(reads, record.issuer)?;
    let person = person.ok_or_else(|| refused("has ended: its creator was removed"))?;
    let issuer = caller(record.issuer, &person, Credential::Password);
    let chain = Chain::read(reads, record.resource)?;
    let held = chain.map_or(Rights::NONE, |chain| chain.rights(&issuer));
    match record.by_reader {
        Some(true) if held.allow(Operation::Read) => Ok(record.rights.intersection(held)),
        Some(true) => Err(refused("has ended: its creator may no longer read the resource")),
        _ if held.allow(Operation::Tickets) => Ok(record.rights),
        _ => Err(refused("has ended: its creator no longer owns the resource")),
    }
}

/// Deletes the tickets of a resource that is deleted.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId) -> Result<()> {
    for digest in digests(tx, id)? {
        tx.delete(keys::ticket(&digest));
        tx.delete(keys::ticket_on(id, &digest));
    }
    Ok(())
}

/// The digests of the tickets of a resource.
fn digests(reads: &impl Reads, id: ResourceId) -> Result<Vec<Bytes>> {
    let rows = reads.rows(&keys::tickets_on(id), usize::MAX)?;
    Ok(rows.iter().map(|(key, _)| key.slice(keys::TICKET_AT..)).collect())
}

pub(crate) fn digest(ticket: &str) -> TicketDigest {
    Sha256::digest(ticket.as_bytes()).into()
}

/// The digest of the ticket that is named by its secret or by its id.
fn named(reads: &impl Reads, name: &str) -> Result<Bytes> {
    let whole = digest(name);
    if reads.value(&keys::ticket(&whole))?.is_some() {
        return Ok(Bytes::copy_from_slice(&whole));
    }
    let begin = id_bytes(name).ok_or_else(|| refused("is unknown"))?;
    let rows = reads.rows(&keys::tickets_like(&begin), 1)?;
    rows.first().map(|(key, _)| key.slice(1..)).ok_or_else(|| refused("is unknown"))
}

/// The bytes encoded in an id.
fn id_bytes(id: &str) -> Option<[u8; ID]> {
    let is_id = id.len() == 2 * ID && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = is_id.then(|| u64::from_str_radix(id, 16).ok()).flatten()?;
    Some(number.to_be_bytes())
}

fn record(reads: &impl Reads, digest: &[u8]) -> Result<TicketRecord> {
    reads.get(&keys::ticket(digest))?.ok_or_else(|| refused("is unknown"))
}

fn persons(reads: &impl Reads, names: &[String]) -> Result<Vec<PersonId>> {
    names.iter().map(|name| Ok(by_name(reads, name)?.ok_or_else(|| nobody(name))?.0)).collect()
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, format!("the ticket {why}"))
        .with_hint("ask the person who gave it to you for another one")
}
