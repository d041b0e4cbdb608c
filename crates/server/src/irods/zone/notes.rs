//! What the protocol has and the store does not model: other zones, stored queries, delayed rules … Each is a
//! note in the store, in JSON, named by its family and its own name; so any server over the same catalog sees it.

use bytes::Bytes;
use cenote_store::{
    Act, Caller, Error, ErrorKind, Notes, Part, Result, Stat, Store, Time, UploadId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

const OPENING: &str = "irods";
/// The note that holds the next free number.
const NEXT_NUMBER: &str = "next-number";
/// Numbers start here, so that none looks like one of iRODS' own.
const FIRST_NUMBER: u64 = 10_001;

/// A type that is stored as notes.
pub(crate) trait Note: Serialize + DeserializeOwned {
    /// The first component of the notes' names.
    const FAMILY: &'static str;
}

fn name<T: Note>(own: &str) -> String {
    format!("{}/{own}", T::FAMILY)
}

/// The note of this name.
pub(crate) fn get<T: Note>(store: &Store, own: &str) -> Result<Option<T>> {
    store.note(OPENING, &name::<T>(own))?.map(|note| decode(&note)).transpose()
}

/// All notes of a family, by name.
pub(crate) fn all<T: Note>(store: &Store) -> Result<Vec<(String, T)>> {
    decode_all(store.notes(OPENING, &name::<T>(""))?)
}

/// Changes notes; atomically.
pub(crate) fn change<T>(
    store: &Store,
    caller: &Caller,
    act: Act,
    mut change: impl FnMut(&mut Changing<'_, '_>) -> Result<T>,
) -> Result<T> {
    store.change_notes(caller, act, OPENING, |notes| change(&mut Changing(notes)))
}

/// The same without a caller: for notes that belong to a request which is authorised elsewhere, and for expired ones.
pub(crate) fn tend<T>(
    store: &Store,
    mut change: impl FnMut(&mut Changing<'_, '_>) -> Result<T>,
) -> Result<T> {
    store.tend_notes(OPENING, |notes| change(&mut Changing(notes)))
}

/// Publishes an upload, and changes notes in the same commit.
pub(crate) async fn complete_upload(
    store: &Store,
    caller: &Caller,
    upload: UploadId,
    also: impl Fn(&mut Changing<'_, '_>) -> Result<()> + Send + 'static,
) -> Result<Stat> {
    let also = move |notes: &mut Notes<'_>, _: &[Part]| also(&mut Changing(notes));
    store.complete_upload_with(caller, upload, None, OPENING, also).await
}

/// The notes during a change.
pub(crate) struct Changing<'a, 'b>(&'a mut Notes<'b>);

impl Changing<'_, '_> {
    pub(crate) fn get<T: Note>(&self, own: &str) -> Result<Option<T>> {
        self.0.get(&name::<T>(own))?.map(|note| decode(&note)).transpose()
    }

    pub(crate) fn all<T: Note>(&self) -> Result<Vec<(String, T)>> {
        decode_all(self.0.all(&name::<T>(""))?)
    }

    pub(crate) fn put<T: Note>(&mut self, own: &str, note: &T) -> Result<()> {
        self.0.put(&name::<T>(own), encode(note)?)
    }

    pub(crate) fn remove<T: Note>(&mut self, own: &str) {
        self.0.remove(&name::<T>(own));
    }

    /// A number that was never used before.
    pub(crate) fn number(&mut self) -> Result<u64> {
        let next = self.0.get(NEXT_NUMBER)?.map(|note| decode::<u64>(&note)).transpose()?;
        let next = next.unwrap_or(FIRST_NUMBER);
        self.0.put(NEXT_NUMBER, encode(&(next + 1))?)?;
        Ok(next)
    }

    pub(crate) fn now(&self) -> Time {
        self.0.now()
    }
}

fn encode(note: &impl Serialize) -> Result<Bytes> {
    let json = serde_json::to_vec(note).map_err(|fault| {
        Error::new(ErrorKind::Invalid, format!("this cannot be stored: {fault}"))
    })?;
    Ok(json.into())
}

fn decode<T: DeserializeOwned>(note: &Bytes) -> Result<T> {
    serde_json::from_slice(note).map_err(|fault| {
        Error::new(ErrorKind::Damaged, format!("a note of the iRODS opening: {fault}"))
    })
}

fn decode_all<T: Note>(notes: Vec<(String, Bytes)>) -> Result<Vec<(String, T)>> {
    let cut = T::FAMILY.len() + 1;
    let named = |(name, note): (String, Bytes)| Ok((name[cut..].to_owned(), decode(&note)?));
    notes.into_iter().map(named).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use cenote_blob::Place;
    use cenote_kv::MemoryEngine;
    use cenote_store::Parts;

    use super::*;

    /// A store in memory, and its administrator.
    pub(in crate::irods) fn store() -> (Store, Caller) {
        let parts = Parts::new(MemoryEngine::default(), Place::memory("main"));
        let store = Store::create_new(parts, "ada", "countess").expect("memory takes all");
        let ada = store.authenticate_password("ada", "countess").expect("just made");
        (store, ada)
    }

    #[test]
    fn no_number_is_reused() {
        let (store, _) = store();
        let next = || tend(&store, |notes| notes.number()).expect("a number");
        assert_eq!((next(), next()), (FIRST_NUMBER, FIRST_NUMBER + 1));
    }
}
