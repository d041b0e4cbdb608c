//! Publication: the one commit by which received bytes become the content of an object.

mod described;
mod replace;

use crate::access::{Chain, Operation, Slot, VacantSlot};
use crate::catalog::Transaction;
use crate::contents::media_type::MediaType;
use crate::contents::{Expected, Received, store_content};
use crate::model::{
    At, Changed, ContentHead, ContentId, Kind, PlaceId, Placement, ResourceId, Stat, StorePath,
    Time, check_media_type,
};
use crate::quotas::require_room;
use crate::resources::insert;
use crate::{Bytes, Caller, Conditions, Error, ErrorKind, Notes, Result, Store, Stream, resources};

pub use described::Describing;
use replace::{changed_by_put, replace_with};

/// How to put an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PutOptions {
    /// What must hold for it to happen.
    pub conditions: Conditions,
    /// The announcement of the sender.
    pub expected: Expected,
    /// Create missing parent collections.
    pub parents: bool,
    /// The media type; without one, that of the replaced content is kept if it was set, otherwise it is guessed.
    pub media_type: Option<String>,
    /// Mode bits.
    pub mode: Option<u32>,
    /// The modification time to show.
    pub mtime: Option<Time>,
    /// The place or group to store the bytes in, instead of the default. Other replicas
    /// become stale.
    pub place: Option<PlaceId>,
}

impl PutOptions {
    fn check(&self) -> Result<()> {
        self.media_type.as_deref().map_or(Ok(()), check_media_type)
    }
}

impl Store {
    /// Creates an object, or replaces its content; the description, access and id of one that is
    /// there are kept. Needs `Rights::WRITE_CONTENT` on it, or `Rights::CREATE` on its collection. An id refers to an existing one,
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
        self.put_and(caller, at.into(), bytes, options, None).await
    }

    /// The same, with a change of the description in the same commit. Needs the rights for both, unless the change is optional.
    pub async fn put_described<E>(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: PutOptions,
        describing: Describing<'_>,
    ) -> Result<Stat>
    where
        E: std::fmt::Display,
    {
        self.put_and(caller, at.into(), bytes, options, Some(describing)).await
    }

    async fn put_and<E>(
        &self,
        caller: &Caller,
        at: At,
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: PutOptions,
        describing: Option<Describing<'_>>,
    ) -> Result<Stat>
    where
        E: std::fmt::Display,
    {
        self.precheck_put(caller, at.clone(), &options)?;
        let received = self.receive(bytes, &options).await?;
        let publish = |tx: &mut Transaction| {
            self.publish_described(tx, caller, &at, (&received, &options), describing)
        };
        let published = self.in_place(|store| match describing {
            None => store.transact_at(&at, publish),
            Some(_) => store.transact_described(&at, publish),
        });
        self.published(received.blob.clone(), published).await
    }

    /// Creates an object at the first of these paths whose name is free; hidden resources take names, too. Which one is free is decided
    /// when the bytes are there. The description is changed in the same commit. Needs `Rights::CREATE` on the collection.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if none is free; those of [`Store::put`], except about conditions.
    pub async fn put_new<E>(
        &self,
        caller: &Caller,
        paths: &[StorePath],
        bytes: impl Stream<Item = Result<Bytes, E>>,
        options: PutOptions,
        describing: Option<Describing<'_>>,
    ) -> Result<Stat>
    where
        E: std::fmt::Display,
    {
        let last = paths.last().ok_or_else(|| Error::new(ErrorKind::Exists, "no name is free"))?;
        self.precheck_put(caller, last, &options)?;
        let received = self.receive(bytes, &options).await?;
        let publish = |tx: &mut Transaction| {
            let at = first_free(tx, caller, paths, options.parents)?.into();
            self.publish_described(tx, caller, &at, (&received, &options), describing)
        };
        let published = self.in_place(|store| store.transact_at(&last.into(), publish));
        self.published(received.blob.clone(), published).await
    }

    /// Refuses what [`Store::publish`] would refuse now, unless so few bytes are to come that the refusal may wait for them.
    pub fn precheck_put(
        &self,
        caller: &Caller,
        at: impl Into<At>,
        options: &PutOptions,
    ) -> Result<()> {
        match self.is_small(options) {
            true => Ok(()),
            false => self.in_place(|store| store.may_put(caller, at, options)),
        }
    }

    /// Whether so little is to come, into the catalog, that a refusal may wait for it.
    fn is_small(&self, options: &PutOptions) -> bool {
        let most = self.parts().limits.inline as u64;
        options.place.is_none() && options.expected.length.is_some_and(|length| length <= most)
    }

    /// Refuses what [`Store::publish`] would refuse now, before any byte is sent.
    pub fn may_put(&self, caller: &Caller, at: impl Into<At>, options: &PutOptions) -> Result<()> {
        options.check()?;
        let at = at.into();
        let view = self.view_at(&at)?;
        let slot = Slot::of(&view, caller, &at, options.parents)?;
        match &slot {
            Slot::Occupied(chain) => {
                check_replaceable(caller, chain, &at)?;
                options.conditions.check_content(Some(chain))?;
            }
            Slot::Vacant(_) => options.conditions.check_content(None)?,
        }
        let announced = options.expected.length.unwrap_or_default();
        require_room(&view, self.now(), &slot, announced, caller)
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
        self.transact_at(&at, |tx| self.publish_in(tx, caller, &at, received, options))
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
        self.transact_at(&at, |tx| {
            let stat = self.publish_in(tx, caller, &at, received, options)?;
            also(&mut Notes::in_commit(tx, opening, stat.id))?;
            Ok(stat)
        })
    }

    pub(crate) fn publish_in(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        at: &At,
        received: &Received,
        options: &PutOptions,
    ) -> Result<Stat> {
        self.publish_described(tx, caller, at, (received, options), None)
    }

    fn publish_described(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        at: &At,
        (received, options): (&Received, &PutOptions),
        describing: Option<Describing<'_>>,
    ) -> Result<Stat> {
        options.check()?;
        let slot = Slot::of(tx, caller, at, options.parents)?;
        let there = match &slot {
            Slot::Occupied(chain) => Some(chain),
            Slot::Vacant(_) => None,
        };
        there.map_or(Ok(()), |chain| check_replaceable(caller, chain, at))?;
        options.conditions.check_content(there)?;
        let content = ContentId(self.new_id()?);
        let before = there.map(Chain::resource);
        let head = received.head(content, media_type(&slot, received, options));
        let placement = self.placement_after_put(tx, before, received)?;
        let stat = match slot {
            Slot::Occupied(chain) => {
                let what = (Some(head), placement);
                let redescribed = describing
                    .map(|it| it.of_existing(tx, caller, &chain, at))
                    .transpose()?
                    .flatten();
                let changed = match redescribed {
                    Some(_) => Changed::ContentAndDescription,
                    None => changed_by_put(&chain, what.0.as_ref(), options.mode),
                };
                let attributes = (options.mode, options.mtime);
                replace_with(tx, caller, chain, changed, what, attributes, redescribed.as_ref())?
            }
            Slot::Vacant(free) => {
                let stat = self.publish_new(tx, caller, free, (head, placement), options)?;
                describing.map_or(Ok(()), |it| it.of_new(tx, caller, stat.id))?;
                stat
            }
        };
        store_content(tx, content, &received.content, received.blob.as_ref())?;
        Ok(stat)
    }

    fn publish_new(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        free: VacantSlot,
        (head, placement): (ContentHead, Placement),
        options: &PutOptions,
    ) -> Result<Stat> {
        let (collection, name) = self.make_parents(tx, caller, free)?;
        let path = collection.path().child(name.clone());
        let mut resource = resources::new_resource(tx, caller, &collection, name, Kind::Object);
        (resource.content, resource.placement) = (Some(head), placement);
        (resource.mode, resource.mtime) = (options.mode, options.mtime);
        let id = ResourceId(self.new_id()?);
        insert(tx, id, &resource);
        Ok(Stat { id, path, resource })
    }
}

