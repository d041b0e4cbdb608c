//! `data-objects`: bytes in and out, copying, renaming, checksums, removing.

use cenote_store::{
    At, AttributeChange, Caller, Conditions, CopyOptions, ErrorKind, PutOptions, Result, Stat,
    Store, StorePath, Time,
};
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::call::Call;
use super::code::{Code, Refusal};
use super::collections::rename;
use super::stat::{Wanted, checksum, checksum_of, modified, stat};
use super::{metadata, parallel, permissions, read, trash, write};

/// The operations that change something.
pub(super) const CHANGES: &[&str] = &[
    "calculate_checksum",
    "copy",
    "modify_metadata",
    "modify_permissions",
    "parallel_write_init",
    "parallel_write_shutdown",
    "remove",
    "rename",
    "set_permission",
    "touch",
    "truncate",
    "write",
];

pub(super) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "calculate_checksum" => calculate(call).await,
        "copy" => copy(call).await,
        "modify_metadata" => metadata::modify(call, Wanted::DataObject).await,
        "modify_permissions" => permissions::modify(call, Wanted::DataObject).await,
        "parallel_write_init" => parallel::init(call).await,
        "parallel_write_shutdown" => parallel::shutdown(call).await,
        "read" => read::read(call).await,
        "remove" => remove(call).await,
        "rename" => rename(call, Wanted::DataObject).await,
        "set_permission" => permissions::set(call, Wanted::DataObject).await,
        "stat" => stat(call, Wanted::DataObject).await,
        "touch" => touch(call).await,
        "truncate" => truncate(call).await,
        "verify_checksum" => verify(call).await,
        _ => write::write(call).await,
    }
}

async fn remove(call: Call) -> Answer {
    call.need("lpath")?;
    let catalog_only = match call.need("catalog-only")? {
        "1" => true,
        "0" => false,
        _ => return Err(Refusal::BAD),
    };
    let for_good = call.form.flag("no-trash", false);
    if catalog_only && for_good {
        return Err(Refusal::BAD);
    }
    let (path, caller) = (call.path("lpath")?, call.acting());
    let removed = call.ask(move |store| {
        let stat = store.stat(&caller, &path.into())?;
        match stat.resource.content {
            Some(_) => trash::remove(store, &caller, &stat, false, for_good).map(|()| true),
            None => Ok(false),
        }
    });
    match removed.await? {
        true => answer::done(),
        false => Err(Refusal::wrong_kind(Code::NotADataObject)),
    }
}

async fn copy(call: Call) -> Answer {
    call.need("dst-lpath")?;
    let source = call.required_at("src-lpath", Wanted::DataObject).await?;
    let (to, replace) = (call.path("dst-lpath")?, call.form.flag("overwrite", false));
    check_resource(&call, "src-resource")?;
    check_resource(&call, "dst-resource")?;
    let caller = call.acting();
    let copied = call.ask(move |store| {
        if is_collection(store, &caller, &to) {
            return Ok(Err(Refusal::code(Code::ExistsAsCollection)));
        }
        let options = CopyOptions { replace, ..CopyOptions::default() };
        match store.copy(&caller, &At::Id(source.id), &to, options) {
            Err(error) if error.kind() == ErrorKind::Exists => {
                Ok(Err(Refusal::code(Code::OverwriteWithoutForce)))
            }
            copied => copied.map(|_| Ok(())),
        }
    });
    copied.await??;
    answer::done()
}

fn is_collection(store: &Store, caller: &Caller, path: &StorePath) -> bool {
    let there = store.stat(caller, &path.into());
    there.is_ok_and(|stat| stat.resource.kind == cenote_store::Kind::Collection)
}

/// There is one storage resource, which has every replica.
pub(super) fn check_resource(call: &Call, name: &str) -> std::result::Result<(), Refusal> {
    match call.form.text(name) {
        Some(resource) if resource != call.settings().resource => {
            Err(Refusal::code(Code::ResourceDoesNotExist))
        }
        _ => Ok(()),
    }
}

/// Sets the times of an object, and makes an empty one where there is none.
async fn touch(call: Call) -> Answer {
    let time = time(&call).await?;
    let (path, create) = (call.path("lpath")?, !call.form.flag("no-create", false));
    let caller = call.acting();
    let touched = call.ask(move |store| {
        match store.stat(&caller, &At::from(&path)) {
            Ok(stat) if stat.resource.content.is_none() => return Ok(false),
            Ok(stat) => set_time(store, &caller, &stat, time)?,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) if create => create_empty(store, &caller, &path, time).map(drop)?,
            Err(_) => {}
        }
        Ok(true)
    });
    match touched.await? {
        true => answer::done(),
        false => Err(Refusal::wrong_kind(Code::NotADataObject)),
    }
}

