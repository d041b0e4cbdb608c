//! Uploads: their stages, and the parts that have arrived.

use super::Used;
use super::holders::fault_of;
use crate::Result;
use crate::catalog::{PartRecord, Reads, Record, Transaction, UploadRecord, View, keys};
use crate::check::report::{Look, Report, look, rows, while_same};
use crate::check::{Finding, FindingKind as Kind};
use crate::contents::forget_upload;
use crate::model::ContentHead;

pub(super) fn uploads(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
    for row in rows(view, &keys::uploads()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        match UploadRecord::from_value(&value) {
            Err(fault) => {
                let detail = format!("the record of an upload: {fault}; repair drops it");
                let fix = move |tx: &mut Transaction| forget_upload(tx, id).map(|()| true);
                report.derivable(Finding::new(Kind::DamagedRecord, id, detail), fix)?;
            }
            Ok(UploadRecord { stage: Some(head), .. }) => stage(view, report, used, (id, &head))?,
            Ok(_) => {}
        }
    }
    Ok(())
}

fn stage(
    view: &View,
    report: &mut Report<'_>,
    used: &mut Used,
    (id, head): (u64, &ContentHead),
) -> Result<()> {
    used.insert(head.id);
    match fault_of(view, head)? {
        Some(fault) => {
            let detail = format!("the stage of upload {id}: {fault}");
            report.lost(Finding::new(Kind::Content, head.id, detail))
        }
        None => Ok(()),
    }
}

pub(super) fn parts(view: &View, report: &mut Report<'_>, used: &mut Used) -> Result<()> {
    for row in rows(view, &keys::all_parts()) {
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        let Ok(part) = PartRecord::from_value(&value) else {
            let detail = "a part of an upload does not decode; repair drops it";
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
            report.derivable(Finding::new(Kind::Leftover, id, "a part without an upload"), fix)?;
        }
        used.insert(part.content);
        if !view.has(&keys::content(part.content))? {
            let detail = format!("it is missing in upload {id}");
            report.lost(Finding::new(Kind::Content, part.content, detail))?;
        }
    }
    Ok(())
}
