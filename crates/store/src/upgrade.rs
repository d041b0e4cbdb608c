//! A store of an earlier format becomes one of this, a step after the other.
//!
//! Invariant: a step that was cut off can be run again; the number of the format is written with its last change.

mod groups;
mod objects;
mod placements;

use std::collections::{BTreeSet, HashMap};

use cenote_kv::{KeyRange, ScanOptions};
use minicbor::{Decode, Encode};

use crate::catalog::keys::{self, Counter};
use crate::catalog::{
    BlobRecord, GraphRecord, Reads, Record, TicketRecord, Transaction, UploadRecord, VersionRecord,
};
use crate::contents::resolve;
use crate::formats::Format;
use crate::metadata::{self, whole};
use crate::model::{
    Access, ContentHead, Digests, Extent, Grant, PersonId, Piece, PlaceId, Resource, ResourceId,
    Rights,
};
use crate::people::{TicketDigest, ticket_digest};
use crate::resources::{grant_entries, rewrite_record};
use crate::{Bytes, Result, Store};

/// How many records one commit may change.
const STEP: usize = 100;
/// How many entries of an index it may change.
const MANY: usize = 4_096;
/// A range of at most this many bytes was always read as it is.
const READ_RIGHT: u64 = 1 << 20;

impl Store {
    /// Brings a store of an earlier format to a later one.
    pub(crate) fn upgrade(&self, from: u32, to: u32) -> Result<()> {
        if from < 2 {
            self.count_copies()?;
        }
        if from < 3 {
            self.name_anonymous()?;
        }
        if from < 4 {
            self.forget_computed_digests()?;
        }
        if from < 5 {
            self.hash_tickets()?;
            self.index_grants()?;
        }
        if from < 6 {
            self.index_statements()?;
            self.admit_sets()?;
        }
        if from < 7 {
            self.record_classes()?;
        }
        if from < 8 {
            self.record_groups()?;
            self.index_objects(from)?;
        }
        if from < 9 {
            self.record_placements()?;
        }
        if from < to {
            self.record_format(to)?;
        }
        Ok(())
    }

    fn record_format(&self, format: u32) -> Result<()> {
        self.transact(|tx| {
            tx.put(keys::setting("format"), &Format(format));
            Ok(())
        })
    }

    /// From format 1 to 2: copies of blobs are counted.
    fn count_copies(&self) -> Result<()> {
        let mut copies = HashMap::<PlaceId, (i64, i64)>::new();
        let view = self.view()?;
        for row in view.snapshot.scan(&keys::blobs(), ScanOptions::default()) {
            let record = BlobRecord::from_value(&row?.1)?;
            for copy in &record.copies {
                let (count, bytes) = copies.entry(copy.place()).or_default();
                *count += 1;
                *bytes += record.size as i64;
            }
        }
        self.transact(|tx| {
            for (place, (count, bytes)) in &copies {
                tx.add(place.0, Counter::Resources, *count);
                tx.add(place.0, Counter::Bytes, *bytes);
            }
            tx.put(keys::setting("format"), &Format(2));
            Ok(())
        })
    }

    /// From format 2 to 3: `public` no longer means callers without a login, so that those get lines of their own wherever
    /// they were let in.
    fn name_anonymous(&self) -> Result<()> {
        self.each(keys::resources(), |tx, key, mut resource: Resource| {
            if copy_public_to_anonymous(&mut resource.access) {
                tx.put(key.clone(), &resource);
            }
        })?;
        self.record_format(3)
    }

    /// From format 3 to 4: programs of that format could read wrong bytes, so what they computed from bytes that
    /// they read is forgotten. Upkeep computes it again.
    fn forget_computed_digests(&self) -> Result<()> {
        self.each(keys::resources(), |tx, key, old: Resource| {
            let mut new = old.clone();
            let stale = new.placement.listed_mut().filter_map(|replica| replica.stale.as_mut());
            new.content.iter_mut().chain(stale).for_each(|head| forget(tx, head));
            if new != old {
                rewrite_record(tx, ResourceId(keys::first_id(key).unwrap_or_default()), &old, &new);
            }
        })?;
        self.each(keys::all_versions(), |tx, key, old: VersionRecord| {
            let mut new = old.clone();
            new.content.iter_mut().for_each(|head| forget(tx, head));
            if new != old {
                tx.put(key.clone(), &new);
            }
        })?;
        self.record_format(4)
    }

