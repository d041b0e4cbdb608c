//! Contents: who refers to them, their extents, and the records of the blobs that hold them.

mod blobs;
mod holders;
mod uploads;

use std::collections::HashSet;

use super::report::Report;
use crate::catalog::View;
use crate::model::ContentId;
use crate::{BlobId, Result};

/// Contents that are used without a reference: by parts of uploads and by stages, or because it is missing.
type Used = HashSet<ContentId>;

/// Blobs that a content uses although the reference is missing.
type UsedBlobs = HashSet<BlobId>;

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut used = Used::new();
    holders::resources(view, report, &mut used)?;
    holders::versions(view, report, &mut used)?;
    holders::users(view, report)?;
    holders::undigested(view, report)?;
    uploads::uploads(view, report, &mut used)?;
    uploads::parts(view, report, &mut used)?;
    let held = blobs::contents(view, report, &used)?;
    blobs::stray_patches(view, report)?;
    blobs::stray_sums(view, report)?;
    let strays = blobs::blob_users(view, report)?;
    blobs::blobs(view, report, (held, strays))?;
    report.flush()
}
