//! Replicas as a caller sees them, and what an administrator may change of them.

use std::collections::BTreeMap;

use crate::access::{Act, Chain, Operation};
use crate::catalog::{BlobCopy, BlobRecord, ChangeKind, Reads, keys};
use crate::contents::read::{content_of, no_replica};
use crate::contents::{blob_ids, resolve};
use crate::model::{
    At, Changed, ContentHead, PlaceId, Placement, Replica, Replicas, Resource, Stat, Time,
};
use crate::resources::{count_change, find, rewrite_record, update};
use crate::{Caller, Error, Result, Store, versions};

/// A replica of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicaView {
    /// Its number.
    pub number: u32,
    /// Where it is.
    pub place: PlaceId,
    /// The name of the place; `#id` for a removed one.
    pub place_name: String,
    /// Whether it holds the current content.
    pub good: bool,
    /// What it holds: size, digests and tag of its bytes.
    pub content: ContentHead,
    /// The file that was registered in place, or in which the place stores it, if it is one file on this machine. For
    /// administrators only: it says how the machine is laid out.
    pub file: Option<String>,
    /// Whether the file was registered in place.
    pub registered: bool,
    /// When it was created.
    pub created: Time,
    /// When what it holds was written.
    pub modified: Time,
    /// What openings keep with it.
    pub notes: BTreeMap<String, String>,
}

/// Changes of a replica; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReplicaChange {
    /// `true` makes what it holds the current content, and good ones that hold something else stale; `false` says that
    /// it is not to be relied on.
    pub good: Option<bool>,
    /// Another number.
    pub number: Option<u32>,
    /// When it was created.
    pub created: Option<Time>,
    /// When what it holds was written.
    pub modified: Option<Time>,
    /// What an opening keeps with it; `None` forgets a word.
    pub notes: BTreeMap<String, Option<String>>,
}

impl Store {
    /// The replicas of an object, by number. Needs `Rights::READ_DESCRIPTION`.
    pub fn replicas(&self, caller: &Caller, at: &At) -> Result<Vec<ReplicaView>> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::Stat)?;
        self.replicas_of(&view, caller, chain.resource())
    }

    /// The replicas of a resource; none, for what has no content.
    pub(crate) fn replicas_of(
        &self,
        reads: &impl Reads,
        caller: &Caller,
        resource: &Resource,
    ) -> Result<Vec<ReplicaView>> {
        let Some(current) = &resource.content else { return Ok(Vec::new()) };
        let replicas = resource.replicas();
        let view = |replica: &Replica| {
            let view = self.replica_view(reads, current, replica)?;
            let file = view.file.filter(|_| caller.may(Act::Addresses));
            Ok(ReplicaView { file, ..view })
        };
        replicas.iter().map(view).collect()
    }

    fn replica_view(
        &self,
        reads: &impl Reads,
        current: &ContentHead,
        replica: &Replica,
    ) -> Result<ReplicaView> {
        let content = replica.content(current).clone();
        let (file, registered) = self.file_of(reads, &content, replica.place)?;
        Ok(ReplicaView {
            number: replica.number,
            place: replica.place,
            place_name: self.known().name(replica.place),
            good: replica.is_good(),
            content,
            file,
            registered,
            created: replica.created,
            modified: replica.modified,
            notes: replica.notes.clone(),
        })
    }

    /// The one file of a content in a place, if it has one; and whether it was registered.
    fn file_of(
        &self,
        reads: &impl Reads,
        head: &ContentHead,
        place: PlaceId,
    ) -> Result<(Option<String>, bool)> {
        let extents = resolve(reads, head)?;
        let (1, Some(blob)) = (extents.len(), blob_ids(&extents).next()) else {
            return Ok((None, false));
        };
        let record = reads.get::<BlobRecord>(&keys::blob(blob))?;
        Ok(match record.as_ref().and_then(|record| record.copy_in(place)) {
            Some(BlobCopy::Outside(_, path)) => (Some(path.clone()), true),
            Some(BlobCopy::Kept(_)) => {
                let known = self.known();
                let path = known.open(place).ok().and_then(|place| place.local_path(blob));
                (path.map(|path| path.display().to_string()), false)
            }
            None => (None, false),
        })
    }

    /// Changes the attributes of a replica: all of them or none. A modification time of the first good one is
    /// what the object shows, as one that a client set. Needs [`Act::Replicas`]; for notes alone
    /// `Rights::CHANGE_DESCRIPTION`.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound) for a number that no replica has,
    /// [`Exists`](crate::ErrorKind::Exists) for a new one that another has.
    pub fn change_replica(
        &self,
        caller: &Caller,
        at: &At,
        number: u32,
        change: &ReplicaChange,
    ) -> Result<Stat> {
        let needed = needed_for(caller, change)?;
        self.transact(|tx| {
            let chain = find(tx, caller, at, needed)?;
            let head = content_of(&chain, at)?;
            let mut stat = Stat::from(chain.clone());
            apply(&mut stat.resource, &head, number, change)?;
            self.rewrite_or_update(tx, caller, &chain, &mut stat)?;
            Ok(stat)
        })
    }

    fn rewrite_or_update(
        &self,
        tx: &mut crate::catalog::Transaction,
        caller: &Caller,
        chain: &Chain,
        stat: &mut Stat,
    ) -> Result<()> {
        let old = chain.resource();
        if old.content == stat.resource.content {
            rewrite_record(tx, stat.id, old, &stat.resource);
            return Ok(());
        }
        versions::keep_replaced(tx, caller, chain, &mut stat.resource, None)?;
        count_change(tx, &mut stat.resource, Changed::Content, caller.user());
        update(tx, ChangeKind::Written, stat.id, old, &stat.resource);
        Ok(())
    }
}

