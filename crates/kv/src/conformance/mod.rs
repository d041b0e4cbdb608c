//! What every engine has to do, as tests that run unchanged against each.
//!
//! An engine's test file names a [`Subject`] and calls [`conformance_tests!`](crate::conformance_tests),
//! which makes one test of each case.

#![expect(clippy::unwrap_used, reason = "a case fails by panicking")]

mod bounds;
mod durability;
mod evidence;
mod limits;
pub(crate) mod model;
mod reads;
mod tokens;
mod writers;
mod writes;

use std::sync::Arc;

use bytes::Bytes;

pub use self::bounds::*;
pub use self::durability::*;
pub use self::evidence::*;
pub use self::limits::*;
pub use self::model::*;
pub use self::reads::*;
pub use self::tokens::*;
pub use self::writers::*;
pub use self::writes::*;
use crate::{Batch, CommitError, Engine, KeyRange, Row, ScanOptions, Snapshot, Version};

/// A place where an engine keeps one store.
pub trait Subject {
    /// Opens the store: empty the first time, later with its data. The engine opened before has been
    /// dropped.
    fn open(&self) -> Arc<dyn Engine>;

    /// Whether a conflict names the key that changed, and not just one of those that were compared together.
    fn names_the_key(&self) -> bool {
        true
    }
}

/// Defines a test for each case of the suite, against a new [`Subject`] from the expression.
#[macro_export]
macro_rules! conformance_tests {
    ($subject:expr) => {
        $crate::conformance_tests!(@each $subject;
            reads_see_what_was_written,
            reads_many_in_the_order_requested,
            reading_many_is_reading_each,
            a_view_and_its_first_values_are_of_one_moment,
            reading_together_is_reading_each,
            scans_both_ways_within_bounds,
            scans_stop_at_their_limit,
            scans_keep_byte_order,
            snapshots_do_not_move,
            snapshots_see_every_acknowledged_commit,
            large_values_come_back,
            later_writes_of_a_batch_win,
            versions_rise_by_commit,
            versions_begin_where_a_batch_requests,
            counters_add_up,
            counters_commute,
            appends_sort_by_commit,
            evidence_on_a_value,
            evidence_on_absence,
            evidence_survives_a_change_and_back,
            evidence_is_about_the_state_before,
            evidence_without_a_snapshot_is_checked,
            evidence_of_several_keys_is_one,
            a_conflict_of_several_keys_names_one_of_them,
            repeated_keys_hold_once_and_contradictory_ones_never,
            evidence_is_as_large_as_values_are,
            ranges_find_phantoms,
            ranges_find_removals_and_changes,
            ranges_end_at_their_limit,
            a_conflict_applies_nothing,
            bounds_hold_after_the_additions,
            bounds_rest_on_the_newest_value,
            bounds_refuse_sums_that_do_not_fit,
            a_conflict_comes_before_a_bound,
            an_exceeded_bound_applies_nothing,
            writers_below_a_bound_never_conflict_and_never_exceed_it,
            limits_are_kept,
            reserved_keys_are_refused,
            tokens_determine_the_outcome,
            concurrent_increments_are_not_lost,
            transfers_keep_the_sum,
            only_one_of_many_creates,
            a_conflict_fails_its_own_batch_only,
            snapshots_are_consistent_under_writes,
            versions_are_unique_and_in_order,
            everything_is_there_when_opened_again,
            behaves_as_the_memory_engine,
        );
    };
    (@each $subject:expr; $($case:ident),* $(,)?) => {
        $(
            #[test]
            fn $case() {
                $crate::conformance::$case(&$subject);
            }
        )*
    };
}

fn put(engine: &dyn Engine, key: impl Into<Bytes>, value: impl Into<Bytes>) -> Version {
    commit(engine, |batch| batch.put(key, value))
}

/// Commits what `change` puts into a batch that depends on nothing.
fn commit(engine: &dyn Engine, change: impl FnOnce(&mut Batch) -> &mut Batch) -> Version {
    let mut batch = Batch::default();
    change(&mut batch);
    engine.commit(batch).unwrap()
}

fn read(engine: &dyn Engine, key: &str) -> Option<Bytes> {
    engine.snapshot().unwrap().get(key.as_bytes()).unwrap()
}

fn rows(view: &dyn Snapshot, range: &KeyRange, options: ScanOptions) -> Vec<Row> {
    view.scan(range, options).collect::<Result<_, _>>().unwrap()
}

fn keys(view: &dyn Snapshot, range: &KeyRange, options: ScanOptions) -> Vec<Bytes> {
    rows(view, range, options).into_iter().map(|(key, _)| key).collect()
}

fn is_conflict<T>(result: &Result<T, CommitError>) -> bool {
    matches!(result, Err(CommitError::Conflict { .. }))
}
