//! Attributes with value and unit: of collections, data objects, users and groups.

use cenote_store::{At, Avu, AvuChange, Conditions};
use serde_json::Value;

use super::permissions::operations;
use super::stat::Wanted;
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::zone::resources;

/// `modify_metadata` of a resource: several changes, all of them or none.
pub(crate) async fn modify(call: Call, wanted: Wanted) -> Answer {
    let operations = operations(&call)?;
    let stat = call.required(wanted).await?;
    let changes = match changes(&operations) {
        Ok(changes) => changes,
        Err((refusal, index)) => return answer::part_failed(refusal, index, &operations[index]),
    };
    let (caller, at) = (call.acting(), At::Id(stat.id));
    let changed = call.blocking(move |store| {
        store.change_avus(&caller, &at, &changes, &Conditions::default()).map(drop)
    });
    finish(changed.await, &operations)
}

/// `modify_metadata` of a user or group.
pub(crate) async fn modify_person(call: Call) -> Answer {
    let operations = operations(&call)?;
    let name = call.need("name")?.to_owned();
    let changes = match changes(&operations) {
        Ok(changes) => changes,
        Err((refusal, index)) => return answer::part_failed(refusal, index, &operations[index]),
    };
    let caller = call.caller.clone();
    let changed = call.blocking(move |store| store.change_person_avus(&caller, &name, &changes));
    finish(changed.await, &operations)
}

/// `modify_metadata` of a storage resource, for administrators.
pub(crate) async fn modify_resource(call: Call) -> Answer {
    let operations = operations(&call)?;
    let place = resources::named(&call, "name").await?;
    let changes = match changes(&operations) {
        Ok(changes) => changes,
        Err((refusal, index)) => return answer::part_failed(refusal, index, &operations[index]),
    };
    let caller = call.caller.clone();
    let changed = call.blocking(move |store| Ok(store.change_place_avus(&caller, place, &changes)));
    finish(changed.await?.map_err(|error| Doing::Administer.refusal(error)), &operations)
}

fn finish(changed: Result<(), Refusal>, operations: &[Value]) -> Answer {
    match changed {
        Ok(()) => answer::all_done(),
        Err(refusal) => answer::part_failed(refusal, 0, operations.first().unwrap_or(&Value::Null)),
    }
}

/// The changes that the operations request, or the first invalid one.
fn changes(operations: &[Value]) -> Result<Vec<AvuChange>, (Refusal, usize)> {
    let change = |(index, operation)| {
        change(operation).ok_or_else(|| (Refusal::code(Code::InvalidInput), index))
    };
    operations.iter().enumerate().map(change).collect()
}

fn change(operation: &Value) -> Option<AvuChange> {
    let text = |name: &str| operation[name].as_str().map(str::to_owned);
    let avu = Avu {
        attribute: text("attribute").filter(|attribute| !attribute.is_empty())?,
        value: text("value")?,
        unit: text("units"),
    };
    match operation["operation"].as_str()? {
        "add" => Some(AvuChange::Add(avu)),
        "remove" => Some(AvuChange::Remove(avu)),
        _ => None,
    }
}
