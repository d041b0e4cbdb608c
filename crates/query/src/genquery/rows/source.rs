//! Finds rows about objects and collections in the cheapest way that the conditions allow.
//!
//! In order of preference: an index lookup of an attribute, a value or both; the one collection that is
//! named; the subtree that a pattern is confined to; everything. Whatever is found is then tested against all
//! conditions.
//!
//! Invariant: each of these yields the same rows among those that pass all conditions. So none of them checks
//! whether the caller may list a collection: a resource shared out of a private one is found like any other.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use cenote_store::{At, Avu, Kind, Name, Reading, ResourceId, Stat, StorePath};

use super::super::answer::limits::Meter;
use super::super::column::{Column, Entity};
use super::super::plan::facts::Facts;
use super::super::trash::{Trash, is_in_trash};
use super::access::Access;
use super::collection_path::{parse, top};
use super::names::Names;
use super::parents::Parents;
use super::row::{CollectionRow, ReplicaRow, Row};
use super::zone::Zone;
use crate::Result;

/// The maximum number of index entries; beyond that, the tree is walked instead.
const MOST: usize = 1 << 20;

/// Entities whose columns belong to collections.
const OF_COLLECTIONS: &[Entity] =
    &[Entity::Collection, Entity::CollectionAvu, Entity::CollectionAccess];

type Described = (Option<Avu>, Option<Access>);

/// Receives a row.
pub(crate) type Each<'a> = &'a mut dyn FnMut(Row) -> Result<()>;

/// Receives a collection or an object.
pub(super) type Take<'a> = &'a mut dyn FnMut(Stat) -> Result<()>;

/// What a query reads, and what it needs.
pub(crate) struct Source<'a> {
    pub(crate) reading: &'a Reading,
    pub(crate) names: &'a Names<'a>,
    pub(crate) meter: &'a Meter<'a>,
    /// What the conditions imply for every row of the result.
    pub(crate) facts: Facts<'a>,
    /// What the conditions imply for each further attribute of a row's entity.
    pub(crate) of_joins: Vec<Facts<'a>>,
    pub(crate) entities: BTreeSet<Entity>,
    /// Whether the storage location of objects is needed.
    pub(crate) of_places: bool,
    /// Whether the time at which a collection's members last changed is needed.
    pub(crate) of_members: bool,
    /// Whether entities without attributes have a row nevertheless.
    pub(crate) outer: bool,
    /// What was removed, once it is needed.
    pub(crate) trash: OnceCell<Trash<'a>>,
}

impl<'a> Source<'a> {
    /// Yields every candidate row to `each`.
    pub(crate) fn rows(&self, each: Each<'_>) -> Result<()> {
        use Entity as E;
        let about = |entities: &[E]| self.about_any(entities);
        let each = &mut |row| {
            self.meter.row()?;
            each(row)
        };
        if about(&[E::Object, E::ObjectAvu, E::ObjectAccess]) {
            self.objects(each)
        } else if about(OF_COLLECTIONS) {
            self.collections(each)
        } else {
            self.others(each)
        }
    }

    fn about_any(&self, entities: &[Entity]) -> bool {
        entities.iter().any(|entity| self.about(*entity))
    }

    pub(crate) fn about(&self, entity: Entity) -> bool {
        self.entities.contains(&entity)
    }

    /// The attributes from which an entity's rows are built, if they are needed.
    pub(crate) fn avus(&self, entity: Entity, id: u64) -> Result<Vec<Option<Avu>>> {
        if !self.about(entity) {
            return Ok(vec![None]);
        }
        Ok(self.joined(self.reading.avus(id)?))
    }

    /// One row per item; without items no row, or for an outer join one without an item.
    pub(crate) fn joined<T>(&self, items: Vec<T>) -> Vec<Option<T>> {
        match items.is_empty() && self.outer {
            true => vec![None],
            false => items.into_iter().map(Some).collect(),
        }
    }

