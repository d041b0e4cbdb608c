//! Whether a candidate of one of the plans matches.

use super::ancestors::Ancestors;
use super::{Query, Wanted};
use crate::access::{Chain, Operation};
use crate::catalog::{Reads, View, keys};
use crate::metadata::links::Links;
use crate::metadata::stored::read;
use crate::model::{Graph, Resource, ResourceId, Rights, Stat};
use crate::{Caller, Result};

/// A query, with cached data about the collections that were visited.
pub(super) struct Matcher<'a> {
    view: &'a View,
    caller: &'a Caller,
    wanted: Wanted,
    ancestors: Ancestors<'a>,
    links: Links<'a, View>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(
        view: &'a View,
        caller: &'a Caller,
        query: &Query,
        top: ResourceId,
    ) -> Result<Self> {
        let wanted = Wanted::new(query.conditions.clone(), query.name.as_deref(), query.kind)?
            .with_text(query.text.clone());
        let (ancestors, links) = (Ancestors::new(view, top), Links::new(view, caller));
        Ok(Self { view, caller, wanted, ancestors, links })
    }

    pub(super) fn links(&self) -> &Links<'a, View> {
        &self.links
    }

    /// An entry of the tree, and what the caller may do with it.
    pub(super) fn entry(&self, stat: Stat, rights: Rights) -> Result<Option<Stat>> {
        let seen = rights.allow(Operation::Stat) && self.is_wanted(&stat.resource);
        let holds = seen
            && (!self.wanted.has_conditions()
                || self.holds(&stat.resource, &self.graph(stat.id)?)?);
        Ok(holds.then_some(stat))
    }

    /// Something of which the index has a statement, if its description is `wanted`, as it is kept.
    pub(super) fn stated(
        &mut self,
        id: ResourceId,
        wanted: impl FnOnce(&Graph) -> bool,
    ) -> Result<Option<Stat>> {
        let Some(resource) = self.view.get::<Resource>(&keys::resource(id))? else {
            return Ok(None);
        };
        let is_below = id != self.ancestors.top() && self.ancestors.reach(resource.parent)?;
        if !is_below || !self.is_wanted(&resource) {
            return Ok(None);
        }
        let graph = self.graph(id)?;
        if !wanted(&graph) || !self.holds(&resource, &graph)? {
            return Ok(None);
        }
        let chain = Chain::read(self.view, id)?;
        let chain = chain.filter(|chain| chain.rights(self.caller).allow(Operation::Stat));
        Ok(chain.map(Stat::from))
    }

    fn graph(&self, id: ResourceId) -> Result<Graph> {
        read(self.view, id.0)
    }

    fn holds(&self, resource: &Resource, graph: &Graph) -> Result<bool> {
        if !self.wanted.is_worded(&resource.name, graph) {
            return Ok(false);
        }
        Ok(!self.wanted.needs_links() || self.wanted.holds(&self.links.shown(graph)?.graph))
    }

    fn is_wanted(&self, resource: &Resource) -> bool {
        self.wanted.is_like(resource.kind, &resource.name)
    }
}
