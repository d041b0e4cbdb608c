//! `collections`: creating, listing, renaming and removing them.

use cenote_store::{
    At, Caller, CreateOptions, Draft, ErrorKind, MoveOptions, Result, Stat, Store, StorePath,
};

use super::stat::{Wanted, stat};
use super::{listing, metadata, permissions, remove, trash};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;

/// The operations that change something.
pub(crate) const CHANGES: &[&str] = &[
    "create",
    "modify_metadata",
    "modify_permissions",
    "remove",
    "rename",
    "set_inheritance",
    "set_permission",
    "touch",
];

pub(crate) async fn answer(operation: &str, call: Call) -> Answer {
    match operation {
        "create" => create(call).await,
        "list" => list(call).await,
        "modify_metadata" => metadata::modify(call, Wanted::Collection).await,
        "modify_permissions" => permissions::modify(call, Wanted::Collection).await,
        "remove" => remove_collection(call).await,
        "rename" => rename(call, Wanted::Collection).await.map_err(Refusal::into_bad_request),
        "set_inheritance" => permissions::set_inheritance(call).await,
        "set_permission" => permissions::set(call, Wanted::Collection).await,
        "stat" => stat(call, Wanted::Collection).await,
        _ => touch(call).await,
    }
}

async fn create(call: Call) -> Answer {
    let path = call.path("lpath")?;
    let parents = call.form.flag("create-intermediates", false);
    let caller = call.acting();
    let made = call.blocking(move |store| {
        let there = store.stat(&caller, &At::from(&path)).is_ok();
        let options = CreateOptions { parents, exist_ok: true, ..CreateOptions::default() };
        Ok(store.create(&caller, &path, Draft::Collection, options).map(|_| !there))
    });
    let doing = if parents { Doing::CreateCollections } else { Doing::CreateCollection };
    answer::member("created", made.await?.map_err(|error| doing.refusal(error))?)
}

async fn list(call: Call) -> Answer {
    let path = call.required(Wanted::Collection).await?.path;
    listing::names_below(&call, path, call.form.flag("recurse", false)).await
}

async fn remove_collection(call: Call) -> Answer {
    let stat = call.required(Wanted::Collection).await?;
    let (recurse, for_good) = (call.form.flag("recurse", false), call.form.flag("no-trash", false));
    let caller = call.acting();
    let removed =
        call.blocking(move |store| Ok(remove::remove(store, &caller, &stat, recurse, for_good)));
    let doing = if recurse { Doing::Other } else { Doing::RemoveEmpty };
    removed.await?.map_err(|error| doing.refusal(error))?;
    answer::done()
}

/// `rename`, for both collections and data objects.
pub(crate) async fn rename(call: Call, wanted: Wanted) -> Answer {
    call.need("new-lpath")?;
    let stat: Stat = call.required_at("old-lpath", wanted).await?;
    let (to, caller) = (call.path("new-lpath")?, call.acting());
    call.blocking(move |store| move_to(store, &caller, &stat, to)).await?;
    answer::done()
}

/// Moves a resource to a path; one in the trash is restored.
pub(crate) fn move_to(store: &Store, caller: &Caller, stat: &Stat, to: StorePath) -> Result<()> {
    match trash::is_removed(store, caller, stat)? {
        true => trash::restore(store, caller, stat, to),
        false => store.relocate(caller, &At::Id(stat.id), &to, MoveOptions::default()).map(drop),
    }
}

/// Sets the time of a collection; a missing one is not created.
async fn touch(call: Call) -> Answer {
    let time = crate::irods::data_objects::objects::time(&call).await?;
    let path = call.path("lpath")?;
    let caller = call.acting();
    let there = call.blocking(move |store| match store.stat(&caller, &At::from(&path)) {
        Ok(stat) if stat.resource.kind == cenote_store::Kind::Collection => {
            crate::irods::data_objects::objects::set_time(store, &caller, &stat, time)
                .map(|()| true)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    });
    match there.await? {
        true => answer::done(),
        false => Err(Refusal::wrong_kind(Code::NotACollection)),
    }
}
