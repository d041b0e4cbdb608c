//! Which contents are being read, and which are being erased: never both.
//!
//! A reader pins a content before it takes its first byte, and the sweep erases only what nobody has pinned, so that no
//! reader needs a period of grace, and a slow one holds back its own content only. Pins are of this process: over a catalog that
//! several share, each shows since when it has been reading ([`Pins::oldest`], `servers/reading.rs`).
//!
//! A reader finds its content in a snapshot, and pins it after that. [`Pins::moment`], taken before the snapshot, tells
//! whether anything was erased in between.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::due::Due;
use crate::model::{ContentId, Time};

/// The contents that are being read or erased.
#[derive(Debug, Clone)]
pub(crate) struct Pins(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    due: Due,
    /// Notified when an erasure has ended.
    ended: Condvar,
}

/// Keeps all contents from being erased.
#[derive(Debug)]
pub(crate) struct Hold(Pins, Time);

#[derive(Debug, Default)]
struct State {
    /// Counts the ends of erasures.
    moment: u64,
    readers: HashMap<ContentId, u64>,
    /// The notes of contents to be erased once they have no readers.
    waiting: HashMap<ContentId, Vec<Bytes>>,
    erased: HashSet<ContentId>,
    /// How many want that nothing is erased.
    holds: u64,
    /// Pins and holds by the beginning of the period in which each was made, and that of the current period.
    periods: BTreeMap<Time, u64>,
    period: Time,
}

/// Keeps a content from being erased.
#[derive(Debug)]
pub(crate) struct Pin {
    pins: Pins,
    content: ContentId,
    period: Time,
}

/// The right to erase some contents, which cannot be pinned meanwhile.
#[derive(Debug)]
pub(super) struct Erasing {
    pins: Pins,
    /// The contents, with the corresponding notes.
    pub(super) contents: BTreeMap<ContentId, Vec<Bytes>>,
}

