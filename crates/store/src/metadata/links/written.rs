//! Links as they are written: bound, kept as text, left out or refused, as the nearest collection with a setting or the opening wants it.

use std::collections::BTreeSet;

use super::iri::{self, Link, is_by_id};
use super::{Links, Shown, TOGETHER, iris, names_resource, object, path_of};
use crate::access::Chain;
use crate::catalog::Reads;
use crate::model::{At, Graph, LinkIntegrity, ResourceId, Statement, StorePath};
use crate::resources::read_together;
use crate::{Error, ErrorKind, Result};

impl<R: Reads> Links<'_, R> {
    /// How a description is kept that the caller wrote instead of one that they were shown, of the last resource of the chain. What
    /// was shown stays as it was kept, and so does what was not shown.
    ///
    /// # Errors
    /// [`ErrorKind::Dangling`] for a new link that leads to nothing that they may see, where the collection refuses those.
    pub(crate) fn kept(&self, of: &Chain, shown: &Shown<'_>, written: Graph) -> Result<Graph> {
        let is_plain = shown.kept.is_empty() && shown.hidden.is_empty();
        if is_plain && !written.iter().any(|statement| iris(statement).any(names_resource)) {
            return Ok(written);
        }
        self.look_up_together(written.iter().filter(|it| !shown.graph.contains(it)))?;
        let mut kept = Vec::with_capacity(written.len() + shown.hidden.len());
        kept.extend(shown.hidden.iter().cloned());
        for statement in written {
            match shown.kept.get(&statement) {
                Some(same) => kept.extend(same.iter().cloned()),
                None if shown.graph.contains(&statement) => kept.push(statement),
                None => kept.extend(self.bound(of, statement)?),
            }
        }
        Ok(kept.into_iter().collect())
    }

    /// Reads what binding each of these reads, all of them together.
    fn look_up_together<'s>(&self, written: impl Iterator<Item = &'s Statement>) -> Result<()> {
        let paths = written.flat_map(iris).filter_map(|iri| path_of(iri).map(|(path, _)| path));
        let paths: BTreeSet<StorePath> = paths.take(TOGETHER).collect();
        let to: Vec<At> = paths.into_iter().map(At::Path).collect();
        if to.len() < 2 {
            return Ok(());
        }
        read_together(self.reads, &to)
    }

    /// A statement with its links bound, as far as the caller may see where they lead; none if it is to be left out.
    fn bound(&self, of: &Chain, written: Statement) -> Result<Option<Statement>> {
        if self.leaves_out
            && let Some(iri) = object(&written).filter(|iri| path_of(iri).is_some())
            && self.bind(iri)?.is_none()
        {
            return Ok(None);
        }
        let bound = self.bound_by(of.id(), written, |iri| match self.bind(iri)? {
            None if integrity(of) == LinkIntegrity::Strict && path_of(iri).is_some() => {
                Err(dangling(iri))
            }
            bound => Ok(bound),
        });
        bound.map(Some)
    }

    pub(crate) fn bound_by(
        &self,
        id: ResourceId,
        written: Statement,
        bind: impl Fn(&str) -> Result<Option<String>>,
    ) -> Result<Statement> {
        let mut bound = self.translated(written, bind)?;
        // Statements about the resource itself have no subject, or a relative one.
        if let Some(link) = bound.subject.as_deref().and_then(Link::of)
            && link.id == id
        {
            bound.subject = Some(link.fragment().to_owned()).filter(|part| !part.is_empty());
        }
        Ok(bound)
    }

    /// The form in which an IRI that was written is kept; none if it names nothing that the caller may see.
    pub(crate) fn bind(&self, written: &str) -> Result<Option<String>> {
        if let Some(known) = self.bound.borrow().get(written) {
            return Ok(Some(known.clone()));
        }
        let bound = self.look_up(written)?;
        if let Some(link) = &bound {
            self.bound.borrow_mut().insert(written.to_owned(), link.clone());
        }
        Ok(bound)
    }

    fn look_up(&self, written: &str) -> Result<Option<String>> {
        if let Some((path, fragment)) = path_of(written) {
            let seen = self.seen(&At::Path(path.clone()))?;
            return Ok(seen.map(|chain| iri::link(chain.id(), &path, fragment)));
        }
        if !is_by_id(written) {
            return Ok(None);
        }
        let nothing = || Error::invalid(format!("the IRI names no resource: {written}"));
        let (id, fragment) = iri::id_of(written).ok_or_else(nothing)?;
        let chain = self.seen(&At::Id(id))?.ok_or_else(nothing)?;
        Ok(Some(iri::link(id, &chain.path(), fragment)))
    }
}

/// What the nearest collection with a setting requires of links.
pub(super) fn setting(of: &Chain) -> Option<LinkIntegrity> {
    of.resources().find_map(|resource| resource.link_integrity)
}

/// The same, with the default.
pub(crate) fn integrity(of: &Chain) -> LinkIntegrity {
    setting(of).unwrap_or_default()
}

fn dangling(iri: &str) -> Error {
    Error::new(ErrorKind::Dangling, format!("the target of the link does not exist: {iri}")).with_hint(
        "create the target first, or let the collection accept such links (`cenote meta integrity`)",
    )
}
