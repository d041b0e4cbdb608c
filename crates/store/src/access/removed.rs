//! The decision about what was removed and is kept for a while.
//!
//! Invariant: a removed resource exists only for those who removed it or control its former collection, as far as
//! they could still do the same with it there. For everybody else it is treated as missing.

use super::{Caller, Chain, Operation};
use crate::model::{PersonId, Rights};

/// Whether `caller` may do this with a removed resource: see it listed ([`Operation::Stat`]), or restore it or remove it for
/// good ([`Operation::Remove`]). `chain` leads to where it was ([`Chain::read_removed`]).
pub(crate) fn permits_removed(
    caller: &Caller,
    chain: &Chain,
    removed_by: PersonId,
    operation: Operation,
) -> bool {
    let removed_it = removed_by == caller.user() && !caller.is_anonymous();
    let controls = || {
        caller.is_elevated()
            || chain
                .collection()
                .is_some_and(|above| above.rights(caller).contains(Rights::CONTROL))
    };
    chain.rights(caller).allow(operation) && (removed_it || controls())
}
