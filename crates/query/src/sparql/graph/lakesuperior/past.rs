//! The graphs of what was: two of each `version`, and `info:fcsystem/histmeta` about these graphs.
//!
//! Invariant: they are named graphs only. The default graph is the present, so no query of it finds what no longer holds, nor reads a version. A version
//! has no graph of what it contained, since the former children of a container are not part of it.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use cenote_store::ResourceId;

use super::version::PastTriple;
use crate::Result;
use crate::sparql::graph::Graph;
use crate::sparql::graph::described::Like;
use crate::sparql::graph::managing::Ids;
use crate::sparql::graph::node::{Node, What};
use crate::sparql::meter;

/// What was read of the past.
#[derive(Default)]
pub(crate) struct Past {
    read: RefCell<HashMap<ResourceId, Rc<[PastTriple]>>>,
    foreign: OnceCell<Vec<ResourceId>>,
}

/// So many triples are remembered; then all are forgotten.
const REMEMBERED: usize = 65_536;

impl<'a> Graph<'a> {
    pub(crate) fn is_history(&self, name: &Node) -> bool {
        self.has_meta() && *name == self.meta.history
    }

    /// What matches in the graphs of all versions, and in the one about these.
    pub(crate) fn in_past(
        &'a self,
        like: &Like,
    ) -> impl Iterator<Item = Result<Vec<PastTriple>>> + use<'a> {
        let like = like.clone();
        self.past_like(&like).map(move |id| {
            let past = self.past_of(id?)?;
            Ok(past.iter().filter(|it| like.matches(&it.triple)).cloned().collect())
        })
    }

    /// What matches in a graph of a version; nothing if no such graph has this name.
    pub(crate) fn in_version(&self, name: &Node, like: &Like) -> Result<Vec<PastTriple>> {
        let Some(id) = self.versioned_by(name)? else { return Ok(Vec::new()) };
        let past = self.past_of(id)?;
        let found = past.iter().filter(|it| it.graph == *name && like.matches(&it.triple));
        Ok(found.cloned().collect())
    }

    /// The names of all graphs of the past, each once.
    pub(crate) fn past_names(&'a self) -> impl Iterator<Item = Result<Vec<Node>>> + use<'a> {
        let mut has_any = false;
        self.past_like(&Like::default()).map(move |id| {
            let mut names = Vec::<Node>::new();
            for it in self.past_of(id?)?.iter() {
                let is_known = it.graph == self.meta.history && has_any;
                if !is_known && !names.contains(&it.graph) {
                    names.push(it.graph.clone());
                }
                has_any = true;
            }
            Ok(names)
        })
    }

    /// The resources of which versions may have what a pattern asks for.
    fn past_like(&'a self, like: &Like) -> Ids<'a> {
        if !self.has_meta() || like.text.is_some() {
            return Box::new(std::iter::empty());
        }
        let among = match &like.subject {
            None => return Box::new(self.data.versioned().map(|id| Ok(id?))),
            Some(subject) => self.past_about(subject),
        };
        match among {
            Ok(among) => Box::new(among.into_iter().map(Ok)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn past_about(&self, subject: &Node) -> Result<Vec<ResourceId>> {
        let own = match subject.what() {
            What::Blank(id, _) => return Ok(vec![id]),
            What::Graph(..) => return Ok(Vec::new()),
            _ => self.versioned_by(subject)?,
        };
        let mut among = self.past_of_others()?.to_vec();
        if let Some(own) = own.filter(|own| !among.contains(own)) {
            among.push(own);
        }
        Ok(among)
    }

    /// The resources that had statements about anything else in a version: each pattern with a subject looks at them.
    fn past_of_others(&self) -> Result<&[ResourceId]> {
        if let Some(known) = self.past.foreign.get() {
            return Ok(known);
        }
        let mut found = Vec::new();
        for id in self.data.versioned() {
            let id = id?;
            if self.past_of(id)?.iter().any(|it| it.is_foreign) {
                found.push(id);
            }
        }
        Ok(self.past.foreign.get_or_init(|| found))
    }

    /// What the graphs of the versions of a resource have, and `info:fcsystem/histmeta` about them.
    fn past_of(&self, id: ResourceId) -> Result<Rc<[PastTriple]>> {
        if let Some(known) = self.past.read.borrow().get(&id) {
            return Ok(known.clone());
        }
        meter::row()?;
        let mut triples = Vec::new();
        if let Some(seen) = self.data.resource(id)? {
            for memento in self.mementos(id)? {
                triples.extend(self.version(&seen, &memento)?);
            }
        }
        let triples: Rc<[PastTriple]> = triples.into();
        let mut read = self.past.read.borrow_mut();
        if read.values().map(|it| it.len()).sum::<usize>() + triples.len() > REMEMBERED {
            read.clear();
        }
        read.insert(id, triples.clone());
        Ok(triples)
    }
}
