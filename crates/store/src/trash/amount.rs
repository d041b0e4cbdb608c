//! How much there is in a removed tree, counted in the background so that removing it costs one commit.

use cenote_kv::ScanOptions;

use crate::catalog::keys::{self, Counter};
use crate::catalog::{Amount, Child, Reads, Record, TrashRecord, View};
use crate::model::{Kind, Resource, ResourceId};
use crate::waiting::go_on;
use crate::{Bytes, Result, Store};

impl Store {
    /// Carries out the job at `key`. Nothing below changes while it is kept, so that the amount is right when it is noted.
    pub(crate) fn measure_removed(&self, key: &Bytes, id: ResourceId) -> Result<()> {
        let amount = amount_below(&self.view()?, id)?;
        self.transact(|tx| {
            tx.frees_space();
            tx.delete(key.clone());
            let record = tx.get::<TrashRecord>(&keys::trash(id))?;
            if let Some(record) = record.filter(|record| record.amount.is_none()) {
                let record = TrashRecord { amount: Some(amount), ..record };
                super::count_bytes(tx, &record, 1);
                tx.put(keys::trash(id), &record);
            }
            Ok(())
        })
    }
}

/// Adds up the counters of the collections of a tree.
///
/// Cost: the entries of the tree.
pub(crate) fn amount_below(view: &View, top: ResourceId) -> Result<Amount> {
    let own = view.get::<Resource>(&keys::resource(top))?;
    let mut amount = own.as_ref().map(super::amount_of).unwrap_or_default();
    let mut left = vec![top];
    while let Some(id) = left.pop() {
        let count = |what| Ok::<_, crate::Error>(view.counter(id.0, what)?.max(0).unsigned_abs());
        amount.resources += count(Counter::Resources)?;
        // The sum of bytes is never negative, but may exceed `i64::MAX`.
        amount.bytes = amount.bytes.wrapping_add(view.counter(id.0, Counter::Bytes)? as u64);
        for row in view.snapshot.scan(&keys::children(id), ScanOptions::default()) {
            go_on()?;
            let child = Child::from_value(&row?.1)?;
            left.extend((child.kind == Kind::Collection).then_some(child.id));
        }
    }
    Ok(amount)
}
