//! Contents: who refers to them, their extents, and the records of the blobs that hold them.

use std::collections::HashSet;

use bytes::Bytes;

use super::report::{Look, Report, delete_while_same, look, path_of, rows, while_same};
use super::{Finding, FindingKind as Kind};
use crate::catalog::{
    BlobRecord, PartRecord, Reads, Record, Transaction, UploadRecord, VersionRecord, View, keys,
};
use crate::contents::{CURRENT, blob_ids, forget_upload, is_held, patches, replica_user};
use crate::model::{Content, ContentHead, ContentId, Extent, Piece, Resource, ResourceId};
use crate::tree::is_undigested;
use crate::{BlobId, Result};

pub(super) fn check(view: &View, report: &mut Report<'_>) -> Result<()> {
    let mut used = HashSet::new();
    resources(view, report, &mut used)?;
    versions(view, report, &mut used)?;
    users(view, report)?;
    undigested(view, report)?;
    uploads(view, report)?;
    parts(view, report, &mut used)?;
    let held = contents(view, report, &used)?;
    stray_patches(view, report)?;
    blobs(view, report, held)?;
    blob_users(view, report)?;
    report.flush()
}

/// A resource or a version that refers to a content.
struct User<'a> {
    id: ResourceId,
    version: u64,
    row: (&'a Bytes, &'a Bytes),
}

/// Contents that are used without a reference: by parts of uploads, or because it is missing.
type Used = HashSet<ContentId>;

fn resources(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
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
            let finding = Finding::new(Kind::Reference, id, "its missing digest is not noted");
            let fix = while_same(vec![(key, Some(value))], move |tx| tx.mark(note.clone()));
            report.derivable(finding.at(path_of(view, id)), fix)?;
        }
    }
    Ok(())
}

/// The contents that a resource holds, each with the number of its reference.
fn heads(resource: &Resource) -> impl Iterator<Item = (&ContentHead, u64)> {
    let current = resource.content.iter().map(|head| (head, CURRENT));
    let stale = resource
        .replicas
        .iter()
        .filter_map(|replica| Some((replica.stale.as_ref()?, replica_user(replica.number))));
    current.chain(stale)
}

fn undigested(view: &View, report: &mut Report<'_>) -> Result<()> {
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

fn versions(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
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
                content.inspect(|content| crate::contents::release(tx, *content, id, version));
            });
            let detail = format!("version {version} of what is gone");
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
    let fault = match look::<Content>(view, &keys::content(head.id))? {
        Look::Damaged => return Ok(()),
        Look::Missing => Some("it has no record".to_owned()),
        Look::Found(content) => fault_of(view, head, &content)?,
    };
    match fault {
        Some(fault) => {
            report.lost(Finding::new(Kind::Content, head.id, fault).at(path_of(view, user.id)))
        }
        None => Ok(()),
    }
}

fn fault_of(view: &View, head: &ContentHead, content: &Content) -> Result<Option<String>> {
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
fn users(view: &View, report: &mut Report<'_>) -> Result<()> {
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
                    crate::contents::release(tx, content, id, version);
                });
                let finding = Finding::new(Kind::Reference, content, "it is not referred to");
                report.derivable(finding, fix)?;
            }
        }
    }
    Ok(())
}

fn uploads(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::uploads()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        if let Err(fault) = UploadRecord::from_value(&value) {
            let detail = format!("the record of an upload: {fault}; repair gives it up");
            let fix = move |tx: &mut Transaction| forget_upload(tx, id).map(|()| true);
            report.derivable(Finding::new(Kind::DamagedRecord, id, detail), fix)?;
        }
    }
    Ok(())
}

fn parts(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
    for row in rows(view, &keys::all_parts()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        let Ok(part) = PartRecord::from_value(&value) else {
            let detail = "a part of an upload does not decode; repair gives it up";
            let fix =
                while_same(vec![(key.clone(), Some(value))], move |tx| tx.delete(key.clone()));
            report.derivable(Finding::new(Kind::DamagedRecord, id, detail), fix)?;
            continue;
        };
        let upload = keys::upload(id);
        if let Look::Missing = look::<UploadRecord>(view, &upload)? {
            let content = part.content;
            let fix = while_same(vec![(upload, None)], move |tx| {
                tx.delete(key.clone());
                tx.mark(keys::garbage(tx.now(), content));
            });
            report.derivable(Finding::new(Kind::Leftover, id, "a part of no upload"), fix)?;
        }
        used.insert(part.content);
        if !view.has(&keys::content(part.content))? {
            let detail = format!("it is missing in upload {id}");
            report.lost(Finding::new(Kind::Content, part.content, detail))?;
        }
    }
    Ok(())
}

/// Blobs that a content lies in although its reference is missing.
type Held = HashSet<BlobId>;