/// The first path with a free name.
fn first_free(
    tx: &mut Transaction,
    caller: &Caller,
    paths: &[StorePath],
    parents: bool,
) -> Result<StorePath> {
    for path in paths {
        match Slot::find(tx, caller, path, parents) {
            Ok(Slot::Occupied(_)) => {}
            Err(error) if error.kind() == ErrorKind::Exists => {}
            free => return free.map(|_| path.clone()),
        }
    }
    Err(Error::new(ErrorKind::Exists, "no name is free"))
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

/// The type that is set now or was set before, otherwise a guess.
fn media_type(slot: &Slot, received: &Received, options: &PutOptions) -> MediaType {
    let (name, before) = match slot {
        Slot::Occupied(chain) => {
            (chain.resource().name.as_str(), chain.resource().content.as_ref())
        }
        Slot::Vacant(free) => (free.name.as_str(), None),
    };
    let before = before.and_then(ContentHead::stated_media_type);
    let stated = options.media_type.as_deref().or(before);
    MediaType::stated_or_guessed(stated, name, received.sniffed)
}

fn check_replaceable(caller: &Caller, chain: &Chain, at: &At) -> Result<()> {
    chain.require(caller, Operation::Write, at)?;
    match chain.resource().kind {
        Kind::Object => Ok(()),
        kind => {
            let hint = match kind {
                Kind::Collection => "give the path of an object in it, or choose another name",
                _ => "choose another name, or remove it first",
            };
            let message = format!("a {} is at {at}", kind.as_str());
            Err(Error::new(ErrorKind::WrongKind, message).with_hint(hint))
        }
    }
}
