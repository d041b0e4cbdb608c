//! Replicas of data objects: copying them to other resources, trimming, registering files in place, and the
//! metadata that an administrator sets.

use cenote_store::{
    Act, At, ErrorKind, Registration, ReplicaChange, ReplicaView, StorePath, Time, Trim,
};

use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::target::{Target, no_replica, replicas};
use crate::irods::call::translation::Doing;
use crate::irods::zone::hierarchy::Hierarchy;
use crate::irods::zone::resources::{named, unknown};

/// `replicate`: copies the current content to a resource.
pub(crate) async fn replicate(call: Call) -> Answer {
    let path = call.path("lpath")?;
    check_source(&call).await?;
    let place = named(&call, "dst-resource").await?;
    let caller = call.acting();
    call.app.store().replicate(&caller, &path.into(), place).await?;
    answer::done()
}

/// The source is checked before anything else, with its own codes. The current content is copied.
async fn check_source(call: &Call) -> Result<(), Refusal> {
    match call.form.number("src-replica-number") {
        Err(_) => return Err(Refusal::code(Code::InvalidReplicaInput)),
        Ok(Some(number)) if number < 0 => {
            return Err(Refusal::code(Code::ReplicaInaccessible));
        }
        Ok(Some(number)) => {
            let number = u32::try_from(number).map_err(|_| no_replica())?;
            let found = found(call).await?;
            let replica = found.1.iter().find(|replica| replica.number == number);
            return match replica {
                Some(replica) if replica.good => Ok(()),
                Some(_) => Err(Refusal::code(Code::ReplicaInaccessible)),
                None => Err(no_replica()),
            };
        }
        Ok(None) => {}
    }
    match call.form.text("src-resource") {
        Some(_) => named(call, "src-resource").await.map(drop),
        None => Ok(()),
    }
}

/// The resources, and the replicas of the object at `lpath`.
pub(crate) async fn found(call: &Call) -> Result<(Hierarchy, Vec<ReplicaView>), Refusal> {
    let (path, caller) = (call.path("lpath")?, call.acting());
    let own = call.settings().resource.clone();
    call.blocking(move |store| {
        Ok((Hierarchy::read(store, own)?, replicas(store, &caller, &path.into())?))
    })
    .await
}

/// `trim`: removes one replica. The last good one is kept, without an error.
pub(crate) async fn trim(call: Call) -> Answer {
    call.need("replica-number")?;
    let number = call.count("replica-number")?.ok_or(Refusal::BAD)?;
    let replica = Some(u32::try_from(number).map_err(|_| no_replica())?);
    trim_to(&call, Trim { replica, ..Trim::default() }).await
}

/// Trims the object at `lpath`.
pub(crate) async fn trim_to(call: &Call, trim: Trim) -> Answer {
    let (path, caller) = (call.path("lpath")?, call.acting());
    let at = At::from(path);
    let (viewer, what) = (caller.clone(), at.clone());
    call.blocking(move |store| store.stat(&viewer, &what)).await?;
    match call.app.store().trim(&caller, &at, &trim).await {
        Err(error) if error.kind() == ErrorKind::Precondition => answer::done(),
        Err(error) => Err(Doing::Trim.refusal(error)),
        Ok(_) => answer::done(),
    }
}

/// The numbers of the replicas that would be removed.
pub(crate) async fn would_trim(call: &Call, trim: Trim) -> Result<Vec<u32>, Refusal> {
    let (at, caller) = (At::from(call.path("lpath")?), call.acting());
    match call.app.store().trim(&caller, &at, &trim).await {
        Err(error) if error.kind() == ErrorKind::Precondition => Ok(Vec::new()),
        numbers => numbers.map_err(|error| Doing::Trim.refusal(error)),
    }
}

/// `register`: a file in place, as an object or a further replica of one.
pub(crate) async fn register(call: Call) -> Answer {
    let path = call.path("lpath")?;
    let file = call.need("ppath")?.to_owned();
    let place = named(&call, "resource").await?;
    if !call.caller.may(Act::Replicas) {
        return Err(Refusal::code(Code::NoApiPrivilege));
    }
    let file = std::path::absolute(&file).map_err(|_| Refusal::BAD)?.display().to_string();
    let registration = Registration {
        place,
        file,
        size: call.count("data-size")?,
        sha256: declared_checksum(&call)?,
        additional: call.form.flag("as-additional-replica", false),
        replace: call.form.flag("force", false),
    };
    let caller = call.caller.clone().elevated(true);
    let registered = call.app.store().register(&caller, &path, &registration).await;
    registered.map_err(|error| Doing::Register.refusal(error))?;
    answer::done()
}

/// The checksum sent for a registration. The documentation of the HTTP API says that the parameter is one,
/// its server takes `1` as a request to calculate one, and a client always sends `0`: neither of these is a checksum.
fn declared_checksum(call: &Call) -> Result<Option<[u8; 32]>, Refusal> {
    let declared = call.form.text("checksum").filter(|text| !["0", "1"].contains(text));
    declared.map(sha256).transpose()
}

