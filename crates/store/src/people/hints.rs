//! Hints about which user a token or a name belongs to, so that what a login needs is read at once.
//!
//! Invariant: a hint decides nothing, as those about paths ([`crate::catalog::Edges`]): whoever follows it reads on their snapshot to whom
//! the token or the name leads now. A wrong one costs one more read.

use bytes::Bytes;
use quick_cache::sync::Cache;

use crate::catalog::{View, keys};
use crate::model::PersonId;
use crate::{Result, Store};

/// How many tokens and names are remembered.
const MOST: usize = 4_096;

/// The users to whom rows of tokens and of names led.
#[derive(Debug)]
pub(crate) struct UserHints(Cache<Bytes, PersonId>);

impl Default for UserHints {
    fn default() -> Self {
        Self(Cache::new(MOST))
    }
}

impl Store {
    /// A view for a login by the token or name in a row.
    pub(super) fn view_of_login(&self, row: &Bytes) -> Result<View> {
        let hint = || self.inner.users.0.get(row).map(keys::person);
        self.view_ahead(|| Vec::from_iter([row.clone()].into_iter().chain(hint())).into())
    }

    /// Remembers to whom a row led.
    pub(super) fn met_user(&self, row: Bytes, user: PersonId) {
        // An embedded engine reads nothing ahead.
        if self.parts().engine.is_shared() && self.inner.users.0.get(&row) != Some(user) {
            self.inner.users.0.insert(row, user);
        }
    }
}
