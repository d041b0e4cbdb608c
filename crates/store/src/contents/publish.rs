//! Publication: the one commit by which received bytes become the content of an object.

use crate::access::{Chain, FreeSpot, Operation, Spot};
use crate::catalog::{ChangeKind, Transaction, VersionRecord};
use crate::contents::media_type::MediaType;
use crate::contents::{Conditions, Expected, NewBlob, Received, store_content};
use crate::model::{
    At, Changed, ContentHead, ContentId, Kind, PlaceId, Replicas, ResourceId, Stat, StorePath,
    Time, check_media_type,
};
use crate::quotas::{in_use, require_room, settle};
use crate::tree::{self, count_change, insert, update};
use crate::versions::Redescribed;
use crate::{
    Bytes, Caller, CreateOptions, Draft, Error, ErrorKind, Notes, Result, Store, Stream, versions,
};

/// How to put an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutOptions {
    /// What must hold for it to happen.
    pub conditions: Conditions,
    /// What the sender says of the bytes.
    pub expected: Expected,
    /// Create the collections on the way.
    pub parents: bool,
    /// The media type; without one, that of the content that is replaced stays if it was said, else it is guessed.
    pub media_type: Option<String>,
    /// Mode bits.
    pub mode: Option<u32>,
    /// The modification time to show.
    pub mtime: Option<Time>,
    /// The place or group that the bytes go to, instead of where new contents go. What other replicas there
    /// are become stale.
    pub place: Option<PlaceId>,
}

/// One of many to put in one commit.
#[derive(Debug, Clone)]
pub struct BatchItem {
    /// Where.
    pub path: StorePath,
    /// What.
    pub what: BatchWhat,
    /// How; for what is no object, only `parents`, `mode` and `mtime` count.
    pub options: PutOptions,
}

/// What to put.
#[derive(Debug, Clone)]
pub enum BatchWhat {
    /// An object with these bytes.
    Object(Box<Received>),
    /// A collection; it is no error if it is there.
    Collection,
    /// A symbolic link.
    Link(String),
}

/// How often a batch is tried for which a quota had room until others took it.
const BATCH_ATTEMPTS: usize = 8;

impl PutOptions {
    fn check(&self) -> Result<()> {
        self.media_type.as_deref().map_or(Ok(()), check_media_type)
    }
}

impl BatchItem {
    fn blob(&self) -> Option<NewBlob> {
        match &self.what {
            BatchWhat::Object(received) => received.blob.clone(),
            BatchWhat::Collection | BatchWhat::Link(_) => None,
        }
    }
}

impl Store {
    /// Creates an object, or replaces its content; the description, access and id of one that is
    /// there stay. Needs `Rights::WRITE_CONTENT` on it, or `Rights::CREATE` on its collection. An id names one that is there,
    /// whatever its path is by then.
    pub async fn put<E>(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: PutOptions,
    ) -> Result<Stat>
    where
        E: std::fmt::Display,
    {
        let at = at.into();
        let received = self.receive_for(caller, at.clone(), bytes, &options).await?;
        let published = self.in_place(|store| store.publish(caller, at, &received, &options));
        self.published(received.blob.clone(), published).await
    }

    /// Takes in what is to be put, if that is allowed now: before the bytes come, unless they are few.
    pub async fn receive_for<E>(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: &PutOptions,
    ) -> Result<Received>
    where
        E: std::fmt::Display,
    {
        if !self.is_small(options) {
            self.in_place(|store| store.may_put(caller, at, options))?;
        }
        self.receive_at(options.place, bytes, &options.expected).await
    }

    /// Whether so little is to come, into the catalog, that a refusal may wait for it.
    fn is_small(&self, options: &PutOptions) -> bool {
        let most = self.parts().limits.inline as u64;
        options.place.is_none() && options.expected.length.is_some_and(|length| length <= most)
    }

    /// Refuses what [`Store::publish`] would refuse now, before any byte is sent.
    pub fn may_put(&self, caller: &Caller, at: impl Into<At>, options: &PutOptions) -> Result<()> {
        options.check()?;
        let (view, at) = (self.view()?, at.into());
        let spot = Spot::of(&view, caller, &at, options.parents)?;
        match &spot {
            Spot::Seen(chain) => {
                check_replaceable(caller, chain, &at)?;
                options.conditions.check_content(Some(chain))?;
            }
            Spot::Free(_) => options.conditions.check_content(None)?,
        }
        let announced = options.expected.length.unwrap_or_default();
        require_room(&view, self.now(), &spot, announced, caller)
    }

    /// Makes received bytes the content of an object.
    pub fn publish(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        received: &Received,
        options: &PutOptions,
    ) -> Result<Stat> {
        let at = at.into();
        self.transact(|tx| self.publish_in(tx, caller, &at, received, options))
    }

