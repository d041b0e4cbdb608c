//! A view of a snapshot with changes on top that are not written yet.
//!
//! A commit worker checks each batch of a group against the effects of the batches before it.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::iter::Peekable;

use bytes::Bytes;

use crate::{
    Batch, CommitError, Evidence, KeyRange, Result, Row, Rows, ScanOptions, Snapshot, Version,
    Write,
};

/// Keys with their future values; `None` if they will be removed.
pub type Changes = BTreeMap<Bytes, Option<Bytes>>;

/// A snapshot and the batches admitted on top of it.
#[derive(Debug)]
pub(crate) struct Overlay<'a> {
    base: &'a dyn Snapshot,
    changes: Changes,
    version: Version,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(base: &'a dyn Snapshot) -> Self {
        Self { base, changes: Changes::new(), version: base.version() }
    }

    /// Adds `batch` if its evidence is valid here and its bounds are respected, and assigns it the
    /// next version. After an error the view is unchanged.
    pub(crate) fn admit(&mut self, batch: Batch) -> Result<Version, CommitError> {
        batch.evidence.iter().try_for_each(|evidence| self.check(evidence, batch.seen))?;
        batch.bounds.iter().try_for_each(|bound| bound.check(&batch, self))?;
        self.load_counters(&batch)?;
        self.version = batch.version_after(self.version);
        let mut appended = 0;
        for write in batch.writes {
            self.write(write, &mut appended);
        }
        Ok(self.version)
    }

    pub(crate) fn into_changes(self) -> Changes {
        self.changes
    }

    /// What was seen in the base needs a second look only where a batch of this
    /// group has written.
    fn check(&self, evidence: &Evidence, seen: Version) -> Result<(), CommitError> {
        let fresh = seen == self.base.version() && seen > 0;
        if fresh && !self.touches(evidence) {
            return Ok(());
        }
        evidence.check(self)
    }

    fn touches(&self, evidence: &Evidence) -> bool {
        match evidence {
            Evidence::Keys(keys) => keys.iter().any(|(key, _)| self.changes.contains_key(key)),
            Evidence::Range { range, .. } => changes_in(&self.changes, range).next().is_some(),
        }
    }

    /// Every read that [`Self::write`] needs, so that applying a batch cannot fail half way.
    fn load_counters(&mut self, batch: &Batch) -> Result<()> {
        for write in &batch.writes {
            if let Write::Add(key, _) = write
                && !self.changes.contains_key(key)
            {
                let value = self.base.get(key)?;
                self.changes.insert(key.clone(), value);
            }
        }
        Ok(())
    }

    fn write(&mut self, write: Write, appended: &mut u32) {
        let (key, value) = match write {
            Write::Put(key, value) => (key, Some(value)),
            Write::Delete(key) => (key, None),
            Write::Add(key, delta) => {
                let old = self.changes.get(&key).and_then(Option::as_ref);
                let sum = Write::sum(old, delta);
                (key, sum)
            }
            Write::Append(prefix, value) => {
                let key = Write::append_key(&prefix, self.version, *appended);
                *appended += 1;
                (key, Some(value))
            }
        };
        self.changes.insert(key, value);
    }
}

impl Snapshot for Overlay<'_> {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        match self.changes.get(key) {
            Some(value) => Ok(value.clone()),
            None => self.base.get(key),
        }
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        merged(self.base, &self.changes, range, options)
    }
}

/// The rows of a range of `base` with changes on top.
pub(crate) fn merged<'a>(
    base: &'a dyn Snapshot,
    changes: &'a Changes,
    range: &KeyRange,
    options: ScanOptions,
) -> Rows<'a> {
    // The base's limit does not hold here: changes may remove what it would count.
    let base = base.scan(range, ScanOptions { limit: usize::MAX, ..options });
    let changes = changes_in(changes, range);
    let changes: Box<dyn Iterator<Item = Change<'_>>> = match options.reverse {
        true => Box::new(changes.rev()),
        false => Box::new(changes),
    };
    let merged =
        Merge { base: base.peekable(), changes: changes.peekable(), reverse: options.reverse };
    Box::new(merged.take(options.limit))
}

