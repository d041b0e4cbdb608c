//! Who holds a content: resources and versions; that it is what they promise, and knows of them.

use bytes::Bytes;

use super::Used;
use crate::Result;
use crate::catalog::{BlobRecord, Reads, Record, VersionRecord, View, keys};
use crate::check::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use crate::check::{Finding, FindingKind as Kind};
use crate::contents::patches;
use crate::model::{Content, ContentHead, ContentId, Extent, Piece, Resource, ResourceId};
use crate::resources::is_undigested;
use crate::resources::{CURRENT, is_held, replica_user};

/// A resource or a version that refers to a content.
struct User<'a> {
    id: ResourceId,
    version: u64,
    row: (&'a Bytes, &'a Bytes),
}

pub(super) fn resources(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let Ok(resource) = Resource::from_value(&value) else { continue };
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        for (head, version) in heads(&resource) {
            let user = User { id, version, row: (&key, &value) };
            head_of(view, report, used, (&user, head))?;
        }
        let note = keys::undigested(id);
        if is_undigested(&resource) && !view.has(&note)? {
            let finding = Finding::new(
                Kind::Reference,
                id,
                "its digest is missing, and not noted as missing",
            );
            let fix = while_same(vec![(key, Some(value))], move |tx| tx.mark(note.clone()));
            report.derivable(finding.at(path_of(view, id)), fix)?;
        }
    }
    Ok(())
}

/// The contents that a resource holds, each with the number of its reference.
fn heads(resource: &Resource) -> impl Iterator<Item = (&ContentHead, u64)> {
    let current = resource.content.iter().map(|head| (head, CURRENT));
    let stale = resource.placement.stale().map(|(number, head)| (head, replica_user(number)));
    current.chain(stale)
}

pub(super) fn undigested(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_undigested()) {
        let (key, _) = row?;
        let id = ResourceId(keys::last_id(&key).unwrap_or_default());
        let resource = keys::resource(id);
        match look::<Resource>(view, &resource)? {
            Look::Damaged => {}
            Look::Found(found) if is_undigested(&found) => {}
            _ => {
                let finding = Finding::new(Kind::Reference, id, "a digest is noted as missing");
                report.derivable(finding, delete_while_same(view, &key, resource)?)?;
            }
        }
    }
    Ok(())
}

pub(super) fn versions(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
    for row in rows(view, &keys::all_versions()) {
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let version = keys::last_id(&key).unwrap_or_default();
        let Ok(record) = VersionRecord::from_value(&value) else {
            let detail = format!("the record of version {version} does not decode");
            report.lost(Finding::new(Kind::DamagedRecord, id, detail).at(path_of(view, id)))?;
            continue;
        };
        let resource = keys::resource(id);
        if !view.has(&resource)? {
            let content = record.content.map(|head| head.id);
            let fix = while_same(vec![(resource, None)], move |tx| {
                tx.delete(key.clone());
                content.inspect(|content| crate::resources::release(tx, *content, id, version));
            });
            let detail = format!("version {version} of a missing resource");
            report.derivable(Finding::new(Kind::Leftover, id, detail), fix)?;
        } else if let Some(head) = &record.content {
            head_of(view, report, used, (&User { id, version, row: (&key, &value) }, head))?;
        }
    }
    Ok(())
}

/// What a head promises: a content with these extents, which knows that it is referred to.
fn head_of(
    view: &View,
    report: &mut Report<'_>,
    used: &mut Used,
    (user, head): (&User<'_>, &ContentHead),
) -> Result<()> {
    let reference = keys::content_user(head.id, user.id, user.version);
    if !view.has(&reference)? {
        used.insert(head.id);
        let finding = Finding::new(Kind::Reference, head.id, "a reference is missing");
        let seen = vec![(user.row.0.clone(), Some(user.row.1.clone()))];
        let fix = while_same(seen, move |tx| tx.mark(reference.clone()));
        report.derivable(finding.at(path_of(view, user.id)), fix)?;
    }
    match fault_of(view, head)? {
        Some(fault) => {
            report.lost(Finding::new(Kind::Content, head.id, fault).at(path_of(view, user.id)))
        }
        None => Ok(()),
    }
}

/// Why a content is not what its head promises; a record that does not decode is reported where contents are.
pub(super) fn fault_of(view: &View, head: &ContentHead) -> Result<Option<String>> {
    match look::<Content>(view, &keys::content(head.id))? {
        Look::Damaged => Ok(None),
        Look::Missing => Ok(Some("it has no record".to_owned())),
        Look::Found(content) => fault_within(view, head, &content),
    }
}

fn fault_within(view: &View, head: &ContentHead, content: &Content) -> Result<Option<String>> {
    let Ok(patches) = patches(view, head.id) else {
        return Ok(Some("a patch does not decode".to_owned()));
    };
    if patches.len() != head.patches as usize {
        return Ok(Some(format!("{} patches, not {}", patches.len(), head.patches)));
    }
    let end = content.extents.iter().try_fold(0, |end, extent| {
        (extent.offset == end && extent.length > 0).then(|| extent.end())
    });
    if end.is_none_or(|end| patches.is_empty() && end != head.size) {
        return Ok(Some("its extents do not cover it".to_owned()));
    }
    for extent in content.extents.iter().chain(&patches) {
        if let Some(fault) = piece_fault(view, extent)? {
            return Ok(Some(fault));
        }
    }
    Ok(None)
}

fn piece_fault(view: &View, extent: &Extent) -> Result<Option<String>> {
    let end = extent.start.saturating_add(extent.length);
    let there = match &extent.piece {
        Piece::Hole => return Ok(None),
        Piece::Inline(bytes) => bytes.len() as u64,
        Piece::Blob(blob) => match look::<BlobRecord>(view, &keys::blob(*blob))? {
            Look::Found(record) => record.size,
            Look::Damaged => return Ok(None),
            Look::Missing => return Ok(Some(format!("blob {blob} has no record"))),
        },
    };
    Ok((end > there).then(|| format!("an extent ends at {end} of {there} bytes")))
}

/// References of those that do not refer.
pub(super) fn users(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_content_users()) {
        let (key, _) = row?;
        let [content, id, version] = [1, 9, 17].map(|at| keys::id_at(&key, at).unwrap_or_default());
        let (content, id) = (ContentId(content), ResourceId(id));
        let held = is_held(version);
        let user = if held { keys::resource(id) } else { keys::version(id, version) };
        let head = match held {
            true => look::<Resource>(view, &user)?.map(|resource| {
                heads(&resource).find(|(_, user)| *user == version).map(|(head, _)| head.clone())
            }),
            false => look::<VersionRecord>(view, &user)?.map(|record| record.content),
        };
        match head {
            Look::Damaged => {}
            Look::Found(Some(head)) if head.id == content => {}
            _ => {
                let seen = vec![(user.clone(), view.value(&user)?)];
                let fix = while_same(seen, move |tx| {
                    crate::resources::release(tx, content, id, version);
                });
                let finding = Finding::new(Kind::Reference, content, "nothing refers to it");
                report.derivable(finding, fix)?;
            }
        }
    }
    Ok(())
}
