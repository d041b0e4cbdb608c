//! Leading links elsewhere, as they are kept.

use super::{Link, has_link, iri};
use crate::model::{Graph, ResourceId, Statement, StorePath, Term};
use crate::{Error, Result};

/// Whether anything in a description, as it is kept, is a link.
pub(crate) fn has_links(graph: &Graph) -> bool {
    graph.iter().any(has_link)
}

/// A description whose links lead to the resource, at its path, that `lead` gives for the one that they led to; where it gives none, they
/// stay as they are.
pub(crate) fn relinked(
    graph: Graph,
    lead: impl Fn(ResourceId) -> Result<Option<(ResourceId, StorePath)>>,
) -> Result<Graph> {
    if !has_links(&graph) {
        return Ok(graph);
    }
    let led = |kept: &mut String| {
        let Some(link) = Link::of(kept) else { return Ok::<_, Error>(()) };
        if let Some((id, path)) = lead(link.id)? {
            *kept = iri::link(id, &path, link.fragment());
        }
        Ok(())
    };
    let relinked = |mut statement: Statement| {
        statement.subject.as_mut().map(led).transpose()?;
        if let Term::Iri(object) = &mut statement.object {
            led(object)?;
        }
        Ok(statement)
    };
    graph.into_iter().map(relinked).collect()
}