type Change<'a> = (&'a Bytes, &'a Option<Bytes>);

fn changes_in<'a>(
    changes: &'a Changes,
    range: &KeyRange,
) -> impl DoubleEndedIterator<Item = Change<'a>> + use<'a> {
    let start = range.start.clone();
    // A range that ends before it starts is empty, but a map refuses it.
    match range.end.clone() {
        Some(end) => changes.range(start.clone()..end.max(start)),
        None => changes.range(start..),
    }
}

/// Two sorted walks as one; a change hides the base's row of the same key.
struct Merge<'a> {
    base: Peekable<Rows<'a>>,
    changes: Peekable<Box<dyn Iterator<Item = Change<'a>> + 'a>>,
    reverse: bool,
}

impl Iterator for Merge<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.order() {
                Ordering::Less => return self.base.next(),
                Ordering::Equal => drop(self.base.next()),
                Ordering::Greater => {}
            }
            let (key, value) = self.changes.next()?;
            if let Some(value) = value {
                return Some(Ok((key.clone(), value.clone())));
            }
        }
    }
}

impl Merge<'_> {
    /// The position of the base's next row relative to the next change. A failed read is first.
    fn order(&mut self) -> Ordering {
        match (self.base.peek(), self.changes.peek()) {
            (None, _) => Ordering::Greater,
            (Some(Err(_)), _) | (Some(_), None) => Ordering::Less,
            (Some(Ok((base, _))), Some((change, _))) if self.reverse => (*change).cmp(base),
            (Some(Ok((base, _))), Some((change, _))) => base.cmp(change),
        }
    }
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conformance::model::{assert_same, range, step};
    use crate::{Engine, MemoryEngine};

    proptest! {
        /// A group admitted on one snapshot is as its batches committed one by one.
        #[test]
        fn a_group_has_the_effect_of_its_batches_in_sequence(
            before in prop::collection::vec(step(), 0..4),
            group in prop::collection::vec(step(), 1..6),
            probes in prop::collection::vec((range(), 0..5usize), 0..4),
        ) {
            let model = MemoryEngine::new();
            let mut views = vec![model.snapshot().unwrap()];
            for step in before {
                match model.commit(step.batch(&**views.last().unwrap())) {
                    Ok(_) | Err(CommitError::Exceeded { .. }) => {}
                    failed => panic!("{failed:?}"),
                }
                views.push(model.snapshot().unwrap());
            }
            let base = model.snapshot().unwrap();
            let mut overlay = Overlay::new(&*base);
            for step in group {
                let batch = step.batch(&*views[views.len().saturating_sub(1 + step.age)]);
                match (overlay.admit(batch.clone()), model.commit(batch)) {
                    (Ok(left), Ok(right)) => prop_assert_eq!(left, right),
                    (left, right) => prop_assert_eq!(format!("{left:?}"), format!("{right:?}")),
                }
                assert_same(&overlay, &*model.snapshot().unwrap(), &probes);
            }
        }
    }

    /// Reads fail on request.
    #[derive(Debug)]
    struct Broken;

    impl Snapshot for Broken {
        fn version(&self) -> Version {
            1
        }

        fn get(&self, _: &[u8]) -> Result<Option<Bytes>> {
            Err(crate::Error::Undecided)
        }

        fn scan(&self, _: &KeyRange, _: ScanOptions) -> Rows<'_> {
            Box::new(std::iter::once(Err(crate::Error::Undecided)))
        }
    }

    #[test]
    fn a_batch_whose_evidence_cannot_be_read_changes_nothing() {
        let mut overlay = Overlay::new(&Broken);
        let mut batch = Batch::new(1);
        batch.put("a", "1").add("n", 1).put("b", "1");
        assert!(matches!(overlay.admit(batch), Err(CommitError::Engine(_))));
        assert_eq!(overlay.version(), 1);
        assert!(overlay.scan(&KeyRange::all(), ScanOptions::default()).next().unwrap().is_err());
        assert!(overlay.into_changes().is_empty());
    }
}