    fn zone(&self) -> &Zone {
        self.names.zone
    }

    fn objects(&self, each: Each<'_>) -> Result<()> {
        let mut parents = Parents::of(self);
        let mut take = |stat: Stat| self.object(stat, &mut parents, each);
        if let Some(ids) = self.indexed(Column::MetaDataName, Column::MetaDataValue)? {
            return self.by_id(ids, Kind::Object, &mut take);
        }
        match (self.facts.value(Column::CollName), self.facts.value(Column::DataName)) {
            (Some(collection), Some(name)) => {
                let path = parse(self.zone(), collection).zip(Name::new(name).ok());
                let path = path.and_then(|(path, name)| path.join(name).ok());
                self.at(path, Kind::Object, &mut take)
            }
            (Some(collection), None) => match parse(self.zone(), collection) {
                Some(path) => self.children(&path, Kind::Object, &mut take),
                None => Ok(()),
            },
            _ => self.subtree(Kind::Object, &mut take),
        }
    }

    fn collections(&self, each: Each<'_>) -> Result<()> {
        let mut take = |stat: Stat| self.collection(stat.into(), Row::default(), each);
        if let Some(ids) = self.indexed(Column::MetaCollName, Column::MetaCollValue)? {
            return self.by_id(ids, Kind::Collection, &mut take);
        }
        if let Some(name) = self.facts.value(Column::CollName) {
            return self.at(parse(self.zone(), name), Kind::Collection, &mut take);
        }
        let kind = Kind::Collection;
        match self.facts.value(Column::CollParentName).map(|name| parse(self.zone(), name)) {
            Some(Some(path)) => self.children(&path, kind, &mut take),
            Some(None) => self.at(Some(StorePath::root()), kind, &mut take),
            None => {
                self.at(Some(StorePath::root()), kind, &mut take)?;
                self.subtree(kind, &mut take)
            }
        }
    }

    /// The index entries for an attribute, a value or both; `None` if the index does not help.
    fn indexed(&self, name: Column, value: Column) -> Result<Option<BTreeSet<u64>>> {
        let facts = std::iter::once(&self.facts).chain(&self.of_joins);
        let mut pairs: Vec<_> =
            facts.map(|facts| (facts.value(name), facts.value(value))).collect();
        pairs.sort_by_key(|(name, value)| (name.is_none(), value.is_none()));
        for (name, value) in pairs {
            let ids = self.reading.stating(name, value, MOST)?;
            if ids.is_some() {
                return Ok(ids);
            }
        }
        Ok(None)
    }

    fn at(&self, path: Option<StorePath>, kind: Kind, take: Take<'_>) -> Result<()> {
        let Some(path) = path else { return Ok(()) };
        let stat = match self.reading.stat(&(&path).into())? {
            None if is_in_trash(&path) => self.trash()?.stat(&path)?,
            found => found,
        };
        stat.filter(|stat| stat.resource.kind == kind).map_or(Ok(()), take)
    }

    fn children(&self, path: &StorePath, kind: Kind, take: Take<'_>) -> Result<()> {
        self.all(self.reading.children(&path.into())?, kind, take)?;
        match is_in_trash(path) {
            true => self.removed(path, false, kind, take),
            false => Ok(()),
        }
    }

    fn by_id(&self, ids: BTreeSet<u64>, kind: Kind, take: Take<'_>) -> Result<()> {
        for id in ids.into_iter().map(ResourceId) {
            let stat = match self.reading.stat(&At::Id(id))? {
                // Most unknown ids are not in the trash either, so it is only read (completely) for those
                // that are.
                None if self.reading.removed_with(id)?.is_some() => self.trash()?.stat_of(id)?,
                found => found,
            };
            self.all(std::iter::once(Ok(stat)), kind, take)?;
        }
        Ok(())
    }

