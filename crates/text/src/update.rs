//! Makes an index go further, in steps: a reading of all resources first, then the changes since it began.
//!
//! Invariant: what is committed is in a stage that is true, wherever an update ends: it was interrupted between two steps, or has failed
//! in one.

use cenote_store::{Mark, Store, TextSource};

use crate::error::{Fault, NotReady};
use crate::files::{Files, Place};
use crate::lead::Lead;
use crate::stage::Stage;

/// An open index, and how far it goes.
pub(crate) struct Open {
    files: Files,
    stage: Stage,
    /// How many resources were put since the last commit.
    put: usize,
}

/// Resources or changes in a step.
const STEP: usize = 1_000;
/// Resources in a commit, while all are read.
const COMMIT: usize = 20_000;
/// So many changes are looked at one by one, rather than put into the index first.
const TAIL: usize = 256;
/// Documents of resources that are gone, for each that is there, and in any case, before everything is made anew.
const GONE: (u64, u64) = (2, 10_000);

/// Whether so little changed after a mark that the store can look at it in each search.
pub(crate) fn has_few_changes(store: &Store, mark: &Mark) -> cenote_store::Result<bool> {
    let changes = store.text_source()?.changes(mark, TAIL)?;
    Ok(changes.is_some_and(|changes| !changes.more))
}

impl Open {
    /// Opens what is there, or makes it anew.
    pub(crate) fn new(place: &Place, source: &TextSource) -> Result<Self, NotReady> {
        match Files::open(place) {
            Ok((files, stage)) => Ok(Self { files, stage, put: 0 }),
            Err(fault) => {
                if Files::exist(place) {
                    tracing::warn!(target: "cenote", %fault, "the index of texts is made anew");
                }
                Self::anew(place, source)
            }
        }
    }

    fn anew(place: &Place, source: &TextSource) -> Result<Self, NotReady> {
        let stage = Stage::Reading { from: source.mark()?, read: None };
        let mut files = Files::create(place)?;
        files.commit(&stage)?;
        Ok(Self { files, stage, put: 0 })
    }

    /// Goes further until it is at the present, or patience ends.
    pub(crate) fn advance(
        &mut self,
        (store, place): (&Store, &Place),
        is_patient: &dyn Fn() -> bool,
    ) -> Result<Lead, NotReady> {
        if let Some(mark) = self.is_near(store)? {
            return Ok(self.lead(mark));
        }
        loop {
            let stepped = self.step(store, place);
            let is_at_end = matches!(stepped, Ok(true));
            let goes_on = matches!(stepped, Ok(false)) && is_patient();
            if self.put >= COMMIT || self.put > 0 && !goes_on {
                self.commit()?;
            }
            stepped?;
            match &self.stage {
                Stage::Complete(mark) if is_at_end => return Ok(self.lead(mark.clone())),
                _ if !goes_on => return Err(NotReady::Making(self.percent(store)?)),
                _ => {}
            }
        }
    }

    /// The mark, if little changed since.
    fn is_near(&self, store: &Store) -> Result<Option<Mark>, NotReady> {
        match &self.stage {
            Stage::Complete(mark) if has_few_changes(store, mark)? => Ok(Some(mark.clone())),
            _ => Ok(None),
        }
    }

    fn lead(&self, mark: Mark) -> Lead {
        Lead::new(self.files.searcher(), self.files.fields(), mark)
    }

    /// One step; true at the end.
    fn step(&mut self, store: &Store, place: &Place) -> Result<bool, NotReady> {
        let source = store.text_source()?;
        match self.stage.clone() {
            Stage::Reading { from, read } => {
                let worded = source.after(read, STEP)?;
                let last = worded.last().map(|(id, _)| *id);
                self.put(worded)?;
                // The end is written down, too.
                self.put += usize::from(last.is_none());
                self.stage = match last {
                    Some(last) => Stage::Reading { from, read: Some(last) },
                    None => Stage::Complete(from),
                };
                Ok(false)
            }
            Stage::Complete(mark) => match source.changes(&mark, STEP)? {
                Some(_) if self.has_many_gone(&source)? => self.restart(place, &source),
                Some(changes) => {
                    let ids: Vec<_> = changes.ids.into_iter().collect();
                    let worded = source.of(&ids)?;
                    self.put(worded)?;
                    self.put += usize::from(changes.next != mark);
                    self.stage = Stage::Complete(changes.next);
                    Ok(!changes.more)
                }
                None => self.restart(place, &source),
            },
        }
    }

    fn put(&mut self, worded: Vec<cenote_store::Worded>) -> Result<(), Fault> {
        self.put += worded.len();
        self.files.put(worded)
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.files.commit(&self.stage)?;
        self.put = 0;
        Ok(())
    }

    fn restart(&mut self, place: &Place, source: &TextSource) -> Result<bool, NotReady> {
        self.files.close();
        *self = Self::anew(place, source)?;
        Ok(false)
    }

    /// Whether it would be smaller if it was made anew: what is purged from the trash is not told.
    fn has_many_gone(&self, source: &TextSource) -> Result<bool, NotReady> {
        let (of_each, at_least) = GONE;
        Ok(self.files.searcher().num_docs() > source.count()? * of_each + at_least)
    }

    fn percent(&self, store: &Store) -> Result<u8, NotReady> {
        let all = store.text_source()?.count()?.max(1);
        Ok((self.files.searcher().num_docs() * 100 / all).min(99) as u8)
    }
}
