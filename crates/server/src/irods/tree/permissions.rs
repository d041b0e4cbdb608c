//! Access lists. Levels map to rights as defined by `Vocabulary::IRODS`.

use cenote_store::{AccessChange, At, Scope, Stat, Vocabulary};
use serde_json::Value;

use super::stat::Wanted;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;

/// `set_permission`: sets what one user or group may do.
pub(crate) async fn set(call: Call, wanted: Wanted) -> Answer {
    let (name, word) = (call.need("entity-name")?.to_owned(), call.need("permission")?);
    let level = Vocabulary::IRODS.setting([word]).ok_or(Refusal::BAD)?;
    let stat = call.required(wanted).await?;
    change(&call, &stat, vec![AccessChange::Grant(name, level, Scope::This)]).await?;
    answer::done()
}

/// `set_inheritance`: whether new children of a collection get a copy of its list.
pub(crate) async fn set_inheritance(call: Call) -> Answer {
    call.need("enable")?;
    let enable = call.form.flag("enable", false);
    let stat = call.required(Wanted::Collection).await?;
    change(&call, &stat, vec![AccessChange::Inherit(enable)]).await?;
    answer::done()
}

/// `modify_permissions`: several changes, all of them or none.
pub(crate) async fn modify(call: Call, wanted: Wanted) -> Answer {
    let operations = operations(&call)?;
    let stat = call.required(wanted).await?;
    // A caller who may not change the list is refused before names are looked up.
    if let Err(refusal) = change(&call, &stat, Vec::new()).await {
        let first = operations.first().cloned().unwrap_or_default();
        return answer::part_failed(refusal, 0, &first);
    }
    let mut changes = Vec::with_capacity(operations.len());
    for (index, operation) in operations.iter().enumerate() {
        match grant(&call, operation).await {
            Ok(change) => changes.push(change),
            Err(refusal) => return answer::part_failed(refusal, index, operation),
        }
    }
    match change(&call, &stat, changes).await {
        Ok(()) => answer::all_done(),
        Err(refusal) => {
            let first = operations.first().cloned().unwrap_or_default();
            answer::part_failed(refusal, 0, &first)
        }
    }
}

/// The operations of a call with several.
pub(crate) fn operations(call: &Call) -> Result<Vec<Value>, Refusal> {
    serde_json::from_str(call.need("operations")?).map_err(|_| Refusal::BAD)
}

async fn grant(call: &Call, operation: &Value) -> Result<AccessChange, Refusal> {
    let text = |name: &str| operation[name].as_str().map(str::to_owned);
    let invalid = || Refusal::code(Code::InvalidInput);
    let name = text("entity_name").ok_or_else(invalid)?;
    let level =
        text("acl").and_then(|word| Vocabulary::IRODS.setting([&*word])).ok_or_else(invalid)?;
    let person = name.clone();
    let known = call.blocking(move |store| Ok(store.person_named(&person))).await?;
    known.map_err(|error| Doing::ChangeAccess.refusal(error))?;
    Ok(AccessChange::Grant(name, level, Scope::This))
}

async fn change(call: &Call, stat: &Stat, changes: Vec<AccessChange>) -> Result<(), Refusal> {
    let (caller, at) = (call.acting(), At::Id(stat.id));
    let changed =
        call.blocking(move |store| Ok(store.change_access(&caller, &at, &changes).map(drop)));
    changed.await?.map_err(|error| Doing::ChangeAccess.refusal(error))
}