impl Pins {
    /// Contents that were waited for are handed to `due`.
    pub(crate) fn new(due: Due) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), due, ended: Condvar::new() }))
    }

    /// Differs from what it was before if anything was erased since.
    pub(crate) fn moment(&self) -> u64 {
        self.state().moment
    }

    /// None, if the content is being erased. It may have been erased before.
    pub(crate) fn pin(&self, content: ContentId) -> Option<Pin> {
        let mut state = self.state();
        if state.erased.contains(&content) {
            return None;
        }
        *state.readers.entry(content).or_default() += 1;
        let period = state.begin();
        Some(Pin { pins: self.clone(), content, period })
    }

    /// Keeps all contents from being erased, from now on: waits for erasures in progress. What becomes unused meanwhile is looked at
    /// again in the end.
    pub(crate) fn hold(&self) -> Hold {
        let mut state = self.state();
        state.holds += 1;
        while !state.erased.is_empty() {
            state = self.0.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let period = state.begin();
        drop(state);
        Hold(self.clone(), period)
    }

    /// Begins another period, and returns the beginning of the one with the oldest pin or hold, if there is any.
    pub(crate) fn oldest(&self, now: Time) -> Option<Time> {
        let mut state = self.state();
        state.period = now;
        state.periods.first_key_value().map(|(period, _)| *period)
    }

    /// The right to erase those of these contents that are not being read; the others become due when their readers have finished.
    pub(super) fn erase(&self, contents: BTreeMap<ContentId, Vec<Bytes>>) -> Erasing {
        let mut state = self.state();
        let mut free = BTreeMap::new();
        if state.holds > 0 {
            return Erasing { pins: self.clone(), contents: free };
        }
        for (content, notes) in contents {
            if state.readers.contains_key(&content) {
                state.waiting.insert(content, notes);
            } else if state.erased.insert(content) {
                free.insert(content, notes);
            }
        }
        Erasing { pins: self.clone(), contents: free }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts a pin or hold, and returns its period.
    fn begin(&mut self) -> Time {
        *self.periods.entry(self.period).or_default() += 1;
        self.period
    }

    fn end(&mut self, period: Time) {
        if let Some(left) = self.periods.get_mut(&period) {
            *left -= 1;
            if *left == 0 {
                self.periods.remove(&period);
            }
        }
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut state = self.pins.state();
        state.end(self.period);
        let left = state.readers.get_mut(&self.content).map_or(0, |readers| {
            *readers -= 1;
            *readers
        });
        if left == 0 {
            state.readers.remove(&self.content);
            let notes = state.waiting.remove(&self.content);
            drop(state);
            self.pins.0.due.add(notes.unwrap_or_default());
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.holds -= 1;
        state.end(self.1);
        if state.holds == 0 {
            drop(state);
            self.0.0.due.look_at_all();
        }
    }
}

impl Drop for Erasing {
    fn drop(&mut self) {
        let mut state = self.pins.state();
        for content in self.contents.keys() {
            state.erased.remove(content);
        }
        state.moment += 1;
        self.pins.0.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ContentId = ContentId(1);

    fn note(of: ContentId) -> BTreeMap<ContentId, Vec<Bytes>> {
        BTreeMap::from([(of, vec![Bytes::from_static(b"note")])])
    }

    #[test]
    fn a_content_is_never_read_and_erased_at_once() {
        let due = Due::default();
        let pins = Pins::new(due.clone());
        let pin = pins.pin(ONE).unwrap();
        assert!(pins.erase(note(ONE)).contents.is_empty());
        drop(pin);
        assert_eq!(due.take().notes, [&b"note"[..]], "it is due once nobody reads it");
        let erasing = pins.erase(note(ONE));
        assert_eq!(erasing.contents.len(), 1);
        assert!(pins.pin(ONE).is_none());
        assert!(pins.erase(note(ONE)).contents.is_empty(), "one sweep at a time");
        assert!(pins.pin(ContentId(2)).is_some());
    }

    #[test]
    fn a_reader_with_an_older_view_notices_an_erasure() {
        let pins = Pins::new(Due::default());
        let (before, erasing) = (pins.moment(), pins.erase(note(ONE)));
        let during = pins.moment();
        drop(erasing);
        assert!(pins.pin(ONE).is_some());
        assert!(pins.moment() != before && pins.moment() != during);
    }

    #[test]
    fn a_content_is_pinned_until_its_last_reader_ends() {
        let due = Due::default();
        let pins = Pins::new(due.clone());
        let (first, second) = (pins.pin(ONE), pins.pin(ONE));
        assert!(pins.erase(note(ONE)).contents.is_empty());
        drop(first);
        assert!(due.take().notes.is_empty());
        drop(second);
        assert_eq!(due.take().notes.len(), 1);
    }

    #[test]
    fn the_oldest_pin_is_at_most_as_old_as_its_period() {
        let pins = Pins::new(Due::default());
        let at = Time::from_secs;
        assert_eq!(pins.oldest(at(10)), None);
        let first = pins.pin(ONE);
        assert_eq!(pins.oldest(at(20)), Some(at(10)));
        let hold = pins.hold();
        drop(first);
        assert_eq!(pins.oldest(at(30)), Some(at(20)));
        drop(hold);
        assert_eq!(pins.oldest(at(40)), None);
    }

    #[test]
    fn nothing_is_erased_while_somebody_holds_all() {
        let due = Due::default();
        let pins = Pins::new(due.clone());
        let erasing = pins.erase(note(ONE));
        std::thread::scope(|scope| {
            let holding = scope.spawn(|| pins.hold());
            drop(erasing);
            let first = holding.join().unwrap();
            let second = pins.hold();
            drop(first);
            assert!(pins.erase(note(ONE)).contents.is_empty());
            assert!(!due.take().missed);
            drop(second);
        });
        assert!(due.take().missed, "all notes are looked at again");
        assert_eq!(pins.erase(note(ONE)).contents.len(), 1);
    }
}
