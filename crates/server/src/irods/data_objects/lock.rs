//! At most one parallel write per object, and no more streams than the server allows.
//!
//! A lock is a note named by the object's path. It holds while the parallel write is open and bytes arrive:
//! one without any write for a while has expired, and is swept.
//!
//! Whether the caller may take a lock is decided by the code that resolves the destination: callers who may
//! not write there are refused before. Only the owner can renew and release a lock, whatever else they may still write.

use std::time::Duration;

use cenote_store::{
    Caller, Entropy, Error, ErrorKind, Result, Store, StorePath, SystemEntropy, Time,
};
use serde::{Deserialize, Serialize};

use crate::irods::call::code::{Code, Refusal};
use crate::irods::zone::notes;
use crate::irods::zone::notes::{Changing, Note};

/// How long a lock holds without a write.
const IDLE: Duration = Duration::from_secs(900);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Lock {
    /// Identifies the parallel write that holds it; random, so that it cannot be guessed.
    number: u64,
    /// The user who began it.
    owner: u64,
    streams: u64,
    /// Expiry, in seconds since 1970.
    expires: i64,
}

impl Note for Lock {
    const FAMILY: &'static str = "lock";
}

impl Lock {
    fn holds(&self, now: Time) -> bool {
        self.expires > now.secs()
    }

    fn is(&self, number: u64, caller: &Caller) -> bool {
        (self.number, self.owner) == (number, caller.user().0)
    }
}

/// Takes the lock of an object for some streams, `most` of which may be open in total; returns its number.
pub(crate) fn acquire(
    store: &Store,
    caller: &Caller,
    path: &StorePath,
    streams: u64,
    most: u64,
) -> Result<std::result::Result<u64, Refusal>> {
    let number = random();
    notes::tend(store, |notes| {
        let now = notes.now();
        if notes.get::<Lock>(&path.to_string())?.is_some_and(|lock| lock.holds(now)) {
            return Ok(Err(taken()));
        }
        let others = notes.all::<Lock>()?.into_iter().filter(|(_, lock)| lock.holds(now));
        if others.map(|(_, lock)| lock.streams).sum::<u64>() + streams > most {
            return Ok(Err(Refusal::BUSY));
        }
        let expires = now.plus(IDLE).secs();
        let owner = caller.user().0;
        notes.put(&path.to_string(), &Lock { number, owner, streams, expires })?;
        Ok(Ok(number))
    })
}

/// Whether a lock still holds; if so, it is extended once half of its time has passed.
pub(crate) fn renew(store: &Store, caller: &Caller, path: &StorePath, number: u64) -> Result<bool> {
    notes::tend(store, |notes| {
        let now = notes.now();
        let lock = notes.get::<Lock>(&path.to_string())?;
        let Some(lock) = lock.filter(|lock| lock.is(number, caller) && lock.holds(now)) else {
            return Ok(false);
        };
        if !lock.holds(now.plus(IDLE / 2)) {
            let expires = now.plus(IDLE).secs();
            notes.put(&path.to_string(), &Lock { expires, ..lock })?;
        }
        Ok(true)
    })
}

/// Releases a lock, if it still has this number and belongs to the caller.
pub(crate) fn release(store: &Store, caller: &Caller, path: &StorePath, number: u64) -> Result<()> {
    remove(store, path, |lock| lock.is(number, caller))
}

/// Releases a lock in the commit that publishes what was written under it.
///
/// # Errors
/// [`ErrorKind::Conflict`], if it no longer holds.
pub(crate) fn give_back(
    notes: &mut Changing<'_, '_>,
    caller: &Caller,
    path: &StorePath,
    number: u64,
) -> Result<()> {
    let (now, name) = (notes.now(), path.to_string());
    let lock = notes.get::<Lock>(&name)?;
    if !lock.is_some_and(|lock| lock.is(number, caller) && lock.holds(now)) {
        let message = "the parallel write has ended: no data arrived for too long";
        return Err(Error::new(ErrorKind::Conflict, message).with_hint("begin again"));
    }
    notes.remove::<Lock>(&name);
    Ok(())
}

