//! What can be changed in a change set: resources with all that belongs to them, and an opening's notes. Accounts, tokens, tickets,
//! places, uploads and settings are changed outside of it, at once.

use cenote_kv::Changes;

use crate::{Error, Result};

/// The tables of the catalog, by the first byte of their keys, to which a change set adds nothing. Rows that belong to a removed resource or
/// upload are deleted from them.
const OUTSIDE: &[u8] = b"UuMtyTwPpLDs";

/// Refuses changes of what is not part of a change set.
pub(super) fn check(writes: &Changes) -> Result<()> {
    let is_outside = |key: &[u8]| key.first().is_none_or(|table| OUTSIDE.contains(table));
    match writes.iter().any(|(key, value)| value.is_some() && is_outside(key)) {
        false => Ok(()),
        true => Err(Error::invalid("this cannot be part of a change set")
            .with_hint("make the request without the change set: it then takes effect at once")),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::catalog::keys;
    use crate::model::{PersonId, PlaceId, ResourceId};

    #[test]
    fn a_change_set_writes_only_records_of_resources_and_notes() {
        let refused =
            |key: Bytes, value: Option<Bytes>| check(&Changes::from([(key, value)])).is_err();
        for key in [
            keys::person(PersonId(1)),
            keys::member(PersonId(1), PersonId(2)),
            keys::token(&[0; 32]),
            keys::ticket(&[0; 32]),
            keys::place(PlaceId(1)),
            keys::upload(1),
            keys::part(1, 0),
            keys::setting("format"),
        ] {
            assert!(refused(key.clone(), Some(Bytes::new())), "{key:?}");
            assert!(!refused(key, None), "what goes with something else can be removed");
        }
        for key in
            [keys::resource(ResourceId(1)), keys::graph(1), keys::note("x", "y"), keys::job(1)]
        {
            assert!(!refused(key, Some(Bytes::new())));
        }
    }
}
