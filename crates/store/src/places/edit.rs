//! Adding, changing and removing places.
//!
//! Invariant: no place is added inside another, around one, or inside the directory of the store: what one of them deletes would be
//! the other's.

use std::collections::BTreeMap;

use super::known::{cause_of, default_place, no_place, records};
use crate::access::Act;
use crate::catalog::keys::{self, Counter};
use crate::catalog::{Reads, Transaction};
use crate::model::{Name, PlaceId, PlaceInfo, PlaceKind, PlaceState};
use crate::{Caller, Error, ErrorKind, Result, Store, metadata};

/// A place to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewPlace {
    /// Its name.
    pub name: String,
    /// Where it is: `file:///data/vault`, `s3://bucket/prefix`; none for a group. Credentials come from
    /// the program's environment or settings.
    pub address: Option<String>,
    /// The group it is added to.
    pub parent: Option<PlaceId>,
    /// What an opening keeps with it.
    pub properties: BTreeMap<String, String>,
}

/// Changes of a place; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlaceChange {
    /// Another name.
    pub name: Option<String>,
    /// Where its contents have been moved to, by other means.
    pub address: Option<String>,
    /// The group it is moved to; `Some(None)` removes it from its group.
    pub parent: Option<Option<PlaceId>>,
    /// Whether it is used.
    pub state: Option<PlaceState>,
    /// What an opening keeps with it; `None` forgets a word.
    pub properties: BTreeMap<String, Option<String>>,
}

impl Store {
    /// Adds a place or a group; it takes contents at once. Needs [`Act::Places`]. Blocks while the place is
    /// opened.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for an address that cannot be opened, or has credentials in it; [`ErrorKind::Denied`] for
    /// one that the program does not let contents be kept at, unless the caller has the store's directory open.
    pub fn add_place(&self, caller: &Caller, new: &NewPlace) -> Result<PlaceId> {
        caller.require(Act::Places)?;
        let kind = match &new.address {
            None => PlaceKind::Group,
            Some(address) => {
                self.try_address(caller, (None, &new.name), address)?;
                PlaceKind::Leaf { address: address.clone() }
            }
        };
        let id = PlaceId(self.new_id()?);
        self.transact(|tx| {
            new.address.as_ref().map_or(Ok(()), |address| self.require_apart(tx, None, address))?;
            let mut info = PlaceInfo { kind: kind.clone(), ..PlaceInfo::main() };
            (info.created, info.modified) = (tx.now(), tx.now());
            rename(tx, &mut info, &new.name)?;
            enter(tx, id, &mut info, new.parent)?;
            info.properties.clone_from(&new.properties);
            tx.put(keys::place(id), &info);
            Ok(())
        })?;
        self.show_places();
        Ok(id)
    }

    /// Changes a place. Needs [`Act::Places`]. Blocks while the place is opened.
    pub fn change_place(&self, caller: &Caller, id: PlaceId, change: &PlaceChange) -> Result<()> {
        caller.require(Act::Places)?;
        if let Some(address) = &change.address {
            self.try_address(caller, (Some(id), &self.known().name(id)), address)?;
        }
        self.transact(|tx| {
            let mut info = record(tx, id)?;
            if let Some(name) = change.name.as_ref().filter(|name| **name != info.name) {
                rename(tx, &mut info, name)?;
            }
            if let Some(address) = &change.address {
                self.require_apart(tx, Some(id), address)?;
                readdress(&mut info, address)?;
            }
            if let Some(parent) = change.parent {
                enter(tx, id, &mut info, parent)?;
            }
            info.state = change.state.unwrap_or(info.state);
            for (word, text) in &change.properties {
                match text {
                    Some(text) => drop(info.properties.insert(word.clone(), text.clone())),
                    None => drop(info.properties.remove(word)),
                }
            }
            info.modified = tx.now();
            tx.put(keys::place(id), &info);
            Ok(())
        })?;
        self.show_places();
        Ok(())
    }

    /// Makes this place or group the default for new contents. Needs [`Act::Places`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] if no content could go there now.
    pub fn set_default_place(&self, caller: &Caller, id: PlaceId) -> Result<()> {
        caller.require(Act::Places)?;
        self.known().destination(Some(id)).map_err(|cause| {
            Error::invalid(format!("it cannot be the default: {cause}"))
                .with_hint("add a place to the group, or set the place up, first")
        })?;
        self.transact(|tx| {
            record(tx, id)?;
            tx.put(keys::setting("default-place"), &id);
            Ok(())
        })?;
        self.show_places();
        Ok(())
    }

    /// Forgets a place that holds nothing. Needs [`Act::Places`].
    ///
    /// # Errors
    /// [`ErrorKind::NotEmpty`] while it is not empty, [`ErrorKind::Invalid`] while it is in a group, is the
    /// default, or is [`PlaceId::MAIN`].
    pub async fn remove_place(&self, caller: &Caller, id: PlaceId) -> Result<()> {
        caller.require(Act::Places)?;
        // The contents of removed trees there are unreferenced.
        self.blocking(|store| store.run_jobs()).await?;
        self.sweep_place(id).await?;
        self.blocking(move |store| {
            store.transact(|tx| {
                refuse_in_use(tx, id)?;
                metadata::erase(tx, id.0)?;
                tx.delete(keys::place(id));
                Ok(())
            })?;
            store.show_places();
            Ok(())
        })
        .await
    }