fn random() -> u64 {
    let mut bytes = [0; 8];
    SystemEntropy.fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

fn remove(store: &Store, path: &StorePath, condition: impl Fn(&Lock) -> bool) -> Result<()> {
    notes::tend(store, |notes| {
        if notes.get::<Lock>(&path.to_string())?.is_some_and(|lock| condition(&lock)) {
            notes.remove::<Lock>(&path.to_string());
        }
        Ok(())
    })
}

/// Refuses to write to an object that is locked by a parallel write.
pub(crate) fn check(store: &Store, path: &StorePath) -> Result<std::result::Result<(), Refusal>> {
    let lock = notes::get::<Lock>(store, &path.to_string())?;
    Ok(if lock.is_some_and(|lock| lock.holds(store.now())) { Err(taken()) } else { Ok(()) })
}

/// Removes expired locks.
pub(crate) fn sweep(store: &Store, now: Time) -> Result<()> {
    let left = notes::all::<Lock>(store)?.into_iter().filter(|(_, lock)| !lock.holds(now));
    for (path, lock) in left {
        remove(store, &path.parse()?, |now| now.number == lock.number)?;
    }
    Ok(())
}

fn taken() -> Refusal {
    Refusal::code(Code::HierarchyError)
        .with_message("a parallel write to this data object is in progress")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irods::zone::notes::tests::store;

    #[test]
    fn a_lock_without_writes_expires_and_is_swept() {
        let (store, ada) = store();
        let path: StorePath = "/o".parse().unwrap();
        let take = || acquire(&store, &ada, &path, 2, 3).unwrap().ok();
        let number = take().unwrap();
        assert_eq!(take(), None);
        let other = "/p".parse().unwrap();
        assert!(acquire(&store, &ada, &other, 2, 3).unwrap().is_err(), "no more streams");
        let now = store.now();
        sweep(&store, now).unwrap();
        assert!(renew(&store, &ada, &path, number).unwrap(), "it holds still");
        let stranger = store.anonymous().unwrap();
        release(&store, &stranger, &path, number).unwrap();
        assert!(!renew(&store, &stranger, &path, number).unwrap());
        assert!(
            renew(&store, &ada, &path, number).unwrap(),
            "who has not begun it does not end it"
        );
        sweep(&store, now.plus(IDLE * 2)).unwrap();
        assert!(!renew(&store, &ada, &path, number).unwrap());
        assert!(check(&store, &path).unwrap().is_ok());
        assert_ne!(take(), Some(number));
    }

    #[tokio::test]
    async fn only_the_holder_of_the_lock_publishes() {
        let (store, ada) = store();
        let path: StorePath = "/o".parse().unwrap();
        let begin = || store.begin_upload(&ada, &path, &Default::default()).unwrap().id;
        let take = || acquire(&store, &ada, &path, 1, 9).unwrap().ok().unwrap();
        let publish = async |upload, number| {
            let (ada, path) = (ada.clone(), path.clone());
            let (caller, object) = (ada.clone(), path.clone());
            let unlock =
                move |notes: &mut Changing<'_, '_>| give_back(notes, &caller, &object, number);
            notes::complete_upload(&store, &ada, upload, unlock).await.map(drop)
        };
        let (upload, lost) = (begin(), take());
        release(&store, &ada, &path, lost).unwrap();
        let taken = take();
        let refused = publish(upload, lost).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(store.stat(&ada, &(&path).into()).is_err(), "nothing was published");
        assert!(renew(&store, &ada, &path, taken).unwrap(), "the other has it still");
        publish(begin(), taken).await.unwrap();
        assert!(store.stat(&ada, &(&path).into()).is_ok());
        assert!(!renew(&store, &ada, &path, taken).unwrap(), "the commit gave it back");
    }
}
