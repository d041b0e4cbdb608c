//! Views and transactions for requests about one place, which read with their snapshot what such a request is likely to need: over a
//! network that saves round trips. An embedded engine reads nothing ahead.
//!
//! Invariant: what is likely decides nothing, as the hints that it comes from ([`Edges`](crate::catalog::Edges)).

use bytes::Bytes;

use crate::catalog::{Transaction, View, keys};
use crate::model::At;
use crate::resources::{keys_ahead, likely, members};
use crate::{Caller, Result, Store};

impl Store {
    /// A view for an answer about what is at some place.
    pub(crate) fn view_at(&self, at: &At) -> Result<View> {
        self.view_ahead(|| self.keys_to(at))
    }

    /// The same with the description of that.
    pub(crate) fn view_of_described(&self, at: &At) -> Result<View> {
        self.view_ahead(|| self.keys_to_described(at))
    }

    /// The same with the membership of that.
    pub(crate) fn view_of_members(&self, at: &At) -> Result<View> {
        self.view_ahead(|| [self.keys_to(at), self.keys_to_members(at)].concat())
    }

    /// The same with all that is shown of that, which the caller is likely to own.
    pub(crate) fn view_of_whole(&self, caller: &Caller, at: &At) -> Result<View> {
        self.view_ahead(|| {
            let owner = vec![keys::person(caller.user())];
            [self.keys_to_described(at), self.keys_to_members(at), owner].concat()
        })
    }

    /// [`Store::transact`] for a change of what is at some place.
    pub(crate) fn transact_at<T>(
        &self,
        at: &At,
        change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.transact_ahead(|| self.keys_to(at), change)
    }

    /// The same of its description.
    pub(crate) fn transact_described<T>(
        &self,
        at: &At,
        change: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<T> {
        self.transact_ahead(|| self.keys_to_described(at), change)
    }

    fn keys_to(&self, at: &At) -> Vec<Bytes> {
        keys_ahead(&self.inner.edges, std::iter::once(at))
    }

    fn keys_to_described(&self, at: &At) -> Vec<Bytes> {
        let described = likely(&self.inner.edges, at).map(|id| keys::graph(id.0));
        self.keys_to(at).into_iter().chain(described).collect()
    }

    fn keys_to_members(&self, at: &At) -> Vec<Bytes> {
        let members = likely(&self.inner.edges, at).into_iter().flat_map(members::keys_of);
        members.collect()
    }
}