/// What a change is.
fn needed_for(caller: &Caller, change: &ReplicaChange) -> Result<Operation> {
    let notes = change.notes.clone();
    if *change == (ReplicaChange { notes, ..ReplicaChange::default() }) {
        return Ok(Operation::SetAttributes);
    }
    caller.require(Act::Replicas)?;
    Ok(Operation::Stat)
}

/// What a resource, whose content is `head`, says after a change of a replica.
fn apply(
    resource: &mut Resource,
    head: &ContentHead,
    number: u32,
    change: &ReplicaChange,
) -> Result<()> {
    let mut replicas = resource.replicas();
    let first_good = replicas.iter().find(|replica| replica.is_good()).map(|r| r.number);
    let replica = replicas.get_mut(number).ok_or_else(|| no_replica(number))?;
    annotate(replica, change);
    if change.modified.is_some() && first_good == Some(number) {
        resource.mtime = change.modified;
    }
    if change.good == Some(false) && replica.is_good() {
        replica.stale = Some(head.clone());
    }
    let promoted = replica.stale.clone().filter(|_| change.good == Some(true));
    if let Some(content) = promoted {
        promote(&mut replicas, head, &content);
        resource.content = Some(content);
    }
    let to = change.number.unwrap_or(number);
    if !replicas.renumber(number, to) {
        return Err(Error::exists(format!("replica {to}")));
    }
    resource.placement = Placement::Replicas(replicas);
    Ok(())
}

fn annotate(replica: &mut Replica, change: &ReplicaChange) {
    replica.created = change.created.unwrap_or(replica.created);
    replica.modified = change.modified.unwrap_or(replica.modified);
    for (word, text) in &change.notes {
        match text {
            Some(text) => drop(replica.notes.insert(word.clone(), text.clone())),
            None => drop(replica.notes.remove(word)),
        }
    }
}

/// Makes `content` the current one: exactly the replicas that hold it are good.
fn promote(replicas: &mut Replicas, before: &ContentHead, content: &ContentHead) {
    for replica in replicas.iter_mut() {
        let held = replica.content(before).clone();
        replica.stale = (held.id != content.id).then_some(held);
    }
}
