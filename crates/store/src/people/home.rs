//! Where a user's own things go by custom: `/home/NAME`, and `/trash/home/NAME` for what they
//! removed and may want back.
//!
//! Its parent collections belong to the owner of the root, and everybody may list them.

use super::account::{by_name, nobody};
use crate::access::Act;
use crate::catalog::Transaction;
use crate::model::{Kind, Name, PersonId, PersonKind, ResourceId, Rights, Scope, StorePath};
use crate::resources::{insert, locate, owned_resource, require_collection};
use crate::{Caller, Error, Result, Store};

impl Store {
    /// Creates the home and the trash of a user, if missing. Users may create their own;
    /// for others it needs [`Act::Groups`].
    pub fn make_home(&self, caller: &Caller, user: &str) -> Result<()> {
        caller.require(if caller.name() == user { Act::Home } else { Act::Groups })?;
        self.transact(|tx| {
            let (owner, person) = by_name(tx, user)?.ok_or_else(|| nobody(user))?;
            if person.kind != PersonKind::User {
                return Err(Error::invalid(format!("a group has no home: {user}")));
            }
            self.make_home_of(tx, owner, user)
        })
    }

    pub(super) fn make_home_of(
        &self,
        tx: &mut Transaction,
        owner: PersonId,
        user: &str,
    ) -> Result<()> {
        let name = Name::new(user)?;
        self.make_own(tx, owner, &["home"], &name)?;
        self.make_own(tx, owner, &["trash", "home"], &name)
    }

    fn make_own(
        &self,
        tx: &mut Transaction,
        owner: PersonId,
        way: &[&str],
        name: &Name,
    ) -> Result<()> {
        let mut path = StorePath::root();
        for step in way {
            path = self.collection_for(tx, None, &path, Name::new(*step)?)?;
        }
        self.collection_for(tx, Some(owner), &path, name.clone()).map(drop)
    }

    /// Creates one collection, if it is missing, for `owner`, or for everybody to list.
    fn collection_for(
        &self,
        tx: &mut Transaction,
        owner: Option<PersonId>,
        above: &StorePath,
        name: Name,
    ) -> Result<StorePath> {
        let path = above.join(name.clone())?;
        if locate(tx, &(&path).into())?.is_some() {
            return Ok(path);
        }
        let parent = locate(tx, &above.into())?
            .ok_or_else(|| Error::damaged("the path to a home collection"))?;
        require_collection(&parent)?;
        let root = parent.resources().last().map(|root| root.owner);
        let person = owner.or(root).ok_or_else(|| Error::damaged("the root has no record"))?;
        let mut resource = owned_resource(tx, person, &parent, name, Kind::Collection);
        if owner.is_none() {
            resource.access.set(PersonId::PUBLIC, Rights::READ_OBJECT, Scope::This);
        }
        insert(tx, ResourceId(self.new_id()?), &resource);
        Ok(path)
    }
}
