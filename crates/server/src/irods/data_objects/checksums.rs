//! Checksums. That of the received bytes is known at once; a copy has one of its own once it has
//! been calculated, by reading the copy back.

use axum::http::StatusCode;
use cenote_store::{At, ErrorKind, ReadOptions, ReplicaChange, ReplicaView, Stat};
use serde_json::{Value, json};

use super::replicas::found;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::target::Target;
use crate::irods::call::translation::Doing;
use crate::irods::tree::stat::checksum_of;
use crate::irods::zone::hierarchy::word;

/// The key under which a replica stores the checksum that was calculated from it.
const NOTED: &str = "DATA_CHECKSUM";

/// `calculate_checksum`: of one replica, or of all.
pub(crate) async fn calculate(call: Call) -> Answer {
    let (stat, replicas) = object(&call).await?;
    let force = call.form.flag("force", false);
    let all = call.form.flag("all", false);
    let mut last = String::new();
    for replica in chosen(&call, &replicas, all).await? {
        last = match recorded(&replicas, replica).filter(|_| !force) {
            Some(checksum) => checksum,
            None => computed(&call, &stat, replica.number).await?,
        };
        note(&call, &stat, replica, &last).await?;
    }
    answer::member("checksum", last)
}

/// The object at `lpath`, and its replicas; the code is `NoRows` if it is missing or not a data object.
async fn object(call: &Call) -> Result<(Stat, Vec<ReplicaView>), Refusal> {
    let missing = || Refusal::code(Code::NoRows);
    let path = call.path("lpath").map_err(|refusal| match refusal {
        Refusal::Coded { .. } => missing(),
        other => other,
    })?;
    let (caller, at) = (call.acting(), At::from(path));
    let found = call.blocking(move |store| {
        Ok(store.stat(&caller, &at).and_then(|stat| Ok((stat, store.replicas(&caller, &at)?))))
    });
    let (stat, replicas) = found.await?.map_err(|error| Doing::FindReplicas.refusal(error))?;
    if replicas.is_empty() {
        return Err(missing());
    }
    Ok((stat, replicas))
}

/// The replicas that a call refers to: all, the one it names, or the first good one.
async fn chosen<'a>(
    call: &Call,
    replicas: &'a [ReplicaView],
    all: bool,
) -> Result<Vec<&'a ReplicaView>, Refusal> {
    if all {
        return Ok(replicas.iter().collect());
    }
    let target = Target::of(&call.form)?;
    let replica = match target {
        Target::Any => first_good(replicas),
        target => target.replica(&found(call).await?.0, replicas),
    };
    Ok(vec![replica.ok_or_else(crate::irods::call::target::no_replica)?])
}

fn first_good(replicas: &[ReplicaView]) -> Option<&ReplicaView> {
    replicas.iter().find(|replica| replica.good).or(replicas.first())
}

/// The recorded checksum of a replica: the one that was calculated from it, or, for the first good one, that
/// of the bytes as they were received.
pub(crate) fn recorded(replicas: &[ReplicaView], replica: &ReplicaView) -> Option<String> {
    let noted = replica.notes.get(&word(NOTED)).cloned();
    let first = first_good(replicas).is_some_and(|first| first.number == replica.number);
    noted.or_else(|| checksum_of(&replica.content.digests).filter(|_| first))
}

/// Reads a replica back and calculates its checksum.
async fn computed(call: &Call, stat: &Stat, number: u32) -> Result<String, Refusal> {
    let (caller, at) = (call.acting(), At::Id(stat.id));
    let options = ReadOptions { replica: Some(number), ..ReadOptions::default() };
    let opened = call.blocking(move |store| store.open(&caller, &at, &options)).await?;
    let digests = opened.digests(Vec::new()).await?;
    checksum_of(&digests).ok_or_else(|| Refusal::code(Code::NoRows))
}

/// Records a checksum, if the caller may; for a caller who may only read, it is calculated but not recorded.
async fn note(
    call: &Call,
    stat: &Stat,
    replica: &ReplicaView,
    checksum: &str,
) -> Result<(), Refusal> {
    if replica.notes.get(&word(NOTED)).is_some_and(|noted| noted == checksum) {
        return Ok(());
    }
    let mut change = ReplicaChange::default();
    change.notes.insert(word(NOTED), Some(checksum.to_owned()));
    let (caller, at, number) = (call.acting(), At::Id(stat.id), replica.number);
    let noted = call.blocking(move |store| Ok(store.change_replica(&caller, &at, number, &change)));
    match noted.await? {
        Err(error) if error.kind() != ErrorKind::Denied => Err(error.into()),
        _ => Ok(()),
    }
}

/// `verify_checksum`: reads replicas back, unless `compute-checksums=0`, and reports those that do not match
/// the record.
pub(crate) async fn verify(call: Call) -> Answer {
    let (stat, replicas) = object(&call).await?;
    let all = Target::of(&call.form)? == Target::Any;
    let compute = call.form.flag("compute-checksums", true);
    let mut faults = Vec::new();
    for replica in chosen(&call, &replicas, all).await? {
        match recorded(&replicas, replica) {
            None => faults.push(unrecorded(replica.number)),
            Some(recorded) if compute => {
                faults.extend(mismatch(&call, &stat, replica.number, &recorded).await?);
            }
            Some(_) => {}
        }
    }
    let code = if faults.is_empty() { 0 } else { Code::VerificationResults as i32 };
    let mut body = json!({
        "irods_response": { "status_code": code },
        "r_error_info": Value::Array(Vec::new()),
    });
    if !faults.is_empty() {
        body["results"] = faults.into();
    }
    Ok(answer::json(StatusCode::OK, body))
}

fn unrecorded(number: u32) -> Value {
    json!({
        "error_code": Code::NoChecksum as i32,
        "message": format!("WARNING: No checksum available for replica [{number}]."),
        "severity": "warning",
    })
}

async fn mismatch(
    call: &Call,
    stat: &Stat,
    number: u32,
    recorded: &str,
) -> Result<Option<Value>, Refusal> {
    let (caller, at) = (call.acting(), At::Id(stat.id));
    let options = ReadOptions { replica: Some(number), ..ReadOptions::default() };
    let opened = call.blocking(move |store| store.open(&caller, &at, &options)).await?;
    let computed = match opened.digests(Vec::new()).await {
        Ok(digests) => checksum_of(&digests).unwrap_or_default(),
        Err(error) if error.kind() == ErrorKind::Damaged => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let message = format!(
        "ERROR: Computed checksum [{computed}] does not match recorded checksum [{recorded}] for replica [{number}]."
    );
    let code = Code::ChecksumMismatch as i32;
    let fault = json!({ "error_code": code, "message": message, "severity": "error" });
    Ok((computed != recorded).then_some(fault))
}
