//! `system/describeDataObjects`, `describeProjects` and the like: many descriptions in one answer.

use serde_json::{Value, json};

use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::input::Input;
use crate::dnanexus::call::question::Call;
use crate::dnanexus::fields::Fields;
use crate::dnanexus::object::describe::describe;
use crate::dnanexus::project;

/// The most objects of a call.
const MOST: usize = 1_000;

pub(crate) fn objects(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let named = input.list("objects")?.ok_or_else(|| Fault::input("\"objects\" is missing"))?;
    if named.len() > MOST {
        return Err(Fault::input("\"objects\" has at most 1000 ids"));
    }
    let by_class = input.object("classDescribeOptions")?;
    let result = |one: &Value| match described(call, one, by_class) {
        Ok(description) => json!({ "describe": description }),
        Err(fault) => json!({ "error": fault.json() }),
    };
    Ok(json!({ "results": named.iter().map(result).collect::<Vec<_>>() }))
}

/// One of them: an id, or an object with it and what to describe. With `knownAs` in its place it is found by the id that it had where it
/// was brought from, whatever has that id here.
fn described(call: &Call, one: &Value, by_class: Option<Input<'_>>) -> Result<Value, Fault> {
    let (id, hint, own) = match one {
        Value::String(id) => (id.as_str(), None, None),
        _ => {
            let one = Input::of(one)?;
            if let Some(known) = one.text("knownAs")? {
                let object =
                    call.object_by_former_id(known)?.ok_or_else(|| Fault::no_object(known))?;
                let fields = Fields::member(by_class.and_then(|all| all.value("*")))?;
                let place = call.object(object, one.text("project")?)?;
                let reading = call.store().reading(&call.caller)?;
                return describe(call, &reading, &place, &fields.unwrap_or_default());
            }
            (one.need("id")?, one.text("project")?, one.value("describe"))
        }
    };
    let class = id.split_once('-').map_or("", |(class, _)| class);
    let of_class = by_class.and_then(|options| options.value(class).or(options.value("*")));
    let fields = Fields::member(own.or(of_class))?.unwrap_or_default();
    if class == "project" {
        return project::describe::describe(call, &call.project(id)?, &fields);
    }
    let place = call.object(call.object_id(id)?, hint)?;
    describe(call, &call.store().reading(&call.caller)?, &place, &fields)
}
