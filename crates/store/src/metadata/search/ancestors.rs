//! Whether a resource lies below the collection that is searched, looked up once a collection.

use std::collections::HashMap;

use crate::Result;
use crate::catalog::{Reads, View, keys};
use crate::model::{Resource, ResourceId};

/// Which collections lie below the one searched, as far as that was looked up.
pub(crate) struct Ancestors<'a> {
    view: &'a View,
    top: ResourceId,
    known: HashMap<ResourceId, bool>,
}

impl<'a> Ancestors<'a> {
    pub(crate) fn new(view: &'a View, top: ResourceId) -> Self {
        Self { view, top, known: HashMap::new() }
    }

    /// The collection searched.
    pub(super) fn top(&self) -> ResourceId {
        self.top
    }

    /// Whether `id` is the collection searched, or lies below it.
    pub(crate) fn reach(&mut self, id: ResourceId) -> Result<bool> {
        let mut way = Vec::new();
        let mut next = id;
        let answer = loop {
            if next == self.top {
                break true;
            }
            if let Some(known) = self.known.get(&next) {
                break *known;
            }
            way.push(next);
            match self.view.get::<Resource>(&keys::resource(next))? {
                Some(resource) if next != ResourceId::ROOT => next = resource.parent,
                _ => break false,
            }
        };
        self.known.extend(way.into_iter().map(|id| (id, answer)));
        Ok(answer)
    }
}
