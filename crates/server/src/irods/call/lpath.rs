//! Logical paths: the name of the zone, followed by the path in the store.

use cenote_store::{Name, Result, StorePath};

/// The store path of a logical path; `None` if it is outside the zone or not a path.
pub(crate) fn parse(zone: &str, lpath: &str) -> Option<StorePath> {
    let path: StorePath = lpath.parse().ok()?;
    let (first, rest) = path.names().split_first()?;
    (first.as_str() == zone).then(|| join(&StorePath::root(), rest)).and_then(Result::ok)
}

/// The logical path of a store path.
pub(crate) fn of(zone: &str, path: &StorePath) -> String {
    match path.names().is_empty() {
        true => format!("/{zone}"),
        false => format!("/{zone}{path}"),
    }
}

/// Writes the logical path of a store path as a JSON string.
pub(crate) fn write_json(text: &mut String, zone: &str, path: &StorePath) {
    text.push_str("\"/");
    escape(text, zone);
    for name in path.names() {
        text.push('/');
        escape(text, name.as_str());
    }
    text.push('"');
}

/// Most names need no escaping, and are written verbatim.
fn escape(text: &mut String, name: &str) {
    if !name.bytes().any(|byte| byte < 0x20 || byte == b'"' || byte == b'\\') {
        return text.push_str(name);
    }
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c < ' ' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
}

/// Appends names to a path.
pub(crate) fn join(above: &StorePath, names: &[Name]) -> Result<StorePath> {
    names.iter().try_fold(above.clone(), |path, name| path.join(name.clone()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_outside_the_zone_are_refused() {
        for lpath in ["", "/", "home", "/other", "/zoned/x", "/z//x", "/z/..", "//z"] {
            assert_eq!(parse("z", lpath), None, "{lpath}");
        }
        assert_eq!(parse("z", "/z"), Some(StorePath::root()));
        assert_eq!(parse("z", "/z/"), Some(StorePath::root()));
    }

    proptest! {
        #[test]
        fn a_logical_path_round_trips(path in "(/[^/\u{0}]{1,5}){0,4}", zone in "[a-zA-Z]{1,8}") {
            let lpath = format!("/{zone}{path}");
            if let Some(parsed) = parse(&zone, &lpath) {
                let mut json = String::new();
                write_json(&mut json, &zone, &parsed);
                prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), lpath.clone());
                prop_assert_eq!(of(&zone, &parsed), lpath);
            }
        }
    }
}
