//! Whether a resource is below the collection that is searched, looked up once per collection.

use std::collections::HashMap;

use crate::Result;
use crate::catalog::{Reads, View, keys};
use crate::model::{Resource, ResourceId};

/// Which collections are below the searched one, as far as that was looked up.
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

    /// Whether `id` is the searched collection, or below it.
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