    /// From format 4 to 5: of a ticket its SHA-256 is kept, where its letters were, in uploads, too.
    fn hash_tickets(&self) -> Result<()> {
        self.each(keys::tickets(), |tx, key, ticket: TicketRecord| {
            if let Some(letters) = letters(key) {
                let digest = ticket_digest(&letters);
                tx.delete(key.clone());
                tx.delete(keys::ticket_on(ticket.resource, letters.as_bytes()));
                tx.put(keys::ticket(&digest), &ticket);
                tx.mark(keys::ticket_on(ticket.resource, &digest));
            }
        })?;
        let mut shown = Vec::new();
        for row in self.view()?.rows(&keys::uploads(), usize::MAX)? {
            let ticket = ShownTicket::from_value(&row.1).ok().and_then(|shown| shown.ticket);
            shown.extend(ticket.map(|ticket| (row.0, ticket_digest(&ticket))));
        }
        for some in shown.chunks(STEP) {
            self.transact(|tx| {
                for (key, digest) in some {
                    if let Some(record) = tx.get::<UploadRecord>(key)? {
                        tx.put(key.clone(), &UploadRecord { ticket: Some(*digest), ..record });
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// From format 4 to 5: grants are found by the person whom they name. A large description may be spread over rows:
    /// one that is not is spread when it is changed.
    fn index_grants(&self) -> Result<()> {
        self.each(keys::resources(), |tx, key, resource: Resource| {
            let id = ResourceId(keys::first_id(key).unwrap_or_default());
            grant_entries(id, &resource).into_iter().for_each(|entry| tx.mark(entry));
        })?;
        self.record_format(5)
    }

    /// From format 5 to 6: statements are found in three orders, and by the value of their objects. The index is rebuilt.
    fn index_statements(&self) -> Result<()> {
        keys::all_statements().iter().try_for_each(|table| self.clear(table))?;
        self.mark_entries(|_| true)
    }

    /// Puts those entries of the index that are wanted. Undecodable records are left to the check.
    fn mark_entries(&self, is_wanted: impl Fn(&Bytes) -> bool) -> Result<()> {
        let (view, mut entries) = (self.view()?, Vec::new());
        for row in view.snapshot.scan(&keys::graphs(), ScanOptions::default()) {
            let (key, value) = row?;
            let id = keys::first_id(&key).unwrap_or_default();
            let record = GraphRecord::from_value(&value);
            if let Ok(graph) = record.and_then(|record| whole(&view, id, record)) {
                entries.extend(metadata::entries(id, &graph).into_iter().filter(&is_wanted));
            }
            if entries.len() >= MANY {
                self.mark_all(&std::mem::take(&mut entries))?;
            }
        }
        self.mark_all(&entries)
    }

    fn clear(&self, table: &KeyRange) -> Result<()> {
        let mut range = table.clone();
        // Not from the beginning again: an engine passes over each row that was deleted there.
        while let Some(last) = self.transact(|tx| {
            let rows = tx.rows(&range, MANY)?;
            rows.iter().for_each(|(key, _)| tx.delete(key.clone()));
            Ok(rows.last().map(|(key, _)| key.clone()))
        })? {
            range = range.after(&last);
        }
        Ok(())
    }

    fn mark_all(&self, entries: &[Bytes]) -> Result<()> {
        entries.chunks(MANY).try_for_each(|some| {
            self.transact(|tx| {
                some.iter().for_each(|entry| tx.mark(entry.clone()));
                Ok(())
            })
        })
    }

    /// From format 5 to 6: a grant may have any set of rights, which programs of that format cannot read. Those that are
    /// levels stay as they are.
    fn admit_sets(&self) -> Result<()> {
        self.record_format(6)
    }

    /// From format 6 to 7: lines of access lists may be restricted, which programs of that format would not heed; and records have the
    /// classes that resources are described to have. The index leads to those that have some.
    fn record_classes(&self) -> Result<()> {
        let mut range = metadata::classified();
        loop {
            let last = self.transact(|tx| {
                let rows = tx.rows(&range, STEP)?;
                let ids: BTreeSet<_> =
                    rows.iter().filter_map(|(key, _)| keys::last_id(key)).collect();
                ids.into_iter().try_for_each(|id| classify(tx, ResourceId(id)))?;
                Ok(rows.last().map(|(key, _)| key.clone()).filter(|_| rows.len() == STEP))
            })?;
            match last {
                Some(last) => range = range.after(&last),
                None => break,
            }
        }
        self.record_format(7)
    }

    /// Changes the records of a table in commits of bounded size. Undecodable records are left to the check.
    fn each<T: Record>(
        &self,
        mut range: KeyRange,
        change: impl Fn(&mut Transaction, &Bytes, T),
    ) -> Result<()> {
        loop {
            let last = self.transact(|tx| {
                let rows = tx.rows(&range, STEP)?;
                for (key, value) in &rows {
                    if let Ok(record) = T::from_value(value) {
                        change(tx, key, record);
                    }
                }
                Ok(rows.last().map(|(key, _)| key.clone()).filter(|_| rows.len() == STEP))
            })?;
            match last {
                Some(last) => range = range.after(&last),
                None => return Ok(()),
            }
        }
    }
}

/// Records the classes of a resource, the first time that it is met. Undecodable records are left to the check, and people and places have
/// none.
fn classify(tx: &mut Transaction, id: ResourceId) -> Result<()> {
    let value = tx.value(&keys::resource(id))?;
    let resource = value.and_then(|value| Resource::from_value(&value).ok());
    let unclassified = resource.filter(|resource| resource.access.classes.is_empty());
    let Some(mut resource) = unclassified else { return Ok(()) };
    if let Ok(classes) = metadata::classes(tx, id.0) {
        resource.access.classes = classes;
        tx.put(keys::resource(id), &resource);
    }
    Ok(())
}

/// The letters of a ticket, in whose place its digest has not been put yet.
fn letters(key: &Bytes) -> Option<String> {
    let name = key.get(1..).filter(|name| name.len() != size_of::<TicketDigest>())?;
    String::from_utf8(name.to_vec()).ok()
}

/// A field of uploads in format 4: the ticket with which it was created.
#[derive(Debug, Encode, Decode)]
struct ShownTicket {
    #[n(12)]
    ticket: Option<String>,
}

/// Gives callers without a login the rights that everybody has; returns whether that was more than they had.
fn copy_public_to_anonymous(access: &mut Access) -> bool {
    let before = access.clone();
    for grant in &before.grants {
        let of_anonymous =
            |other: &&Grant| other.person == PersonId::ANONYMOUS && other.scope == grant.scope;
        let rights = before.grants.iter().find(of_anonymous).map_or(Rights::NONE, |own| own.rights);
        if grant.person == PersonId::PUBLIC && !rights.contains(grant.rights) {
            access.set(PersonId::ANONYMOUS, grant.rights, grant.scope);
        }
    }
    *access != before
}

/// Forgets the digests of a content if they may be those of other bytes. The tag of one that is known to have been
/// computed does not depend on them.
fn forget(tx: &Transaction, head: &mut ContentHead) {
    let known = head.digests.sha256.is_some();
    if known && (head.digested_later || was_read_wrong(tx, head)) {
        head.digests = Digests::default();
    }
}

/// Whether a read of the whole went beyond an extent: one of more than two chunks, of a blob that continues after it.
fn was_read_wrong(tx: &Transaction, head: &ContentHead) -> bool {
    let cut = |extent: &Extent| match &extent.piece {
        Piece::Blob(blob) if extent.length > READ_RIGHT => {
            let record = tx.get::<BlobRecord>(&keys::blob(*blob)).ok().flatten();
            record.is_some_and(|record| extent.start + extent.length < record.size)
        }
        _ => false,
    };
    head.size > READ_RIGHT && resolve(tx, head).is_ok_and(|extents| extents.iter().any(cut))
}
