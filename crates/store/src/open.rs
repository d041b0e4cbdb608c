//! Making a store, and opening one.

use std::collections::HashMap;

use cenote_kv::ScanOptions;
use minicbor::{CborLen, Decode, Encode};

use crate::catalog::keys::{self, Counter};
use crate::catalog::{BlobRecord, Reads, Record, Transaction};
use crate::model::{
    Access, Grant, Kind, Level, PersonId, PlaceId, Replicas, Resource, ResourceId, Scope,
};
use crate::people;
use crate::store::Parts;
use crate::{Error, ErrorKind, Result, Store};

/// The format that this program writes.
const FORMAT: u32 = 3;

/// How many resources one commit of an upgrade looks at.
const STEP: usize = 1_024;

#[derive(Debug, Encode, Decode, CborLen)]
struct Format(#[n(0)] u32);

impl Store {
    /// Makes a new store on an empty catalog, with its first administrator.
    pub fn create_new(parts: Parts, admin: &str, password: &str) -> Result<Self> {
        let store = Self::assemble(parts);
        let password = store.hash_password(password)?;
        let admin_id = PersonId(store.new_id()?);
        store.transact(|tx| {
            if tx.has(&keys::setting("format"))? {
                return Err(Error::exists("a store is here already"));
            }
            tx.put(keys::setting("format"), &Format(FORMAT));
            people::found(tx, admin_id, admin, password.clone())?;
            tx.put(keys::resource(ResourceId::ROOT), &root(tx, admin_id));
            Ok(())
        })?;
        store.refresh_places()?;
        Ok(store)
    }

    /// Opens a store; one of an earlier format becomes one of this.
    pub fn open_existing(parts: Parts) -> Result<Self> {
        let store = Self::assemble(parts);
        match store.view()?.get::<Format>(&keys::setting("format"))? {
            Some(Format(format @ 1..=FORMAT)) => {
                if format < 2 {
                    store.count_copies()?;
                }
                if format < 3 {
                    store.name_anonymous()?;
                }
                store.refresh_places()?;
                Ok(store)
            }
            Some(Format(newer)) => Err(Error::new(
                ErrorKind::Damaged,
                format!("the store has format {newer}, this program knows {FORMAT}"),
            )
            .with_hint("use a newer cenote")),
            None => Err(Error::new(ErrorKind::NotFound, "no store is here")
                .with_hint("make one with `cenote init`")),
        }
    }
}

impl Store {
    /// From format 1 to 2: copies of blobs are counted.
    fn count_copies(&self) -> Result<()> {
        let mut copies = HashMap::<PlaceId, (i64, i64)>::new();
        let view = self.view()?;
        for row in view.0.scan(&keys::blobs(), ScanOptions::default()) {
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
    /// they were let in. A step that is run again changes nothing.
    fn name_anonymous(&self) -> Result<()> {
        let mut rest = keys::resources();
        loop {
            let rows = self.view()?.rows(&rest, STEP)?;
            self.transact(|tx| {
                for (key, _) in &rows {
                    let Some(mut resource) = tx.get::<Resource>(key)? else { continue };
                    if copy_public_to_anonymous(&mut resource.access) {
                        tx.put(key.clone(), &resource);
                    }
                }
                Ok(())
            })?;
            match rows.last() {
                Some((last, _)) if rows.len() == STEP => rest = keys::resources().after(last),
                _ => break,
            }
        }
        self.transact(|tx| {
            tx.put(keys::setting("format"), &Format(FORMAT));
            Ok(())
        })
    }
}

/// Gives callers without a login what everybody has; says whether that was more than they had.
fn copy_public_to_anonymous(access: &mut Access) -> bool {
    let before = access.clone();
    for grant in &before.grants {
        let of_anonymous =
            |other: &&Grant| other.person == PersonId::ANONYMOUS && other.scope == grant.scope;
        let level = before.grants.iter().find(of_anonymous).map_or(Level::Null, |own| own.level);
        if grant.person == PersonId::PUBLIC && grant.level > level {
            access.set(PersonId::ANONYMOUS, grant.level, grant.scope);
        }
    }
    *access != before
}

fn root(tx: &Transaction, admin: PersonId) -> Resource {
    let mut access = Access::default();
    access.set(PersonId::PUBLIC, Level::ReadObject, Scope::This);
    Resource {
        parent: ResourceId::ROOT,
        name: String::new(),
        kind: Kind::Collection,
        owner: admin,
        created: tx.now(),
        created_by: admin,
        modified: tx.now(),
        modified_by: admin,
        revision: 1,
        content: None,
        access,
        mode: None,
        mtime: None,
        versioning: None,
        target: None,
        replicas: Replicas::default(),
    }
}
