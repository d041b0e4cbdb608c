//! Contents, and the blobs that they lie in.

use std::collections::HashSet;

use super::{Held, Used};
use crate::catalog::{BlobRecord, Reads, Record, Transaction, View, keys};
use crate::check::report::{Look, Report, delete_while_same, look, rows, while_same};
use crate::check::{Finding, FindingKind as Kind};
use crate::contents::{blob_ids, patches};
use crate::model::{Content, ContentId};
use crate::{BlobId, Result};

/// Contents that neither somebody refers to, nor a sweep would look at.
pub(super) fn contents(view: &View, report: &mut Report<'_>, used: &Used) -> Result<Held> {
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

pub(super) fn stray_patches(view: &View, report: &mut Report<'_>) -> Result<()> {
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

pub(super) fn blobs(view: &View, report: &mut Report<'_>, held: Held) -> Result<()> {
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

pub(super) fn blob_users(view: &View, report: &mut Report<'_>) -> Result<()> {
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
