//! Replicas of a data object, or with `recursive=1` of all below a collection. The latter is a recorded job
//! of the store; the response is sent when it is done, and it continues if the client disconnects.

use cenote_store::{At, JobStatus, Kind, PlaceId, Trim};

use super::done;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::target::no_replica;
use crate::irods::data_objects::replicas;
use crate::irods::zone::resources;

/// `POST logicalpath/replicate`: copies the current contents to a resource.
pub(super) async fn replicate(mut call: Call) -> Answer {
    as_in_the_http_api(&mut call);
    match below(&call).await? {
        Some(top) => {
            let (place, caller) = (resources::named(&call, "dst-resource").await?, call.acting());
            let begun =
                call.blocking(move |store| store.replicate_tree(&caller, &top, place)).await?;
            finish(&call, begun).await?;
        }
        None => drop(replicas::replicate(call).await?),
    }
    done()
}

/// `POST logicalpath/trim`: removes the replica with a number, or those on a resource, or the surplus ones.
/// Replicas younger than `minimum-age-in-minutes` are kept.
pub(super) async fn trim(mut call: Call) -> Answer {
    as_in_the_http_api(&mut call);
    let place = match call.form.text("src-resource") {
        Some(_) => Some(resources::named(&call, "src-resource").await?),
        None => None,
    };
    let replica = call.count("replica-number")?;
    let replica = replica.map(u32::try_from).transpose().map_err(|_| no_replica())?;
    let keep = call.count("minimum-number-of-remaining-replicas")?.unwrap_or(2);
    let keep = usize::try_from(keep).unwrap_or(usize::MAX);
    let age = call.count("minimum-age-in-minutes")?.unwrap_or(0);
    match (below(&call).await?, replica, age) {
        (Some(top), None, 0) => trim_tree(&call, top, place, keep).await?,
        (Some(_), ..) => {
            return Err(Refusal::code(Code::IncompatibleParameters)
                .with_message("a collection has neither a number nor an age"));
        }
        (None, _, 0) => {
            drop(replicas::trim_to(&call, Trim { replica, place, keep, dry_run: false }).await?);
        }
        (None, ..) => trim_old(&call, Trim { replica, place, keep, dry_run: false }, age).await?,
    }
    done()
}

async fn trim_tree(
    call: &Call,
    top: At,
    place: Option<PlaceId>,
    keep: usize,
) -> Result<(), Refusal> {
    let caller = call.acting();
    let begun = call.blocking(move |store| store.trim_tree(&caller, &top, place, keep)).await?;
    finish(call, begun).await
}

/// Trims those of the replicas that are old enough.
async fn trim_old(call: &Call, trim: Trim, minutes: u64) -> Result<(), Refusal> {
    let (_, replicas) = replicas::found(call).await?;
    let now = call.app.store().now().secs();
    let limit = now.saturating_sub_unsigned(minutes.saturating_mul(60));
    let would_go = replicas::would_trim(call, Trim { dry_run: true, ..trim }).await?;
    let old = replicas.iter().filter(|replica| replica.modified.secs() <= limit);
    for replica in old.filter(|replica| would_go.contains(&replica.number)) {
        replicas::trim_to(call, Trim { replica: Some(replica.number), place: None, ..trim })
            .await?;
    }
    Ok(())
}

fn as_in_the_http_api(call: &mut Call) {
    call.also("lpath", "logical-path");
    call.also("src-replica-number", "replica-number");
    call.also("admin", "admin-mode");
}

/// The collection, if all objects below it are meant; `None` for a single object.
async fn below(call: &Call) -> Result<Option<At>, Refusal> {
    let (at, caller) = (call.at()?, call.acting());
    let stat = call.blocking(move |store| store.stat(&caller, &at)).await?;
    match (stat.resource.kind, call.form.flag("recursive", false)) {
        (Kind::Collection, true) => Ok(Some(At::Id(stat.id))),
        (Kind::Collection, false) => Err(Refusal::code(Code::IncompatibleParameters)),
        _ => Ok(None),
    }
}

/// Waits until a job is over. If it failed for some objects, that is an error, reported once all others are done.
async fn finish(call: &Call, begun: JobStatus) -> Result<(), Refusal> {
    let ended = call.app.store().finish(begun.id).await?;
    match ended.failed {
        0 => Ok(()),
        failed => {
            let fault = ended.fault.unwrap_or_default();
            Err(Refusal::code(Code::NoAccess)
                .with_message(&format!("{failed} data objects failed; the last error: {fault}")))
        }
    }
}
