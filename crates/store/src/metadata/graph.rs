//! Reading the description of a resource, and what it may be.

use super::links::{Links, linked};
use super::stored::{Stored, abridged, replace, statements};
use crate::access::{Chain, Operation};
use crate::catalog::{Reads, Transaction, View};
use crate::model::{At, Dangling, Graph, ResourceId, Stat, Statement};
use crate::resources::find;
use crate::{Caller, Error, ErrorKind, Result, Store};

/// The largest description, in statements.
const MAX_STATEMENTS: u64 = 100_000;
/// The largest term, in bytes.
const MAX_TERM: usize = 1 << 20;

impl Store {
    /// The description of a resource, its links as the caller sees them. Needs `Rights::READ_DESCRIPTION`.
    pub fn graph(&self, caller: &Caller, at: &At) -> Result<(Stat, Graph)> {
        graph(&self.view_of_described(at)?, caller, at, Dangling::Kept)
    }
}

/// [`Store::graph`] on a view, with the rule of an opening for links to nothing.
pub(crate) fn graph(
    view: &View,
    caller: &Caller,
    at: &At,
    dangling: Dangling,
) -> Result<(Stat, Graph)> {
    shown(view, caller, at, dangling, |id| statements(view, id))
}

/// The same of the statements that have one of some predicates, or name a resource of the store.
pub(crate) fn graph_part(
    view: &View,
    caller: &Caller,
    at: &At,
    dangling: Dangling,
    predicates: &[&str],
) -> Result<(Stat, Graph)> {
    shown(view, caller, at, dangling, |id| abridged(view, id, predicates))
}

/// Statements about what is at some place, as the caller sees them.
fn shown(
    view: &View,
    caller: &Caller,
    at: &At,
    dangling: Dangling,
    read: impl FnOnce(u64) -> Result<Vec<Statement>>,
) -> Result<(Stat, Graph)> {
    let chain = find(view, caller, at, Operation::ReadDescription)?;
    let statements = read(chain.id().0)?;
    view.read_ahead(|| linked(view.edges(), &statements).into())?;
    let links = Links::new(view, caller).ruled(&chain, dangling);
    let shown = links.graph_of(statements)?;
    Ok((chain.into(), shown))
}

/// Gives a resource that the same commit creates its first description; returns it as the caller sees it.
pub(crate) fn describe_new(
    tx: &mut Transaction,
    caller: &Caller,
    id: ResourceId,
    (description, dangling): (&Graph, Dangling),
) -> Result<Graph> {
    let chain = Chain::read(tx, id)?.ok_or_else(|| Error::not_found(id))?;
    let kept = kept(tx, caller, &chain, (description, dangling))?;
    replace(tx, id.0, &Stored::default(), &kept)?;
    Links::new(tx, caller).graph(kept)
}

/// A description that is not the current one, as it is kept of a version.
pub(crate) fn kept(
    tx: &Transaction,
    caller: &Caller,
    chain: &Chain,
    (description, dangling): (&Graph, Dangling),
) -> Result<Graph> {
    let old = Stored::default();
    check(&old, description)?;
    let links = Links::new(tx, caller).ruled(chain, dangling);
    links.kept(chain, &links.shown(&old.graph)?, description.clone())
}

/// What a change of a description needs.
pub(crate) fn needed(old: &Graph, new: &Graph) -> Operation {
    match (new.is_subset(old), old.is_subset(new)) {
        (true, true) => Operation::ReadDescription,
        (true, false) => Operation::RemoveDescription,
        (false, true) => Operation::AddDescription,
        (false, false) => Operation::ChangeDescription,
    }
}

/// Refuses a description that is too large or empty.
pub(crate) fn check(old: &Stored, graph: &Graph) -> Result<()> {
    let too_large =
        |what: &str| Error::new(ErrorKind::TooLarge, format!("a description is too large: {what}"));
    if old.others() + graph.len() as u64 > MAX_STATEMENTS {
        return Err(too_large("more than 100,000 statements"));
    }
    if graph.iter().any(|statement| statement.predicate.is_empty()) {
        return Err(Error::invalid("a statement needs a predicate"));
    }
    let long = |s: &Statement| s.predicate.len().max(s.object.text().len()) > MAX_TERM;
    match graph.iter().any(long) {
        true => Err(too_large("a term of more than 1 MiB")),
        false => Ok(()),
    }
}