/// `sha2:` and base64.
fn sha256(text: &str) -> Result<[u8; 32], Refusal> {
    use base64::Engine;
    let encoded = text.strip_prefix("sha2:").unwrap_or(text);
    let bytes = base64::prelude::BASE64_STANDARD.decode(encoded).ok();
    let invalid = || Refusal::code(Code::InvalidInput);
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(invalid)
}

/// The parameters of `modify_replica` that are only stored, and the columns that show them.
const NOTED: [(&str, &str); 10] = [
    ("new-data-access-time", "DATA_ACCESS_TIME"),
    ("new-data-checksum", "DATA_CHECKSUM"),
    ("new-data-comments", "DATA_COMMENTS"),
    ("new-data-expiry", "DATA_EXPIRY"),
    ("new-data-expiry-time", "DATA_EXPIRY"),
    ("new-data-mode", "DATA_MODE"),
    ("new-data-size", "DATA_SIZE"),
    ("new-data-status", "DATA_STATUS"),
    ("new-data-type-name", "DATA_TYPE_NAME"),
    ("new-data-version", "DATA_VERSION"),
];

/// `modify_replica`: changes the catalog entry of a replica, for administrators. Its bytes are not changed.
pub(crate) async fn modify(call: Call) -> Answer {
    let change = change(&call)?;
    if change == ReplicaChange::default() {
        return Err(Refusal::BAD);
    }
    let number = chosen(&call).await?;
    let (path, caller) = (call.path("lpath")?, call.caller.clone().elevated(true));
    let changed = call.blocking(move |store| {
        Ok(store.change_replica(&caller, &path.into(), number, &change).map(drop))
    });
    changed.await?.map_err(|error| Doing::Administer.refusal(error))?;
    answer::done()
}

/// The number of the replica that a call specifies, by number or by its place in the hierarchy.
async fn chosen(call: &Call) -> Result<u32, Refusal> {
    let (known, replicas) = found(call).await?;
    if replicas.is_empty() {
        return Err(crate::irods::call::request::nowhere());
    }
    let replica = match call.form.text("resource-hierarchy") {
        Some(path) => replicas.iter().find(|replica| known.path(replica.place) == path),
        None => Target::of(&call.form)?.replica(&known, &replicas),
    };
    replica.map(|replica| replica.number).ok_or_else(no_replica)
}

fn change(call: &Call) -> Result<ReplicaChange, Refusal> {
    let time = |name| Ok::<_, Refusal>(call.count(name)?.map(|secs| Time::from_secs(secs as i64)));
    let mut change = ReplicaChange {
        number: call
            .count("new-data-replica-number")?
            .and_then(|number| u32::try_from(number).ok()),
        created: time("new-data-create-time")?,
        modified: time("new-data-modify-time")?,
        ..ReplicaChange::default()
    };
    change.good = match call.form.text("new-data-replica-status") {
        None => None,
        Some("0") => Some(false),
        Some("1") => Some(true),
        Some(_) => return Err(Refusal::code(Code::InvalidArgument)),
    };
    if call.form.text("new-data-path").is_some() || call.form.text("new-data-resource-id").is_some()
    {
        return Err(Refusal::code(Code::InvalidArgument)
            .with_message("bytes cannot be moved this way: replicate, trim or register them"));
    }
    for (parameter, column) in NOTED {
        if let Some(text) = call.form.text(parameter) {
            change.notes.insert(crate::irods::zone::hierarchy::word(column), Some(text.to_owned()));
        }
    }
    Ok(change)
}

/// Moves a newly created object to the resource that a parameter names, and to no other.
pub(crate) async fn relocate(call: &Call, path: StorePath, parameter: &str) -> Result<(), Refusal> {
    let place = named(call, parameter).await?;
    let (caller, at, store) = (call.acting(), At::from(path), call.app.store());
    store.replicate(&caller, &at, place).await?;
    let (viewer, what) = (caller.clone(), at.clone());
    let own = call.settings().resource.clone();
    let (known, made) = call
        .blocking(move |store| Ok((Hierarchy::read(store, own)?, replicas(store, &viewer, &what)?)))
        .await?;
    for replica in made.iter().filter(|replica| !known.is_in(replica.place, place)) {
        let trim = Trim { replica: Some(replica.number), ..Trim::default() };
        store.trim(&caller, &at, &trim).await?;
    }
    Ok(())
}

/// Refuses a resource that does not exist, if a parameter names one.
pub(crate) async fn check_resource(call: &Call, parameter: &str) -> Result<(), Refusal> {
    match call.form.text(parameter) {
        Some(_) => named(call, parameter).await.map(drop).map_err(|_| unknown()),
        None => Ok(()),
    }
}
