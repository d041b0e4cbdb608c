//! Replicating and trimming: more copies of the current content of an object, and fewer.

use std::sync::Arc;

use crate::access::{Chain, Operation};
use crate::catalog::{BlobCopy, BlobRecord, Reads, Transaction, keys};
use crate::contents::patches::compact::merge;
use crate::contents::read::{content_of, no_replica};
use crate::contents::sweep::Pin;
use crate::contents::{NewBlob, blob_ids, count_copy, resolve, store_content};
use crate::model::{
    At, Content, ContentHead, ContentId, Piece, PlaceId, Replica, Replicas, ResourceId, Stat,
};
use crate::places::Destination;
use crate::resources::{find, locate, rewrite_record};
use crate::{BlobId, Caller, Error, ErrorKind, Result, Store};

/// Which replicas to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// The one of this number.
    pub replica: Option<u32>,
    /// Those in this place or group. Without number and place: stale ones, then good ones, the latest first.
    pub place: Option<PlaceId>,
    /// How many good ones must stay at least; one always stays.
    pub keep: usize,
    /// Only report which.
    pub dry_run: bool,
}

impl Default for Trim {
    fn default() -> Self {
        Self { replica: None, place: None, keep: 1, dry_run: false }
    }
}

/// The content to replicate, as it was seen.
struct ContentToReplicate {
    id: ResourceId,
    head: ContentHead,
    content: Content,
    /// Where it is good.
    places: Vec<PlaceId>,
    pin: Arc<Pin>,
}

/// How often a replication begins again when the content changes in the meantime.
const ATTEMPTS: usize = 5;

