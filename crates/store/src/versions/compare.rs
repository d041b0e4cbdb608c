//! What differs between two states of a resource.

use super::{Difference, description_of, record};
use crate::access::Operation;
use crate::catalog::Reads;
use crate::metadata::Links;
use crate::model::{At, ContentHead, Graph, Resource, ResourceId};
use crate::resources::find;
use crate::{Caller, Result, Store};

/// What changed from one state to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionDifference {
    /// The content that each has.
    pub contents: [Option<ContentHead>; 2],
    /// Statements that only the earlier one has, as the caller sees them.
    pub removed: Graph,
    /// Statements that only the later one has.
    pub added: Graph,
}

impl VersionDifference {
    /// Whether the bytes differ; none if there is no content.
    pub fn content_changed(&self) -> Option<bool> {
        match &self.contents {
            [None, None] => None,
            [before, after] => {
                let stamp = |head: &Option<ContentHead>| head.as_ref().map(|head| head.stamp);
                let sha256 = |head: &Option<ContentHead>| head.as_ref()?.digests.sha256;
                let same_digest = sha256(before).is_some() && sha256(before) == sha256(after);
                Some(stamp(before) != stamp(after) && !same_digest)
            }
        }
    }
}

impl Store {
    /// What changed from a version to another one, or to the current state. Needs `Rights::READ_CONTENT` and
    /// `Rights::READ_DESCRIPTION`.
    pub fn compare_versions(
        &self,
        caller: &Caller,
        at: &At,
        from: u64,
        to: Option<u64>,
    ) -> Result<VersionDifference> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::ReadDescription)?;
        chain.require(caller, Operation::ReadVersions, at)?;
        let id = chain.id();
        let content = |version| content_of(&view, id, chain.resource(), version);
        let contents = [content(Some(from))?, content(to)?];
        let difference = Difference::between(
            &description_of(&view, id, Some(from))?,
            &description_of(&view, id, to)?,
        );
        let links = Links::new(&view, caller);
        let (removed, added) = (links.graph(difference.lacks)?, links.graph(difference.has)?);
        Ok(VersionDifference { contents, removed, added })
    }

    /// The description of a version, its links as the caller sees them. Needs `Rights::READ_CONTENT` and
    /// `Rights::READ_DESCRIPTION`.
    pub fn graph_of_version(&self, caller: &Caller, at: &At, version: u64) -> Result<Graph> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::ReadDescription)?;
        chain.require(caller, Operation::ReadVersions, at)?;
        Links::new(&view, caller).graph(description_of(&view, chain.id(), Some(version))?)
    }
}

fn content_of(
    reads: &impl Reads,
    id: ResourceId,
    resource: &Resource,
    version: Option<u64>,
) -> Result<Option<ContentHead>> {
    match version {
        Some(version) => Ok(record(reads, id, version)?.content),
        None => Ok(resource.content.clone()),
    }
}
