//! Shows records whose fields are determined by the server.

use cenote_client::Record;
use serde_json::Value;

/// One field per line; nested fields have dotted names. Fields that do not apply are omitted.
pub(super) fn lines(record: &Record) -> String {
    let mut lines = Vec::new();
    collect(&mut lines, "", record);
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let lines = lines.iter().map(|(name, value)| format!("{name:<width$}  {value}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// All fields on one line.
pub(super) fn row(record: &Record) -> String {
    let mut fields = Vec::new();
    collect(&mut fields, "", record);
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("  ")
}

fn collect(fields: &mut Vec<(String, String)>, prefix: &str, record: &Record) {
    for (name, value) in record {
        let name = format!("{prefix}{name}");
        match value {
            Value::Null => {}
            Value::Object(inner) => collect(fields, &format!("{name}."), inner),
            Value::String(text) => fields.push((name, text.clone())),
            value => fields.push((name, value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_flattened_and_aligned() {
        let record: Record =
            serde_json::from_str(r#"{"a":1,"inner":{"b":"x","c":null},"d":[1,2]}"#).unwrap();
        assert_eq!(lines(&record), "a        1\ninner.b  x\nd        [1,2]");
        assert_eq!(row(&record), "a=1  inner.b=x  d=[1,2]");
    }
}