    /// Opens the address, once the caller is known to be allowed to add it: opening creates directories.
    fn try_address(
        &self,
        caller: &Caller,
        (id, name): (Option<PlaceId>, &str),
        address: &str,
    ) -> Result<()> {
        if has_credentials(address) {
            return Err(Error::invalid("an address cannot contain credentials")
                .with_hint("give them in the environment or the settings of the program"));
        }
        if !self.parts().opener.may_add(address) {
            caller.require(Act::AnyAddress)?;
        }
        self.require_apart(&self.view()?, id, address)?;
        let opened = self.parts().opener.open(name, address);
        opened.map(drop).map_err(|error| {
            Error::invalid(format!("this place cannot be opened: {}", cause_of(&error)))
                .with_hint("give an address like file:///data/vault or s3://bucket/prefix")
        })
    }

    /// Refuses an address for the place `id`, or for a new one, that is not apart from everything that is kept.
    fn require_apart(&self, reads: &impl Reads, id: Option<PlaceId>, address: &str) -> Result<()> {
        let opener = &self.parts().opener;
        if opener.is_inside_store(address) {
            return Err(Error::invalid("this address is inside the directory of the store")
                .with_hint("choose a directory outside of it"));
        }
        let others = records(reads)?.into_iter().filter(|(other, _)| Some(*other) != id);
        for (_, other) in others {
            if let PlaceKind::Leaf { address: taken } = &other.kind
                && opener.overlap(address, taken)
            {
                let message = format!(
                    "the place {} has this address, or one is inside the other",
                    other.name
                );
                return Err(Error::invalid(message).with_hint("choose an address outside of it"));
            }
        }
        Ok(())
    }
}

/// The record of a place.
fn record(tx: &Transaction, id: PlaceId) -> Result<PlaceInfo> {
    let found = records(tx)?.into_iter().find(|(known, _)| *known == id);
    found.map(|(_, info)| info).ok_or_else(|| no_place(&format!("#{id}")))
}

fn rename(tx: &Transaction, info: &mut PlaceInfo, name: &str) -> Result<()> {
    let name = Name::new(name)?.as_str().to_owned();
    if records(tx)?.iter().any(|(_, other)| other.name == name) {
        return Err(Error::exists(format!("place {name}")));
    }
    info.name = name;
    Ok(())
}

fn readdress(info: &mut PlaceInfo, to: &str) -> Result<()> {
    match &mut info.kind {
        PlaceKind::Leaf { address } => {
            to.clone_into(address);
            Ok(())
        }
        _ => Err(Error::invalid(format!("it has no address to change: {}", info.name))),
    }
}

/// Puts a place into a group, or takes it out.
fn enter(
    tx: &Transaction,
    id: PlaceId,
    info: &mut PlaceInfo,
    parent: Option<PlaceId>,
) -> Result<()> {
    let records: BTreeMap<_, _> = records(tx)?.into_iter().collect();
    if let Some(parent) = parent {
        let group = records.get(&parent).ok_or_else(|| no_place(&format!("#{parent}")))?;
        if group.kind != PlaceKind::Group {
            return Err(Error::invalid(format!("no group: {}", group.name))
                .with_hint("add a group, and both places to it"));
        }
        let above = |id: &PlaceId| records.get(id).and_then(|info| info.parent);
        if std::iter::successors(Some(parent), above).any(|above| above == id) {
            return Err(Error::invalid(format!("a group cannot be in itself: {}", info.name)));
        }
    }
    info.parent = parent;
    Ok(())
}

fn refuse_in_use(tx: &Transaction, id: PlaceId) -> Result<()> {
    let info = record(tx, id)?;
    let refuse =
        |why: &str, hint| Err(Error::invalid(format!("{why}: {}", info.name)).with_hint(hint));
    if id == PlaceId::MAIN {
        return refuse(
            "the store's own place cannot be removed",
            "drain it, or take it out of use, instead",
        );
    }
    if default_place(tx)? == id {
        return refuse("this is the place for new contents", "make another one the default first");
    }
    if info.parent.is_some() {
        return refuse("it is in a group", "take it out of its group first");
    }
    let holds = [Counter::Resources, Counter::Replicas].map(|what| tx.counter(id.0, what));
    let members = records(tx)?.iter().any(|(_, other)| other.parent == Some(id));
    for held in holds {
        if members || held? != 0 {
            let message = format!("it is not empty: {}", info.name);
            return Err(Error::new(ErrorKind::NotEmpty, message)
                .with_hint("`cenote place drain` moves its contents to another place"));
        }
    }
    Ok(())
}

/// Whether there is a password in an address, or something that could hold a signature.
fn has_credentials(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || address.contains(['?', '#'])
}
