//! The headers of a message, as fcrepo 6 has them (`org.fcrepo.jms.…`), for clients that select messages by them.

use serde_json::Value;

const ACTIVITIES: &str = "https://www.w3.org/ns/activitystreams#";

/// What an activity says, by the names of fcrepo; `base` is what the addresses of resources begin with.
pub(super) fn of(activity: &Value, base: &str) -> Vec<(&'static str, String)> {
    let object = &activity["object"];
    let text = |value: &Value| first(value).map(str::to_owned);
    let id = text(&object["id"]);
    let identifier = id.as_deref().and_then(|id| id.strip_prefix(base)).map(|path| match path {
        "" => "/".to_owned(),
        path => path.to_owned(),
    });
    let user = first(&activity["actor"]).or_else(|| activity["actor"][0]["name"].as_str());
    let found = [
        ("org.fcrepo.jms.baseURL", Some(base.to_owned())),
        ("org.fcrepo.jms.identifier", identifier),
        ("org.fcrepo.jms.eventID", text(&activity["id"])),
        (
            "org.fcrepo.jms.eventType",
            first(&activity["type"]).map(|it| format!("{ACTIVITIES}{it}")),
        ),
        ("org.fcrepo.jms.resourceType", Some(all(&object["type"]))),
        ("org.fcrepo.jms.timestamp", milliseconds(activity)),
        ("org.fcrepo.jms.user", user.map(str::to_owned)),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn first(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value[0].as_str())
}

fn all(values: &Value) -> String {
    let values: Vec<_> =
        values.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    values.join(",")
}

/// When it happened, in milliseconds since 1970.
fn milliseconds(activity: &Value) -> Option<String> {
    let at = first(&activity["published"]).or_else(|| first(&activity["object"]["updated"]))?;
    let at: jiff::Timestamp = at.parse().ok()?;
    Some(at.as_millisecond().to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_have_the_same_properties() {
        let types = json!(["http://www.w3.org/ns/ldp#Resource", "urn:x"]);
        let (id, object, at) =
            ("http://h/rest/fcr:events#1", "http://h/rest/a", "1970-01-01T00:00:01Z");
        let fcrepo = json!({
            "id": id, "type": ["Create"], "published": at, "actor": [{ "name": "ada" }],
            "object": { "id": object, "type": types },
        });
        let lakesuperior = json!({
            "id": id, "type": "Create", "actor": "ada",
            "object": { "id": object, "type": types, "updated": at },
        });
        let found = of(&fcrepo, "http://h/rest");
        assert_eq!(of(&lakesuperior, "http://h/rest"), found);
        let of_name =
            |wanted: &str| found.iter().find(|(name, _)| *name == wanted).unwrap().1.as_str();
        for (name, value) in [
            ("identifier", "/a"),
            ("baseURL", "http://h/rest"),
            ("eventType", "https://www.w3.org/ns/activitystreams#Create"),
            ("resourceType", "http://www.w3.org/ns/ldp#Resource,urn:x"),
            ("timestamp", "1000"),
            ("user", "ada"),
            ("eventID", id),
        ] {
            assert_eq!(of_name(&format!("org.fcrepo.jms.{name}")), value);
        }
    }
}
