//! `zones`: there is one, the local zone.

use serde_json::{Map, json};

use super::answer::{self, Answer};
use super::call::Call;

pub(super) async fn answer(_: &str, call: Call) -> Answer {
    let exists = call.need("name")? == call.settings().zone;
    let info = match exists {
        true => json!({
            "comment": "",
            "connection_info": "",
            "id": 1,
            "name": call.settings().zone,
            "type": "local",
        }),
        false => json!({}),
    };
    answer::with(Map::from_iter([("exists".to_owned(), exists.into()), ("info".to_owned(), info)]))
}
