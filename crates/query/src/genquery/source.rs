//! Where the rows about objects and collections come from: the cheapest way that the conditions allow.
//!
//! A query about objects or collections takes, in this order: what the index has for an attribute,
//! a value or both; one collection that is named; the subtree that a pattern begins with; everything.
//! What is found by any of them is tested against all conditions afterwards.

use std::collections::BTreeSet;

use cenote_store::{At, Avu, Kind, ListOptions, Reading, ResourceId, Stat, StorePath};

use super::access::Access;
use super::collection_path::{parse, top};
use super::column::{Column, Entity};
use super::parents::Parents;
use super::row::{Names, ReplicaRow, Row};
use super::statement::Test;
use super::zone::Zone;
use crate::Result;

/// The most that an index may give before a walk is tried instead.
const MOST: usize = 1 << 20;

/// Columns of these are of collections.
const OF_COLLECTIONS: &[Entity] =
    &[Entity::Collection, Entity::CollectionAvu, Entity::CollectionAccess];

type Described = (Option<Avu>, Option<Access>);

/// What a query reads, and what it asks for.
pub(super) struct Source<'a> {
    pub(super) reading: &'a Reading,
    pub(super) names: &'a Names<'a>,
    /// Conditions that every row of the answer passes.
    pub(super) tests: &'a [Test],
    pub(super) entities: BTreeSet<Entity>,
    /// Values narrow the search as they are only where case counts.
    pub(super) case_sensitive: bool,
    /// Whether it matters where objects are.
    pub(super) of_places: bool,
    /// Whether what has no attribute has a row nevertheless.
    pub(super) outer: bool,
}