impl Store {
    /// Copies the current content of an object into a place, or each place of a group; a stale replica there
    /// becomes good. It is not an error if there is one. A content in the catalog becomes a blob. Needs
    /// `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] if nothing in the place takes contents, or no good copy can be read.
    pub async fn replicate(&self, caller: &Caller, at: &At, place: PlaceId) -> Result<Stat> {
        let targets = self.known().destination(Some(place))?.ids();
        for _ in 0..ATTEMPTS {
            let (owned_caller, what) = (caller.clone(), at.clone());
            let seen = self.blocking(move |store| store.to_replicate(&owned_caller, &what)).await?;
            match self.replicate_to(seen, &targets).await {
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error),
                Ok(stat) => return Ok(stat),
            }
        }
        Err(Error::new(ErrorKind::Conflict, format!("it keeps changing: {at}"))
            .with_hint("replicate it again later"))
    }

    fn to_replicate(&self, caller: &Caller, at: &At) -> Result<ContentToReplicate> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::Replicate)?;
        let head = content_of(&chain, at)?;
        let replicas = chain.resource().replicas();
        let good = replicas.iter().filter(|replica| replica.is_good());
        let places = good.map(|replica| replica.place).collect();
        let content = Content { extents: merge(resolve(&view, &head)?) };
        let pin = self.pin(&view, head.id)?.ok_or_else(changed)?;
        Ok(ContentToReplicate { id: chain.id(), head, content, places, pin })
    }

    /// Copies the visible content into places, and records that.
    async fn replicate_to(&self, seen: ContentToReplicate, targets: &[PlaceId]) -> Result<Stat> {
        let (content, fresh) = self.out_of_catalog(&seen, targets).await?;
        let made = fresh.clone();
        let targets = targets.to_vec();
        let copied = self.copy_blobs(&content, made.as_ref().map(|made| made.id), &targets).await;
        let noted = match copied {
            Ok(()) => {
                let note =
                    move |store: &Self| store.note_replicas(&seen, &content, &fresh, &targets);
                self.blocking(note).await
            }
            Err(error) => Err(error),
        };
        self.published(made, noted).await
    }

    /// Inline runs become a blob in the current and the target places of the content.
    async fn out_of_catalog(
        &self,
        seen: &ContentToReplicate,
        targets: &[PlaceId],
    ) -> Result<(Content, Option<NewBlob>)> {
        let inline = |piece: &Piece| matches!(piece, Piece::Inline(_));
        if !seen.content.extents.iter().any(|extent| inline(&extent.piece)) {
            return Ok((seen.content.clone(), None));
        }
        let mut places = self.known().destination_among(targets)?;
        let more: Vec<PlaceId> =
            seen.places.iter().copied().filter(|place| !targets.contains(place)).collect();
        // A place that is down or unavailable means one replica fewer, but never the requested one.
        if let Ok(Destination { places: open, .. }) = self.known().destination_among(&more) {
            places.places.extend(open);
        }
        let (extents, size) = (seen.content.extents.clone(), seen.head.size);
        let layout = self.lay_out_extents(extents, size, vec![seen.pin.clone()]);
        self.settle(layout, places).await
    }

    async fn copy_blobs(
        &self,
        content: &Content,
        fresh: Option<BlobId>,
        targets: &[PlaceId],
    ) -> Result<()> {
        for blob in blob_ids(&content.extents).filter(|blob| Some(*blob) != fresh) {
            for place in targets {
                self.copy_blob(blob, *place).await?;
            }
        }
        Ok(())
    }

    fn note_replicas(
        &self,
        seen: &ContentToReplicate,
        content: &Content,
        fresh: &Option<NewBlob>,
        targets: &[PlaceId],
    ) -> Result<Stat> {
        self.transact(|tx| {
            let same = |chain: &Chain| chain.resource().content.as_ref() == Some(&seen.head);
            let Some(chain) = locate(tx, &At::Id(seen.id))?.filter(same) else {
                return Err(changed());
            };
            let mut stat = Stat::from(chain.clone());
            let new = &mut stat.resource;
            let mut replicas = new.replicas();
            if fresh.is_some() {
                let id = ContentId(self.new_id()?);
                store_content(tx, id, content, fresh.as_ref())?;
                new.content = Some(ContentHead { id, patches: 0, ..seen.head.clone() });
            }
            if blob_ids(&content.extents).next().is_some() {
                let all = self.places_with_all(tx, &content.extents)?;
                if targets.iter().any(|place| !all.contains(place)) {
                    return Err(Error::new(ErrorKind::Conflict, "a copy was removed meanwhile"));
                }
                replicas.retain_good_in(&all);
            }
            targets.iter().for_each(|place| replicas.add(*place, tx.now()));
            new.placement = self.tidied(replicas);
            if new != chain.resource() {
                rewrite_record(tx, seen.id, chain.resource(), new);
            }
            Ok(stat)
        })
    }

    /// Removes replicas of an object; says which. Copies that another object or a version shares stay where they
    /// are for it. Needs `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for a number or place that has none; [`ErrorKind::Precondition`] if too few good
    /// ones would stay of what was named.
    pub async fn trim(&self, caller: &Caller, at: &At, trim: &Trim) -> Result<Vec<u32>> {
        let (owned_caller, what, trim) = (caller.clone(), at.clone(), *trim);
        let (numbers, dropped) =
            self.blocking(move |store| store.trim_records(&owned_caller, &what, &trim)).await?;
        for (blob, copy) in dropped {
            self.delete_copy(blob, &copy).await;
        }
        Ok(numbers)
    }

    #[expect(clippy::type_complexity, reason = "numbers of replicas, and copies to delete")]
    fn trim_records(
        &self,
        caller: &Caller,
        at: &At,
        trim: &Trim,
    ) -> Result<(Vec<u32>, Vec<(BlobId, BlobCopy)>)> {
        self.transact(|tx| {
            tx.frees_space();
            let chain = find(tx, caller, at, Operation::Replicate)?;
            let head = content_of(&chain, at)?;
            let mut replicas = chain.resource().replicas();
            let numbers = self.chosen(&replicas, trim)?;
            if trim.dry_run || numbers.is_empty() {
                return Ok((numbers, Vec::new()));
            }
            let mut dropped = Vec::new();
            for number in &numbers {
                if let Some(replica) = replicas.get(*number).filter(|replica| replica.is_good()) {
                    dropped.extend(drop_copies(tx, &chain, &head, replica.place)?);
                }
                replicas.remove(*number);
            }
            let mut new = chain.resource().clone();
            new.placement = self.tidied(replicas);
            rewrite_record(tx, chain.id(), chain.resource(), &new);
            Ok((numbers, dropped))
        })
    }

    /// The numbers of those that go.
    fn chosen(&self, replicas: &Replicas, trim: &Trim) -> Result<Vec<u32>> {
        let leaves = trim.place.map(|place| self.known().leaves(place));
        let is_selected = |replica: &&Replica| {
            trim.replica.is_none_or(|number| number == replica.number)
                && leaves.as_ref().is_none_or(|leaves| leaves.contains(&replica.place))
        };
        let named = trim.replica.is_some() || trim.place.is_some();
        let mut candidates: Vec<&Replica> = replicas.iter().filter(is_selected).collect();
        if let (true, Some(number)) = (candidates.is_empty(), trim.replica) {
            return Err(no_replica(number));
        }
        candidates.sort_by_key(|replica| (replica.is_good(), std::cmp::Reverse(replica.number)));
        let mut good = replicas.good();
        let mut left = replicas.iter().count();
        let mut chosen = Vec::new();
        for replica in candidates {
            let stays = (replica.is_good() && good <= trim.keep.max(1)) || left == 1;
            if stays && named {
                return Err(too_few(replica.number));
            }
            if !stays {
                good -= usize::from(replica.is_good());
                left -= 1;
                chosen.push(replica.number);
            }
        }
        Ok(chosen)
    }
}

/// Takes the copies in a place out of the records of those blobs of a content that nothing else uses.
fn drop_copies(
    tx: &mut Transaction,
    chain: &Chain,
    head: &ContentHead,
    place: PlaceId,
) -> Result<Vec<(BlobId, BlobCopy)>> {
    if tx.rows(&keys::content_users(head.id), 2)?.len() > 1 {
        return Ok(Vec::new());
    }
    debug_assert_eq!(chain.resource().content.as_ref().map(|head| head.id), Some(head.id));
    let extents = resolve(tx, head)?;
    let mut dropped = Vec::new();
    for blob in blob_ids(&extents) {
        if tx.rows(&keys::blob_users(blob), 2)?.len() > 1 {
            continue;
        }
        let Some(mut record) = tx.get::<BlobRecord>(&keys::blob(blob))? else { continue };
        if let (true, Some(copy)) = (record.copies.len() > 1, record.copy_in(place).cloned()) {
            record.copies.retain(|other| *other != copy);
            count_copy(tx, &copy, record.size, -1);
            tx.put(keys::blob(blob), &record);
            dropped.push((blob, copy));
        }
    }
    Ok(dropped)
}

fn changed() -> Error {
    Error::new(ErrorKind::Conflict, "it changed meanwhile").with_hint("try again")
}

fn too_few(number: u32) -> Error {
    let message = format!("too few good replicas would remain without replica {number}");
    Error::new(ErrorKind::Precondition, message)
        .with_hint("replicate the object to another place first, or keep fewer")
}
