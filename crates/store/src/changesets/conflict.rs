//! Which resource was changed by others, so that a change set cannot be committed.
//!
//! Invariant: a resource is named only to those who may see it, as everywhere.

use crate::access::Operation;
use crate::catalog::{View, keys};
use crate::model::{At, Name, ResourceId};
use crate::resources::find;
use crate::{Caller, Error, ErrorKind, Store};

impl Store {
    /// The refusal of a commit, since the value of this key was changed concurrently. The set itself is where deleted
    /// resources can still be seen.
    pub(super) fn contested(&self, caller: &Caller, set: &View, key: &[u8]) -> Error {
        let what = match resource_of(key) {
            None => of_other(key).to_owned(),
            Some((id, name)) => {
                let named = |view: &View| {
                    let seen = find(view, caller, &At::Id(id), Operation::Stat).ok()?;
                    let below = name.and_then(|name| Name::new(name).ok());
                    let path = seen.path();
                    Some(below.map_or(path.clone(), |name| path.child(name)).to_string())
                };
                let now = self.view().ok().and_then(|view| named(&view));
                let then = || named(set).map(|path| format!("{path} (gone, or hidden from you)"));
                now.or_else(then).unwrap_or_else(|| "a resource that is hidden from you".into())
            }
        };
        Error::new(ErrorKind::Conflict, format!("changed since the change set was begun: {what}"))
            .with_hint(
                "nothing was committed: begin another change set, and make the changes again",
            )
    }
}

/// The resource that a key is about, and the name below it.
fn resource_of(key: &[u8]) -> Option<(ResourceId, Option<&str>)> {
    let first = keys::first_id(key);
    let (id, name) = match key.first()? {
        b'N' | b'G' | b'Q' | b'V' | b'X' | b'd' | b'h' | b'H' => (first, None),
        b'C' => (first, Some(keys::child_name(key))),
        b'S' | b'I' | b'i' | b'q' => (keys::last_id(key), None),
        b'R' => (keys::id_at(key, 9), None),
        _ => (None, None),
    };
    Some((ResourceId(id?), name))
}

fn of_other(key: &[u8]) -> &'static str {
    match key.first() {
        Some(b'U' | b'u' | b'M') => "an account or a group",
        Some(b'P' | b'p' | b'K' | b'k') => "an upload",
        Some(b'L') => "a place",
        Some(b'O') => "the notes of a protocol",
        Some(b'T' | b'w') => "a ticket",
        Some(b's') => "the format of the store",
        _ => "something that it depends on",
    }
}