impl Source<'_> {
    /// Gives every row that may answer to `each`.
    pub(super) fn rows(&self, each: &mut dyn FnMut(Row)) -> Result<()> {
        use Entity as E;
        let about = |entities: &[E]| self.about_any(entities);
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

    pub(super) fn about(&self, entity: Entity) -> bool {
        self.entities.contains(&entity)
    }

    /// The attributes of something, as rows are made of them: those it has if they matter.
    pub(super) fn avus(&self, entity: Entity, id: u64) -> Result<Vec<Option<Avu>>> {
        if !self.about(entity) {
            return Ok(vec![None]);
        }
        Ok(self.joined(self.reading.avus(id)?))
    }

    /// One row for each; for none of them no row, or one without.
    pub(super) fn joined<T>(&self, items: Vec<T>) -> Vec<Option<T>> {
        match items.is_empty() && self.outer {
            true => vec![None],
            false => items.into_iter().map(Some).collect(),
        }
    }

    fn zone(&self) -> &Zone {
        self.names.zone
    }

    fn objects(&self, each: &mut dyn FnMut(Row)) -> Result<()> {
        let mut parents = Parents::of(self.reading);
        let indexed = self.indexed(Column::MetaDataName, Column::MetaDataValue)?;
        let named = self.value(Column::CollName);
        let name = self.value(Column::DataName);
        let mut take = |stat: Stat| self.object(stat, &mut parents, each);
        if let Some(ids) = indexed {
            return self.by_id(ids, Kind::Object, &mut take);
        }
        match (named, name) {
            (Some(collection), Some(name)) => {
                let path = parse(self.zone(), collection);
                let name = cenote_store::Name::new(name).ok();
                let path = path.zip(name).and_then(|(path, name)| path.join(name).ok());
                let stat = path.map(|path| self.reading.stat(&path.into())).transpose()?.flatten();
                stat.filter(|stat| stat.resource.kind == Kind::Object).map_or(Ok(()), take)
            }
            (Some(collection), None) => match parse(self.zone(), collection) {
                Some(path) => self.children(&path, Kind::Object, &mut take),
                None => Ok(()),
            },
            _ => self.subtree(Column::CollName, Kind::Object, &mut take),
        }
    }

    fn collections(&self, each: &mut dyn FnMut(Row)) -> Result<()> {
        let mut take = |stat: Stat| self.collection(stat, Row::default(), each);
        if let Some(ids) = self.indexed(Column::MetaCollName, Column::MetaCollValue)? {
            return self.by_id(ids, Kind::Collection, &mut take);
        }
        if let Some(name) = self.value(Column::CollName) {
            let path = parse(self.zone(), name);
            let stat = path.map(|path| self.reading.stat(&path.into())).transpose()?.flatten();
            return stat.filter(|s| s.resource.kind == Kind::Collection).map_or(Ok(()), take);
        }
        match self.value(Column::CollParentName).map(|name| parse(self.zone(), name)) {
            Some(Some(path)) => self.children(&path, Kind::Collection, &mut take),
            Some(None) => self.root(&mut take),
            None => {
                self.root(&mut take)?;
                self.subtree(Column::CollName, Kind::Collection, &mut take)
            }
        }
    }

    fn root(&self, take: &mut dyn FnMut(Stat) -> Result<()>) -> Result<()> {
        self.reading.stat(&At::Id(ResourceId::ROOT))?.map_or(Ok(()), take)
    }

    /// What the index has for an attribute, a value or both; none, if it does not help.
    fn indexed(&self, name: Column, value: Column) -> Result<Option<BTreeSet<u64>>> {
        Ok(match (self.value(name), self.value(value)) {
            (Some(attribute), value) => self.reading.stating(attribute, value, MOST)?,
            (None, Some(value)) => self.reading.stating_value(value, MOST)?,
            (None, None) => None,
        })
    }

    /// The one value that a column must have.
    fn value(&self, column: Column) -> Option<&str> {
        let mut tests = self.tests(column);
        tests.find_map(Test::only_value).filter(|_| self.case_sensitive)
    }

    fn tests(&self, column: Column) -> impl Iterator<Item = &Test> {
        self.tests.iter().filter(move |test| test.column == column)
    }

    fn by_id(
        &self,
        ids: BTreeSet<u64>,
        kind: Kind,
        take: &mut dyn FnMut(Stat) -> Result<()>,
    ) -> Result<()> {
        for id in ids {
            let stat = self.reading.stat(&At::Id(ResourceId(id)))?;
            if let Some(stat) = stat.filter(|stat| stat.resource.kind == kind) {
                take(stat)?;
            }
        }
        Ok(())
    }

    fn children(
        &self,
        path: &StorePath,
        kind: Kind,
        take: &mut dyn FnMut(Stat) -> Result<()>,
    ) -> Result<()> {
        let mut options = ListOptions { after: None, limit: ListOptions::MAX };
        loop {
            let page = match self.reading.list(&path.into(), &options) {
                Ok(page) => page,
                Err(error) if is_missing(&error) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            for stat in page.entries.into_iter().filter(|stat| stat.resource.kind == kind) {
                take(stat)?;
            }
            options.after = page.next;
            if options.after.is_none() {
                return Ok(());
            }
        }
    }

    /// All below the collection that every match of a pattern lies in.
    fn subtree(
        &self,
        column: Column,
        kind: Kind,
        take: &mut dyn FnMut(Stat) -> Result<()>,
    ) -> Result<()> {
        let pattern = self.tests(column).find_map(Test::only_pattern);
        let top = pattern.filter(|_| self.case_sensitive).map(|pattern| top(self.zone(), pattern));
        let top = match top {
            Some(None) => return Ok(()),
            Some(Some(path)) => path,
            None => StorePath::root(),
        };
        let below = match self.reading.below(&top.into()) {
            Ok(below) => below,
            Err(error) if is_missing(&error) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for stat in below {
            let stat = stat?;
            if stat.resource.kind == kind {
                take(stat)?;
            }
        }
        Ok(())
    }

    /// The rows of an object: with its collection, and one for each of its attributes if they matter.
    fn object(
        &self,
        stat: Stat,
        parents: &mut Parents<'_>,
        each: &mut dyn FnMut(Row),
    ) -> Result<()> {
        let collections = self.about_any(OF_COLLECTIONS);
        let collection = if collections { parents.get(stat.resource.parent)? } else { None };
        for (object_avu, object_access) in
            self.described(Entity::ObjectAvu, Entity::ObjectAccess, &stat)?
        {
            let user = self.holder(object_access.as_ref());
            let object = Some(stat.clone());
            let row = Row { object, object_avu, object_access, user, ..Row::default() };
            self.stored(&stat, &row, &mut |row| match &collection {
                Some(collection) => self.collection(collection.clone(), row, each),
                None => {
                    each(row);
                    Ok(())
                }
            })?;
        }
        Ok(())
    }

    /// The rows of an object with each of its replicas, and the resource that it is on, as far as they matter.
    fn stored(
        &self,
        stat: &Stat,
        row: &Row,
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        if !self.of_places && stat.resource.replicas.is_empty() {
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

    /// Every pair of an attribute and a line of the access list, as far as they matter.
    fn described(&self, avu: Entity, access: Entity, stat: &Stat) -> Result<Vec<Described>> {
        let lines = self.access(access, stat);
        let avus = self.avus(avu, stat.id.0)?.into_iter();
        Ok(avus.flat_map(|avu| lines.iter().map(move |line| (avu.clone(), *line))).collect())
    }

    fn collection(&self, stat: Stat, row: Row, each: &mut dyn FnMut(Row)) -> Result<()> {
        for (collection_avu, collection_access) in
            self.described(Entity::CollectionAvu, Entity::CollectionAccess, &stat)?
        {
            let user = row.user.clone().or_else(|| self.holder(collection_access.as_ref()));
            let collection = Some(stat.clone());
            each(Row { collection, collection_avu, collection_access, user, ..row.clone() });
        }
        Ok(())
    }
}

fn is_missing(error: &cenote_store::Error) -> bool {
    use cenote_store::ErrorKind as K;
    matches!(error.kind(), K::NotFound | K::Denied | K::WrongKind)
}
