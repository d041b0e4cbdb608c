//! Contents, and the blobs that store them.

use std::collections::HashSet;

use super::{Used, UsedBlobs};
use crate::catalog::{BlobRecord, Reads, Record, Transaction, View, keys};
use crate::check::report::{Look, Report, delete_while_same, look, rows, while_same};
use crate::check::{Finding, FindingKind as Kind};
use crate::contents::{blob_ids, delete_blob, groups, patches};
use crate::model::{Content, ContentId};
use crate::{BlobId, Result};

/// Contents that nothing refers to and that no sweep would examine.
pub(super) fn contents(view: &View, report: &mut Report<'_>, used: &Used) -> Result<UsedBlobs> {
    let noted = noted(view)?;
    let mut held = UsedBlobs::new();
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
    held: &mut UsedBlobs,
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
            let finding = Finding::new(Kind::Leftover, id, "a patch without a content");
            report.derivable(finding, delete_while_same(view, &key, content)?)?;
        }
    }
    Ok(())
}

/// References of contents that do not use the blob. For unreadable contents this is not known.
type Strays = HashSet<(BlobId, ContentId)>;

/// So many references are looked at together: each content of theirs is then read once.
const STEP: usize = 1 << 16;

/// References to blobs from contents that do not use them.
pub(super) fn blob_users(view: &View, report: &mut Report<'_>) -> Result<Strays> {
    let mut strays = Strays::new();
    let table = keys::all_blob_users();
    let mut rows = rows(view, &table).peekable();
    while rows.peek().is_some() {
        let mut users: Vec<(ContentId, BlobId)> = Vec::new();
        for row in rows.by_ref().take(STEP) {
            users.extend(keys::blob_user_parts(&row?.0).map(|(blob, content)| (content, blob)));
        }
        users.sort_unstable();
        for users in users.chunk_by(|one, next| one.0 == next.0) {
            strays_of(view, report, &mut strays, users)?;
        }
    }
    Ok(strays)
}

/// Those among the references of one content.
fn strays_of(
    view: &View,
    report: &mut Report<'_>,
    strays: &mut Strays,
    users: &[(ContentId, BlobId)],
) -> Result<()> {
    let Some((id, _)) = users.first().copied() else { return Ok(()) };
    let key = keys::content(id);
    let used = match look::<Content>(view, &key)? {
        Look::Missing => HashSet::new(),
        Look::Damaged => return Ok(()),
        Look::Found(content) => blobs_of(view, id, &content),
    };
    for blob in users.iter().map(|(_, blob)| *blob).filter(|blob| !used.contains(blob)) {
        strays.insert((blob, id));
        let finding =
            Finding::new(Kind::Reference, blob, "a content refers to it, but is not stored in it");
        let fix = delete_while_same(view, &keys::blob_user(blob, id), key.clone())?;
        report.derivable(finding, fix)?;
    }
    Ok(())
}

/// Records of blobs, and blobs that no content uses.
pub(super) fn blobs(
    view: &View,
    report: &mut Report<'_>,
    (held, strays): (UsedBlobs, Strays),
) -> Result<()> {
    for row in rows(view, &keys::blobs()) {
        let (key, value) = row?;
        let Some(blob) = keys::blob_id(&key) else { continue };
        if let Err(fault) = BlobRecord::from_value(&value) {
            let detail = format!("the record of a blob: {fault}");
            report.lost(Finding::new(Kind::DamagedRecord, blob, detail))?;
        } else if !held.contains(&blob) {
            unused(view, report, &strays, blob)?;
        }
    }
    Ok(())
}

/// Checksums of blocks that no blob has.
pub(super) fn stray_sums(view: &View, report: &mut Report<'_>) -> Result<()> {
    for row in rows(view, &keys::all_sums()) {
        let (key, _) = row?;
        let Some((blob, group)) = keys::sums_parts(&key) else { continue };
        let owner = keys::blob(blob);
        let stray = match look::<BlobRecord>(view, &owner)? {
            Look::Missing => true,
            Look::Damaged => false,
            Look::Found(BlobRecord { size, block, .. }) => {
                block.is_none_or(|block| group >= groups(size, block))
            }
        };
        if stray {
            let finding =
                Finding::new(Kind::Leftover, blob, "checksums of blocks that it does not have");
            report.derivable(finding, delete_while_same(view, &key, owner)?)?;
        }
    }
    Ok(())
}

fn unused(view: &View, report: &mut Report<'_>, strays: &Strays, blob: BlobId) -> Result<()> {
    let mut users = 0;
    for user in rows(view, &keys::blob_users(blob)) {
        let content = ContentId(keys::last_id(&user?.0).unwrap_or_default());
        if !strays.contains(&(blob, content)) {
            return Ok(());
        }
        users += 1;
    }
    let fix = move |tx: &mut Transaction| {
        let now = tx.rows(&keys::blob_users(blob), users + 1)?.len();
        if now <= users {
            let record = tx.get::<BlobRecord>(&keys::blob(blob))?;
            record.iter().for_each(|record| delete_blob(tx, blob, record));
        }
        Ok(now <= users)
    };
    let detail = "no content is stored in this blob";
    report.derivable(Finding::new(Kind::Leftover, blob, detail), fix)
}
