//! The versions of a dataset: of the resources that its caller may see.
//!
//! Invariant: nothing is returned of a resource whose description or whose versions the caller may not read.

use super::{Version, all_of, description_of};
use crate::Result;
use crate::catalog::{Reads, keys};
use crate::metadata::{Dataset, Fact};
use crate::model::{Graph, ResourceId};

impl<'a> Dataset<'a> {
    /// The resources of which versions are kept, by id; some of them the caller may not see.
    ///
    /// Cost: one read each, however many versions it has.
    pub fn versioned(&self) -> impl Iterator<Item = Result<ResourceId>> + use<'a> {
        let view = self.view();
        let mut rest = keys::all_versions();
        std::iter::from_fn(move || {
            let rows = match view.rows(&rest, 1) {
                Ok(rows) => rows,
                Err(error) => return Some(Err(error)),
            };
            let id = keys::versioned(&rows.first()?.0);
            rest = keys::versions_beyond(id);
            Some(Ok(id))
        })
    }

    /// The versions of a resource by number; none if the caller may not see them.
    pub fn versions(&self, id: ResourceId) -> Result<Vec<Version>> {
        match self.resource(id)?.is_some_and(|seen| seen.may_read_versions) {
            true => all_of(self.view(), id),
            false => Ok(Vec::new()),
        }
    }

    /// The statements in the description of a version; none if the caller may not see it.
    pub fn facts_of_version(&self, id: ResourceId, version: u64) -> Result<Vec<Fact>> {
        let description = match self.resource(id)?.is_some_and(|seen| seen.may_read_versions) {
            true => description_of(self.view(), id, Some(version))?,
            false => Graph::new(),
        };
        description.into_iter().map(|statement| self.fact(id, statement)).collect()
    }
}
