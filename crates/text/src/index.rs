//! The index, for all who search.
//!
//! Invariant: what is returned knows each change that was committed before the call, but for so few that the store looks
//! at them one by one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use cenote_store::{Store, TextLead};

use crate::error::NotReady;
use crate::files::Place;
use crate::lead::Lead;
use crate::turn::Turns;
use crate::update::{Open, has_few_changes};

/// An index of the words of one store.
pub struct TextIndex {
    place: Place,
    lead: RwLock<Option<Arc<Lead>>>,
    /// How much of it was made when somebody last lost patience, in percent.
    made: AtomicU8,
    /// None until somebody searches.
    open: Turns<Option<Open>>,
}

impl std::fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextIndex").field("place", &self.place).finish_non_exhaustive()
    }
}

impl TextIndex {
    /// An index in a directory of its own, which is made when somebody searches. One process at a time may use it: the one that has the store
    /// open.
    pub fn in_directory(dir: impl Into<PathBuf>) -> Self {
        Self::at(Place::Directory(dir.into()))
    }

    /// An index that is made again by each process.
    pub fn in_memory() -> Self {
        Self::at(Place::Memory)
    }

    fn at(place: Place) -> Self {
        Self { place, lead: RwLock::default(), made: AtomicU8::new(0), open: Turns::new(None) }
    }

    /// The index at present. Blocks while it is made or brought up to the present, at most until `is_patient` says no; what was
    /// done by then is kept, and goes on with the next call.
    ///
    /// # Errors
    /// [`NotReady`].
    pub fn lead(
        &self,
        store: &Store,
        is_patient: &dyn Fn() -> bool,
    ) -> Result<Arc<Lead>, NotReady> {
        if let Some(lead) = self.near(store)? {
            return Ok(lead);
        }
        let Some(mut turn) = self.open.take(is_patient) else { return Err(self.not_yet()) };
        // Who had the turn before may have brought it to the present.
        match self.near(store)? {
            Some(lead) => Ok(lead),
            None => self.turned(turn.get(), store, is_patient),
        }
    }

    /// Who has the turn brings it to the present. What could not be read or written is opened again the next time.
    fn turned(
        &self,
        open: &mut Option<Open>,
        store: &Store,
        is_patient: &dyn Fn() -> bool,
    ) -> Result<Arc<Lead>, NotReady> {
        if self.present().is_some_and(|lead| lead.is_broken()) {
            *open = None;
        }
        let lead = self.advance(open, store, is_patient).map(Arc::new);
        match &lead {
            Ok(lead) => self.set(Some(Arc::clone(lead))),
            Err(NotReady::Making(percent)) => self.made.store(*percent, Ordering::Relaxed),
            Err(NotReady::Files(_)) => *open = None,
            Err(NotReady::Store(_)) => {}
        }
        lead
    }

    fn not_yet(&self) -> NotReady {
        NotReady::Making(self.made.load(Ordering::Relaxed))
    }

    fn advance(
        &self,
        open: &mut Option<Open>,
        store: &Store,
        is_patient: &dyn Fn() -> bool,
    ) -> Result<Lead, NotReady> {
        let open = match open {
            Some(open) => open,
            none => none.insert(Open::new(&self.place, &store.text_source()?)?),
        };
        open.advance((store, &self.place), is_patient)
    }

    /// The lead as it is, if little changed since.
    fn near(&self, store: &Store) -> Result<Option<Arc<Lead>>, NotReady> {
        match self.present() {
            Some(lead) if !lead.is_broken() && has_few_changes(store, lead.mark())? => {
                Ok(Some(lead))
            }
            _ => Ok(None),
        }
    }

    fn present(&self) -> Option<Arc<Lead>> {
        self.lead.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, lead: Option<Arc<Lead>>) {
        *self.lead.write().unwrap_or_else(PoisonError::into_inner) = lead;
    }
}
