//! Making a store, and opening one.

use minicbor::{Decode, Encode};

use crate::catalog::keys;
use crate::catalog::{Reads, Transaction};
use crate::copy::unfinished;
use crate::model::{Access, Kind, Name, PersonId, Resource, ResourceId, Rights, Scope};
use crate::people;
use crate::store::Parts;
use crate::{Error, ErrorKind, Result, Store};

/// The format that this program writes.
pub(crate) const FORMAT: u32 = 8;

#[derive(Debug, Encode, Decode)]
pub(crate) struct Format(#[n(0)] pub(crate) u32);

impl Store {
    /// Creates a new store on an empty catalog, with its first administrator.
    pub fn create_new(parts: Parts, admin: &str, password: &str) -> Result<Self> {
        let store = Self::assemble(parts);
        let password = store.hash_password(password)?;
        let admin_id = PersonId(store.new_id()?);
        store.transact(|tx| {
            if tx.has(&keys::setting("format"))? {
                return Err(Error::exists("a store is here already"));
            }
            if tx.has(&keys::setting("unfinished"))? {
                return Err(unfinished());
            }
            tx.put(keys::setting("format"), &Format(FORMAT));
            people::found(tx, admin_id, admin, password.clone())?;
            tx.put(keys::resource(ResourceId::ROOT), &root(tx, admin_id));
            Ok(())
        })?;
        store.refresh_places()?;
        Ok(store)
    }

    /// Whether opening the store would change its format, which needs a catalog that no other server has open.
    pub fn is_of_earlier_format(parts: &Parts) -> Result<bool> {
        let store = Self::assemble(parts.clone());
        let found = store.view()?.get::<Format>(&keys::setting("format"))?;
        Ok(found.is_some_and(|Format(format)| format < FORMAT))
    }

    /// Opens a store; one of an earlier format becomes one of this.
    pub fn open_existing(parts: Parts) -> Result<Self> {
        let store = Self::assemble(parts);
        match store.view()?.get::<Format>(&keys::setting("format"))? {
            Some(Format(format @ 1..=FORMAT)) => {
                store.upgrade(format)?;
                store.refresh_places()?;
                store.load_damage()?;
                Ok(store)
            }
            Some(Format(newer)) => Err(Error::new(
                ErrorKind::Damaged,
                format!("the store has format {newer}, this program knows {FORMAT}"),
            )
            .with_hint("use a newer cenote")),
            None if store.view()?.has(&keys::setting("unfinished"))? => Err(unfinished()),
            None => Err(Error::new(ErrorKind::NotFound, "no store is here")
                .with_hint("make one with `cenote init`")),
        }
    }
}

fn root(tx: &Transaction, admin: PersonId) -> Resource {
    let mut access = Access::default();
    access.set(PersonId::PUBLIC, Rights::READ_OBJECT, Scope::This);
    let nameless = Name::trusted("");
    let root = Resource::new(ResourceId::ROOT, &nameless, Kind::Collection, admin, tx.now());
    Resource { access, ..root }
}