    /// Everything below the collection that contains every match of the pattern.
    fn subtree(&self, kind: Kind, take: Take<'_>) -> Result<()> {
        let pattern = self.facts.pattern(Column::CollName);
        match pattern.map_or_else(|| Some(StorePath::root()), |pattern| top(self.zone(), pattern)) {
            Some(top) => {
                self.all(self.reading.below(&(&top).into())?, kind, take)?;
                match is_in_trash(&top) || top.names().is_empty() {
                    true => self.removed(&top, true, kind, take),
                    false => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// Passes on those of the given kind; `None` is a resource that the caller may not see.
    pub(super) fn all(
        &self,
        stats: impl Iterator<Item = cenote_store::Result<Option<Stat>>>,
        kind: Kind,
        take: Take<'_>,
    ) -> Result<()> {
        for stat in stats {
            self.meter.step()?;
            if let Some(stat) = stat?.filter(|stat| stat.resource.kind == kind) {
                take(stat)?;
            }
        }
        Ok(())
    }

    /// The rows of an object with its collection: one for each of its attributes, if they are needed.
    fn object(&self, stat: Stat, parents: &mut Parents<'_, 'a>, each: Each<'_>) -> Result<()> {
        let collections = self.about_any(OF_COLLECTIONS);
        let collection = collections.then(|| parents.of_object(&stat)).transpose()?;
        let avus = self.avus(Entity::ObjectAvu, stat.id.0)?;
        for (object_avu, object_access) in self.described(avus, Entity::ObjectAccess, Some(&stat)) {
            let user = self.holder(object_access.as_ref());
            let object = Some(stat.clone());
            let row = Row { object, object_avu, object_access, user, ..Row::default() };
            self.stored(&stat, &row, &mut |row| match &collection {
                Some(collection) => self.collection(collection.clone(), row, each),
                None => each(row),
            })?;
        }
        Ok(())
    }

    /// The rows of an object with each of its replicas and their resource, as far as they are needed.
    fn stored(&self, stat: &Stat, row: &Row, each: Each<'_>) -> Result<()> {
        if !self.of_places && !stat.resource.placement.is_listed() {
            return each(row.clone());
        }
        let replicas = self.reading.replicas(stat)?;
        let first = replicas.iter().find(|replica| replica.good).map(|replica| replica.number);
        for view in replicas {
            let resource = self.names.resource(view.place.0);
            let replica = Some(ReplicaRow { first: Some(view.number) == first, view });
            let row = Row { replica, ..row.clone() };
            match resource.filter(|_| self.of_places) {
                Some(resource) => self.resource(resource, &row, each)?,
                None => each(row)?,
            }
        }
        Ok(())
    }

    /// Every pair of an attribute and an access list entry, as far as they are needed.
    fn described(
        &self,
        avus: Vec<Option<Avu>>,
        access: Entity,
        stat: Option<&Stat>,
    ) -> impl Iterator<Item = Described> + use<> {
        let lines = self.access(access, stat);
        let pairs =
            move |avu: Option<Avu>| lines.clone().into_iter().map(move |line| (avu.clone(), line));
        avus.into_iter().flat_map(pairs)
    }

    /// The rows of a collection. Of a hidden one, only the name is revealed.
    fn collection(&self, mut collection: CollectionRow, row: Row, each: Each<'_>) -> Result<()> {
        let stat = collection.stat.as_ref();
        let timed = stat.filter(|_| self.of_members);
        collection.modified = timed.map(|stat| self.reading.shown_mtime(stat)).transpose()?;
        let avus = match stat {
            Some(stat) => self.avus(Entity::CollectionAvu, stat.id.0)?,
            None if self.about(Entity::CollectionAvu) => self.joined(Vec::new()),
            None => vec![None],
        };
        for (collection_avu, collection_access) in
            self.described(avus, Entity::CollectionAccess, stat)
        {
            let user = row.user.clone().or_else(|| self.holder(collection_access.as_ref()));
            let collection = Some(collection.clone());
            each(Row { collection, collection_avu, collection_access, user, ..row.clone() })?;
        }
        Ok(())
    }
}
