//! Making a store, and opening one.

use crate::catalog::keys;
use crate::catalog::{Reads, Transaction};
use crate::copy::unfinished;
use crate::formats::{Format, unknown};
use crate::model::{Access, Kind, Name, PersonId, Resource, ResourceId, Rights, Scope};
use crate::people;
use crate::store::Parts;
use crate::{Error, ErrorKind, Result, Store};

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
            tx.put(keys::setting("format"), &Format(store.parts().formats.newest));
            people::found(tx, admin_id, admin, password.clone())?;
            tx.put(keys::resource(ResourceId::ROOT), &root(tx, admin_id));
            Ok(())
        })?;
        store.refresh_places()?;
        Ok(store)
    }

    /// Opens a store; one of an earlier format becomes one of the newest, or, over a shared catalog, of the oldest that may be served.
    pub fn open_existing(parts: Parts) -> Result<Self> {
        let (formats, store) = (parts.formats, Self::assemble(parts));
        match store.view()?.get::<Format>(&keys::setting("format"))? {
            Some(Format(found)) if (1..=formats.newest).contains(&found) => {
                let format = formats.when_opened(found, store.is_shared());
                store.upgrade(found, format)?;
                store.refresh_places()?;
                store.load_damage()?;
                store.announce_format(format);
                Ok(store)
            }
            Some(Format(found)) => Err(unknown(found, formats.newest)),
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