/// Contents that neither somebody refers to, nor a sweep would look at.
fn contents(view: &View, report: &mut Report<'_>, used: &Used) -> Result<Held> {
    let noted = noted(view)?;
    let mut held = Held::new();
    for row in rows(view, &keys::contents()) {
        let (key, value) = row?;
        let id = ContentId(keys::first_id(&key).unwrap_or_default());
        match Content::from_value(&value) {
            Ok(content) => references_to_blobs(view, report, &mut held, (id, &content))?,
            Err(fault) => report.lost(Finding::new(
                Kind::DamagedRecord,
                id,
                format!("the record of a content: {fault}"),
            ))?,
        }
        let referred = rows(view, &keys::content_users(id)).next().is_some();
        if !referred && !used.contains(&id) && !noted.contains(&id) {
            let fix = move |tx: &mut Transaction| {
                tx.mark(keys::garbage(tx.now(), id));
                Ok(true)
            };
            let detail = "nothing refers to this content; repair leaves it to the sweep";
            report.derivable(Finding::new(Kind::Leftover, id, detail), fix)?;
        }
    }
    Ok(held)
}

fn noted(view: &View) -> Result<HashSet<ContentId>> {
    rows(view, &keys::all_garbage())
        .map(|row| Ok(keys::garbage_content(&row?.0).unwrap_or(ContentId(0))))
        .collect()
}

fn references_to_blobs(
    view: &View,
    report: &mut Report<'_>,
    held: &mut Held,
    (id, content): (ContentId, &Content),
) -> Result<()> {
    for blob in blobs_of(view, id, content) {
        let reference = keys::blob_user(blob, id);
        if !view.has(&reference)? {
            held.insert(blob);
            let finding = Finding::new(Kind::Reference, blob, "a content's reference is missing");
            let key = keys::content(id);
            let fix = while_same(vec![(key.clone(), view.value(&key)?)], move |tx| {
                tx.mark(reference.clone());
            });
            report.derivable(finding, fix)?;
        }
    }
    Ok(())
}

fn blobs_of(view: &View, id: ContentId, content: &Content) -> HashSet<BlobId> {
    let patches = patches(view, id).unwrap_or_default();
    blob_ids(&content.extents).chain(blob_ids(&patches)).collect()
}

fn stray_patches(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_patches()) {
        let (key, _) = row?;
        let id = ContentId(keys::first_id(&key).unwrap_or_default());
        let content = keys::content(id);
        if !view.has(&content)? {
            let finding = Finding::new(Kind::Leftover, id, "a patch of no content");
            report.derivable(finding, delete_while_same(view, &key, content)?)?;
        }
    }
    Ok(())
}

/// Whether the content in a row of `b` lies in the blob; true if that cannot be known.
fn is_used(view: &View, blob: BlobId, id: ContentId) -> Result<bool> {
    Ok(match look::<Content>(view, &keys::content(id))? {
        Look::Missing => false,
        Look::Damaged => true,
        Look::Found(content) => blobs_of(view, id, &content).contains(&blob),
    })
}

fn blobs(view: &View, report: &mut Report<'_>, held: Held) -> Result<()> {
    for row in rows(view, &keys::blobs()) {
        let (key, value) = row?;
        let Some(blob) = keys::blob_id(&key) else { continue };
        if let Err(fault) = BlobRecord::from_value(&value) {
            let detail = format!("the record of a blob: {fault}");
            report.lost(Finding::new(Kind::DamagedRecord, blob, detail))?;
            continue;
        }
        let mut seen = vec![(key.clone(), Some(value))];
        let mut used = held.contains(&blob);
        for user in rows(view, &keys::blob_users(blob)) {
            let (user, value) = user?;
            let content = ContentId(keys::last_id(&user).unwrap_or_default());
            used = used || is_used(view, blob, content)?;
            seen.push((user, Some(value)));
        }
        if !used {
            let expected = seen.len();
            let fix = move |tx: &mut Transaction| {
                let users = tx.rows(&keys::blob_users(blob), expected)?.len();
                if users < expected {
                    tx.delete(key.clone());
                }
                Ok(users < expected)
            };
            let detail = "no content lies in this blob";
            report.derivable(Finding::new(Kind::Leftover, blob, detail), fix)?;
        }
    }
    Ok(())
}

fn blob_users(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_blob_users()) {
        let (key, _) = row?;
        let Some((blob, content)) = keys::blob_user_parts(&key) else { continue };
        if !is_used(view, blob, content)? {
            let finding = Finding::new(Kind::Reference, blob, "a content does not lie in it");
            let because = keys::content(content);
            report.derivable(finding, delete_while_same(view, &key, because)?)?;
        }
    }
    Ok(())
}
