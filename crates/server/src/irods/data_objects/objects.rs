//! `data-objects`: reading and writing, copying, renaming, checksums, removing.

use cenote_store::{
    At, AttributeChange, Caller, Conditions, CopyOptions, ErrorKind, Expected, PutOptions,
    Received, Result, Stat, Store, StorePath, Time,
};

use super::{checksums, parallel, read, replicas, write};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::tree::collections::rename;
use crate::irods::tree::stat::{Wanted, modified, stat};
use crate::irods::tree::{metadata, permissions, remove, trash};

/// The operations that change something.
pub(crate) const CHANGES: &[&str] = &[
    "calculate_checksum",
    "copy",
    "modify_metadata",
    "modify_permissions",
    "modify_replica",
    "parallel_write_init",
    "parallel_write_shutdown",
    "register",
    "remove",
    "rename",
    "replicate",
    "set_permission",
    "touch",
    "trim",
    "truncate",
    "write",
];

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "calculate_checksum" => checksums::calculate(call).await,
        "copy" => copy(call).await,
        "modify_metadata" => metadata::modify(call, Wanted::DataObject).await,
        "modify_permissions" => permissions::modify(call, Wanted::DataObject).await,
        "modify_replica" => replicas::modify(call).await,
        "parallel_write_init" => parallel::init(call).await,
        "parallel_write_shutdown" => parallel::shutdown(call).await,
        "read" => read::read(call).await,
        "register" => replicas::register(call).await,
        "remove" => remove_object(call).await,
        "rename" => rename(call, Wanted::DataObject).await,
        "replicate" => replicas::replicate(call).await,
        "set_permission" => permissions::set(call, Wanted::DataObject).await,
        "stat" => stat(call, Wanted::DataObject).await,
        "touch" => touch(call).await,
        "truncate" => truncate(call).await,
        "trim" => replicas::trim(call).await,
        "verify_checksum" => checksums::verify(call).await,
        _ => write::write(call).await,
    }
}

async fn remove_object(call: Call) -> Answer {
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
    // A registered file stays where it is, whether its object is in the trash or not.
    let for_good = for_good || catalog_only;
    let (path, caller) = (call.path("lpath")?, call.acting());
    let removed = call.blocking(move |store| {
        let stat = trash::stat(store, &caller, &path)?;
        match stat.resource.content {
            Some(_) => remove::remove(store, &caller, &stat, false, for_good).map(|()| true),
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
    replicas::check_resource(&call, "src-resource").await?;
    replicas::check_resource(&call, "dst-resource").await?;
    let (caller, made) = (call.acting(), to.clone());
    let copied = call.blocking(move |store| {
        if is_collection(store, &caller, &to) {
            return Ok(Err(Refusal::code(Code::ExistsAsCollection)));
        }
        let options = CopyOptions { replace, ..CopyOptions::default() };
        let copied = store.copy(&caller, &At::Id(source.id), &to, options);
        Ok(copied.map(drop).map_err(|error| Doing::Copy.refusal(error)))
    });
    copied.await??;
    if call.form.text("dst-resource").is_some() {
        replicas::relocate(&call, made, "dst-resource").await?;
    }
    answer::done()
}

fn is_collection(store: &Store, caller: &Caller, path: &StorePath) -> bool {
    let there = store.stat(caller, &path.into());
    there.is_ok_and(|stat| stat.resource.kind == cenote_store::Kind::Collection)
}

/// Sets the times of an object, creating an empty one if it is missing.
async fn touch(call: Call) -> Answer {
    let time = time(&call).await?;
    let (path, create) = (call.path("lpath")?, !call.form.flag("no-create", false));
    let caller = call.acting();
    let touched = call.blocking(move |store| {
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

/// Creates an empty object, if the path is free.
pub(crate) fn create_empty(
    store: &Store,
    caller: &Caller,
    path: &StorePath,
    mtime: Option<Time>,
) -> Result<Stat> {
    let nothing = Received::inline(&[], &Expected::default())?;
    let conditions = Conditions { if_absent: true, ..Conditions::default() };
    store.publish(caller, path, &nothing, &PutOptions { conditions, mtime, ..Default::default() })
}

/// The time that a call sets: explicit, or that of another resource; `None` means now.
pub(crate) async fn time(call: &Call) -> std::result::Result<Option<Time>, Refusal> {
    let seconds = call.form.number("seconds-since-epoch").map_err(|_| Refusal::BAD)?;
    if call.form.text("reference").is_none() {
        return Ok(seconds.map(Time::from_secs));
    }
    let (path, caller) = (call.path("reference")?, call.caller.clone());
    let reference =
        call.blocking(move |store| modified(store, &store.stat(&caller, &path.into())?)).await?;
    Ok(Some(Time::from_secs(reference)))
}

/// Sets the time shown; to now if there is none.
pub(crate) fn set_time(
    store: &Store,
    caller: &Caller,
    stat: &Stat,
    time: Option<Time>,
) -> Result<()> {
    let mtime = Some(time.unwrap_or_else(|| store.now()));
    let change = AttributeChange { mtime, ..AttributeChange::default() };
    store.set_attributes(caller, &At::Id(stat.id), &change).map(drop)
}

async fn truncate(call: Call) -> Answer {
    let size = call.count("size")?.ok_or(Refusal::BAD)?;
    if call.form.text("resource").is_some() && call.form.text("replica-number").is_some() {
        return Err(Refusal::code(Code::InvalidInput));
    }
    let (path, caller) = (call.path("lpath")?, call.acting());
    let (viewer, at) = (caller.clone(), At::from(&path));
    call.blocking(move |store| store.stat(&viewer, &at)).await?;
    write::check_lock(&call, path.clone()).await?;
    let place = call.place(&path).await?;
    call.blocking(move |store| {
        store.truncate_in(&caller, &path.into(), size, &Conditions::default(), place)
    })
    .await?;
    answer::done()
}