    /// The same, with a change of an opening's notes in the commit that publishes: if that is refused, nothing is published.
    pub fn publish_with(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        received: &Received,
        options: &PutOptions,
        (opening, also): (&str, impl Fn(&mut Notes<'_>) -> Result<()>),
    ) -> Result<Stat> {
        let at = at.into();
        self.transact(|tx| {
            let stat = self.publish_in(tx, caller, &at, received, options)?;
            also(&mut Notes::in_commit(tx, opening, stat.id))?;
            Ok(stat)
        })
    }

    /// Puts many in one commit; each has its own answer, and those that are refused change nothing.
    ///
    /// # Errors
    /// If the store itself fails, for all of them: nothing is put.
    pub fn publish_many(&self, caller: &Caller, items: &[BatchItem]) -> Result<Vec<Result<Stat>>> {
        for _ in 0..BATCH_ATTEMPTS {
            match self.publish_all(caller, items) {
                // Others took the room that was there for all of them: see for which there is room now.
                Err(error) if error.kind() == ErrorKind::Quota => {}
                answers => return answers,
            }
        }
        self.publish_all(caller, items)
    }

    fn publish_all(&self, caller: &Caller, items: &[BatchItem]) -> Result<Vec<Result<Stat>>> {
        let paths: Vec<At> = items.iter().map(|item| At::from(&item.path)).collect();
        self.transact(|tx| {
            tree::read_ahead(tx, paths.iter())?;
            let answers = items.iter().map(|item| match self.publish_item(tx, caller, item) {
                Err(error) if !error.is_refusal() => Err(error),
                answer => Ok(answer),
            });
            answers.collect()
        })
    }

    /// The same; what was received for those that are refused is not kept.
    pub async fn put_many(
        &self,
        caller: &Caller,
        items: Vec<BatchItem>,
    ) -> Result<Vec<Result<Stat>>> {
        let blobs: Vec<_> = items.iter().map(BatchItem::blob).collect();
        let caller = caller.clone();
        let outcomes = self.blocking(move |store| store.publish_many(&caller, &items)).await;
        for (n, blob) in blobs.into_iter().enumerate() {
            let fault = match &outcomes {
                Ok(outcomes) => outcomes[n].as_ref().err(),
                Err(error) => Some(error),
            };
            self.settle_blob(blob, fault).await;
        }
        outcomes
    }

    fn publish_item(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        item: &BatchItem,
    ) -> Result<Stat> {
        let options = &item.options;
        self.require_room_for(tx, caller, item)?;
        let create = CreateOptions {
            parents: options.parents,
            exist_ok: true,
            mode: options.mode,
            mtime: options.mtime,
        };
        match &item.what {
            BatchWhat::Object(received) => {
                self.publish_in(tx, caller, &At::from(&item.path), received, options)
            }
            BatchWhat::Collection => {
                self.create_in(tx, caller, &item.path, &Draft::Collection, create)
            }
            BatchWhat::Link(target) => {
                self.create_in(tx, caller, &item.path, &Draft::Link(target.clone()), create)
            }
        }
    }

    /// Refuses an item for which a quota leaves no room beside those before it.
    fn require_room_for(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        item: &BatchItem,
    ) -> Result<()> {
        if !in_use(tx)? {
            return Ok(());
        }
        settle(tx)?;
        let size = match &item.what {
            BatchWhat::Object(received) => received.size,
            BatchWhat::Collection | BatchWhat::Link(_) => 0,
        };
        match Spot::find(tx, caller, &item.path, item.options.parents) {
            Ok(spot) => require_room(tx, tx.now(), &spot, size, caller),
            // Told below.
            Err(_) => Ok(()),
        }
    }

    pub(super) fn publish_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        at: &At,
        received: &Received,
        options: &PutOptions,
    ) -> Result<Stat> {
        options.check()?;
        let spot = Spot::of(tx, caller, at, options.parents)?;
        let there = match &spot {
            Spot::Seen(chain) => Some(chain),
            Spot::Free(_) => None,
        };
        there.map_or(Ok(()), |chain| check_replaceable(caller, chain, at))?;
        options.conditions.check_content(there)?;
        let content = ContentId(self.new_id()?);
        let before = there.map(Chain::resource);
        let head = received.head(content, media_type(&spot, received, options));
        let replicas = self.replicas_after_put(tx, before, received)?;
        let stat = match spot {
            Spot::Seen(chain) => {
                let what = (Some(head), replicas);
                let changed = changed_by_put(&chain, what.0.as_ref(), options.mode);
                replace_with(tx, caller, chain, changed, what, (options.mode, options.mtime))?
            }
            Spot::Free(free) => self.publish_new(tx, caller, free, (head, replicas), options)?,
        };
        store_content(tx, content, &received.content, received.blob.as_ref())?;
        Ok(stat)
    }

    fn publish_new(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        free: FreeSpot,
        (head, replicas): (ContentHead, Replicas),
        options: &PutOptions,
    ) -> Result<Stat> {
        let (collection, name) = self.make_parents(tx, caller, free)?;
        let path = collection.path().child(name.clone());
        let mut resource = tree::new_resource(tx, caller, &collection, name, Kind::Object);
        (resource.content, resource.replicas) = (Some(head), replicas);
        (resource.mode, resource.mtime) = (options.mode, options.mtime);
        let id = ResourceId(self.new_id()?);
        insert(tx, id, &resource);
        Ok(Stat { id, path, resource })
    }
}

impl Received {
    fn head(&self, id: ContentId, media_type: MediaType) -> ContentHead {
        let (size, digests) = (self.size, self.digests.clone());
        ContentHead {
            id,
            size,
            digests,
            media_type: media_type.text,
            patches: 0,
            stamp: id.0,
            digested_later: false,
            media_type_guessed: media_type.guessed,
        }
    }
}

/// What is said now or was said before, else a guess.
fn media_type(spot: &Spot, received: &Received, options: &PutOptions) -> MediaType {
    let (name, before) = match spot {
        Spot::Seen(chain) => (chain.resource().name.as_str(), chain.resource().content.as_ref()),
        Spot::Free(free) => (free.name.as_str(), None),
    };
    let before = before.and_then(ContentHead::said_media_type);
    let said = options.media_type.as_deref().or(before);
    MediaType::said_or_guessed(said, name, received.sniffed)
}

fn check_replaceable(caller: &Caller, chain: &Chain, at: &At) -> Result<()> {
    chain.require(caller, Operation::Write, at)?;
    match chain.resource().kind {
        Kind::Object => Ok(()),
        kind => {
            let hint = match kind {
                Kind::Collection => "name the object in it, or choose another name",
                _ => "choose another name, or remove it first",
            };
            let message = format!("a {} is at {at}", kind.as_str());
            Err(Error::new(ErrorKind::WrongKind, message).with_hint(hint))
        }
    }
}

impl Store {
    /// Gives a resource the content and the attributes that a version has; what it had is kept as a version where that is
    /// wanted. The caller replaces the description.
    pub(crate) fn replace_state(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        chain: Chain,
        version: VersionRecord,
        redescribed: Redescribed<'_>,
    ) -> Result<Stat> {
        let mut stat = Stat::from(chain.clone());
        versions::keep_replaced(tx, caller, &chain, &mut stat.resource, Some(redescribed))?;
        let new = &mut stat.resource;
        new.replicas = self.replicas_after_exchange(tx, new, version.content.as_ref())?;
        new.content = version.content;
        new.mtime = None;
        if let Some(was) = version.attributes {
            (new.mode, new.target) = (was.mode, was.target);
            new.set_mtime(was.mtime, tx.now());
        }
        let (changed, kind) = match new.kind {
            Kind::Object => (Changed::ContentAndDescription, ChangeKind::Written),
            _ => (Changed::Description, ChangeKind::Described),
        };
        count_change(tx, new, changed, caller.user());
        update(tx, kind, stat.id, chain.resource(), &stat.resource);
        Ok(stat)
    }
}

/// What a put changes: the content, and the description if it says another mode or media type. A guess belongs to the content.
fn changed_by_put(chain: &Chain, new: Option<&ContentHead>, mode: Option<u32>) -> Changed {
    let old = chain.resource();
    let said = |content: Option<&ContentHead>| content?.said_media_type().map(str::to_owned);
    let same_mode = mode.is_none() || mode == old.mode;
    match same_mode && said(old.content.as_ref()) == said(new) {
        true => Changed::Content,
        false => Changed::ContentAndDescription,
    }
}

fn replace_with(
    tx: &mut Transaction,
    caller: &Caller,
    chain: Chain,
    changed: Changed,
    (content, replicas): (Option<ContentHead>, Replicas),
    (mode, mtime): (Option<u32>, Option<Time>),
) -> Result<Stat> {
    let mut stat = Stat::from(chain.clone());
    versions::keep_replaced(tx, caller, &chain, &mut stat.resource, None)?;
    (stat.resource.content, stat.resource.replicas) = (content, replicas);
    stat.resource.mode = mode.or(stat.resource.mode);
    stat.resource.mtime = mtime;
    count_change(tx, &mut stat.resource, changed, caller.user());
    update(tx, ChangeKind::Written, stat.id, chain.resource(), &stat.resource);
    Ok(stat)
}
