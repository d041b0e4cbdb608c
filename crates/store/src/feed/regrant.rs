//! Which changes of access lists, and of classes that access lists name, are reported to callers who may not see them: that there was
//! one, without a name.
//!
//! Invariant: if a change of an access list hides something from a caller, it is reported to them; changes that do not affect them are not.

use crate::Caller;
use crate::access::Act;
use crate::catalog::ChangeRecord;
use crate::model::{Access, ChangeKind, Grant, Scope};

/// Whether a change may have taken something out of the caller's sight by an access list.
///
/// Wherever it was made: what is in a subtree now may have been elsewhere then, and access is inherited from above.
pub(super) fn may_hide(caller: &Caller, record: &ChangeRecord) -> bool {
    if record.kind != ChangeKind::Granted || caller.may(Act::AllChanges) {
        return false;
    }
    match (&record.access_before, &record.access) {
        (Some(before), Some(after)) => differs(caller, before, after),
        // An entry written before both were recorded.
        _ => true,
    }
}

/// The access list that a resource had with other classes, if a change took those from it or gave it new ones.
pub(super) fn with_other_classes(record: &ChangeRecord) -> Option<&Access> {
    let before = record.access_before.as_ref()?;
    let now = record.access.as_ref().map(|access| &access.classes);
    (now != Some(&before.classes)).then_some(before)
}

/// Whether the caller may have other rights by one list than by the other: by its lines for them; by what it keeps away from above; or by
/// its defaults, whose being there ends those of the collections above.
fn differs(caller: &Caller, before: &Access, after: &Access) -> bool {
    lines(caller, before).ne(lines(caller, after))
        || before.closed != after.closed
        || has_defaults(before) != has_defaults(after)
}

fn lines<'a>(caller: &'a Caller, access: &'a Access) -> impl Iterator<Item = &'a Grant> {
    access.grants.iter().filter(|grant| caller.is(grant.person))
}

fn has_defaults(access: &Access) -> bool {
    access.grants.iter().any(|grant| grant.scope == Scope::Default)
}
