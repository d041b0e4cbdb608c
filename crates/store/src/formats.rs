//! The format of a catalog, and what a program does with one that is not of its own.
//!
//! An embedded store gets the newest format when it is opened. Over a catalog that several servers share, programs of two formats may
//! run side by side while the servers are updated one after the other: the format of the catalog counts, the newer program serves the
//! former format as it is, and it is changed on request, once every server knows the newer one.
//!
//! Invariants: nothing is read or changed on a snapshot whose format the program does not know; over a shared catalog a change rests
//! on the format that it was made in, so that it is never committed in a later one.

use cenote_kv::Snapshot;
use minicbor::{Decode, Encode};

use crate::access::{Act, Caller};
use crate::catalog::{Reads, Record, ServerRecord, Transaction, keys};
use crate::{Error, ErrorKind, Parts, Result, Store};

/// The format that this program writes.
pub(crate) const FORMAT: u32 = 9;
/// The oldest that it serves as it is. A format that changes records or indexes that exist is not served beside the one before it.
const SERVED: u32 = 9;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Format(#[n(0)] pub(crate) u32);

/// The formats of a catalog that a program knows. They come in with the other parts, so that a test can be of the next program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// The oldest in which it serves a shared catalog: what it writes then is understood by programs that know no later one.
    pub served: u32,
    /// That of new stores, and of an embedded one once it was opened.
    pub newest: u32,
}

impl Default for Formats {
    fn default() -> Self {
        Self { served: SERVED, newest: FORMAT }
    }
}

/// The format of a catalog before and after somebody asked for the newest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upgraded {
    /// The former format; the same if there was nothing to do.
    pub from: u32,
    /// The format that it has now.
    pub to: u32,
}

impl Formats {
    /// What a store of format `found` becomes when it is opened.
    pub(crate) fn when_opened(self, found: u32, is_shared: bool) -> u32 {
        found.max(if is_shared { self.served } else { self.newest })
    }
}

impl Store {
    /// Whether the store has to be upgraded before it is served, by a program that has the catalog alone.
    pub fn must_be_upgraded(parts: &Parts) -> Result<bool> {
        let store = Self::assemble(parts.clone());
        let found = store.view()?.get::<Format>(&keys::setting("format"))?;
        Ok(found.is_some_and(|Format(found)| found < parts.formats.served))
    }

    /// Gives a shared catalog the newest format that this program knows. Needs [`Act::Inspect`].
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] as long as a server does not know that format.
    pub fn adopt_format(&self, caller: &Caller) -> Result<Upgraded> {
        caller.require(Act::Inspect)?;
        let to = self.parts().formats.newest;
        let from = self.itself().transact(|tx| {
            let Format(from) = tx.get(&keys::setting("format"))?.unwrap_or(Format(to));
            if from < to {
                require_known_by_all(tx, to)?;
                tx.put(keys::setting("format"), &Format(to));
            }
            Ok(from)
        })?;
        if from < to {
            tracing::info!(from, to, "the format of the store was changed");
        }
        Ok(Upgraded { from, to })
    }

    /// Says that a store which was opened keeps its format until somebody changes it.
    pub(crate) fn announce_format(&self, format: u32) {
        let newest = self.parts().formats.newest;
        if format < newest {
            tracing::info!(
                format,
                newest,
                "`cenote upgrade` changes the format once all servers are updated"
            );
        }
    }

    /// The format of the catalog in a snapshot: the newest, if none was recorded yet.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`] for one that this program does not know.
    pub(crate) fn format_of(&self, snapshot: &dyn Snapshot) -> Result<u32> {
        let newest = self.parts().formats.newest;
        let found = snapshot.get(&keys::setting("format"))?;
        let found = found.map(|value| Format::from_value(&value)).transpose()?;
        match found {
            Some(Format(found)) if found > newest => Err(unknown(found, newest)),
            Some(Format(found)) => Ok(found),
            None => Ok(newest),
        }
    }
}

/// The refusal of a store that a later program has upgraded.
pub(crate) fn unknown(found: u32, newest: u32) -> Error {
    let message = format!("the store has format {found}, this program knows {newest}");
    Error::new(ErrorKind::Unavailable, message).with_hint("use a newer cenote")
}

/// The change rests on all servers: one that appears meanwhile is looked at, too.
fn require_known_by_all(tx: &Transaction, format: u32) -> Result<()> {
    let (mut all, mut behind) = (0, 0);
    for (_, value) in tx.rows(&keys::servers(), usize::MAX)? {
        all += 1;
        behind += usize::from(ServerRecord::from_value(&value)?.newest_format() < format);
    }
    if behind == 0 {
        return Ok(());
    }
    let message = format!("{behind} of {all} servers do not know format {format}");
    Err(Error::new(ErrorKind::Conflict, message)
        .with_hint("update them first; one that was killed is forgotten within half a minute"))
}

#[cfg(test)]
mod tests;