/// Makes an object without bytes, if nothing is there.
pub(super) fn create_empty(
    store: &Store,
    caller: &Caller,
    path: &StorePath,
    mtime: Option<Time>,
) -> Result<Stat> {
    let nothing = store.receive_inline(&[], &Default::default())?;
    let conditions = Conditions { if_absent: true, ..Conditions::default() };
    store.publish(caller, path, &nothing, &PutOptions { conditions, mtime, ..Default::default() })
}

/// The time that a call sets: its own, or that of another resource; none means now.
pub(super) async fn time(call: &Call) -> std::result::Result<Option<Time>, Refusal> {
    let seconds = call.form.number("seconds-since-epoch").map_err(|_| Refusal::BAD)?;
    if call.form.text("reference").is_none() {
        return Ok(seconds.map(Time::from_secs));
    }
    let (path, caller) = (call.path("reference")?, call.caller.clone());
    let reference = call.ask(move |store| store.stat(&caller, &path.into())).await?;
    Ok(Some(Time::from_secs(modified(&reference))))
}

/// Sets the time that is shown; to now, without one.
pub(super) fn set_time(
    store: &Store,
    caller: &Caller,
    stat: &Stat,
    time: Option<Time>,
) -> Result<()> {
    let now = || cenote_store::Clock::now(&cenote_store::SystemClock);
    let mtime = Some(time.unwrap_or_else(now));
    let change = AttributeChange { mtime, ..AttributeChange::default() };
    store.set_attributes(caller, &At::Id(stat.id), &change).map(drop)
}

async fn truncate(call: Call) -> Answer {
    let size = call.count("size")?.ok_or(Refusal::BAD)?;
    if call.form.text("resource").is_some() && call.form.text("replica-number").is_some() {
        return Err(Refusal::code(Code::InvalidInput));
    }
    check_resource(&call, "resource")?;
    let (path, caller) = (call.path("lpath")?, call.acting());
    write::check_lock(&call, path.clone()).await?;
    call.ask(move |store| store.truncate(&caller, &path.into(), size, &Conditions::default()))
        .await?;
    answer::done()
}

/// The checksum of an object; it is computed if it is not known yet.
async fn calculate(call: Call) -> Answer {
    let stat = digested(&call).await?;
    answer::member("checksum", checksum(&stat).ok_or_else(|| Refusal::code(Code::NoRows))?)
}

/// Reads the bytes back, unless `compute-checksums=0`, and says where they are not what is recorded.
async fn verify(call: Call) -> Answer {
    let stat = digested(&call).await?;
    let recorded = checksum(&stat).unwrap_or_default();
    let faults = match call.form.flag("compute-checksums", true) {
        true => faults(&call, stat, &recorded).await?,
        false => Vec::new(),
    };
    let code = if faults.is_empty() { 0 } else { Code::VerificationResults as i32 };
    let mut body = json!({
        "irods_response": { "status_code": code },
        "r_error_info": Value::Array(vec![]),
    });
    if !faults.is_empty() {
        body["results"] = faults.into();
    }
    Ok(answer::json(axum::http::StatusCode::OK, body))
}

async fn faults(
    call: &Call,
    stat: Stat,
    recorded: &str,
) -> std::result::Result<Vec<Value>, Refusal> {
    let (caller, at) = (call.acting(), At::Id(stat.id));
    let opened = call.ask(move |store| store.open(&caller, &at, &Default::default())).await?;
    let found = match opened.digests().await {
        Ok(digests) => checksum_of(&digests).unwrap_or_default(),
        Err(error) if error.kind() == ErrorKind::Damaged => error.to_string(),
        Err(error) => return Err(error.into()),
    };
    let fault = json!({
        "error_code": Code::ChecksumMismatch as i32,
        "message": format!(
            "ERROR: Computed checksum [{found}] does not match recorded checksum [{recorded}] for replica [0]."
        ),
        "severity": "error",
    });
    Ok(if found == recorded { Vec::new() } else { vec![fault] })
}

async fn digested(call: &Call) -> std::result::Result<Stat, Refusal> {
    let (path, caller) = (call.path("lpath")?, call.acting());
    let missing = |_| Refusal::code(Code::NoRows);
    let (at, asked) = (At::from(&path), caller.clone());
    let stat = call.ask(move |store| Ok(store.stat(&asked, &at))).await?.map_err(missing)?;
    if stat.resource.content.is_none() {
        return Err(Refusal::code(Code::NoRows));
    }
    if checksum(&stat).is_some() {
        return Ok(stat);
    }
    call.app.store().compute_digest(stat.id).await?;
    call.ask(move |store| store.stat(&caller, &At::Id(stat.id))).await
}
