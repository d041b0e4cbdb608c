//! Operations on key sets as recorded from the real library, state by state.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::{Key, KeySet};
use common::{json, name};
use serde_json::Value;

fn names(keys: &KeySet) -> Vec<String> {
    keys.iter().map(|key| key.name().to_string()).collect()
}

fn assert_names(keys: &KeySet, expected: &Value, step: &Value) {
    let expected: Vec<_> =
        expected.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names(keys), expected, "{}", &step.to_string()[..60]);
}

fn apply(keys: &mut KeySet, step: &Value) {
    let argument = name(step[1].as_str().unwrap_or("/"));
    match step[0].as_str().unwrap() {
        "append" => {
            let mut key = Key::new(argument);
            key.set_string(step[2].as_str().unwrap()).unwrap();
            keys.append(key);
        }
        "state" => assert_names(keys, &step[1], step),
        "cut" => {
            assert_names(&keys.cut(&argument), &step[2], step);
            assert_names(keys, &step[3], step);
        }
        "below" => assert_names(&keys.below(&argument), &step[2], step),
        // `user:/%` is stored like the root, and the real library truncates the names below it: continue from its
        // state.
        "rename" if step[1].as_str().unwrap().ends_with(":/%") => {
            let names = step[4].as_array().unwrap().iter();
            *keys = names.map(|text| Key::new(name(text.as_str().unwrap()))).collect();
        }
        "rename" => {
            let renamed = keys.rename(&argument, &name(step[2].as_str().unwrap()));
            let count = renamed.map_or(-1, |count| count as i64);
            assert_eq!(count, step[3].as_i64().unwrap(), "{}", &step.to_string()[..60]);
            assert_names(keys, &step[4], step);
        }
        "lookup" => {
            let found = keys.lookup(&argument).map(|key| key.name().to_string());
            assert_eq!(found.as_deref(), step[2].as_str(), "{}", step);
        }
        "lookup_pop" => {
            let found = keys.lookup(&argument).map(|key| key.name().to_name());
            let popped = found.and_then(|name| keys.remove(&name));
            let popped = popped.map(|key| key.name().to_string());
            assert_eq!(popped.as_deref(), step[2].as_str(), "{}", step[1]);
            assert_names(keys, &step[3], step);
        }
        other => panic!("unknown step {other}"),
    }
}

#[test]
fn recorded_sequences() {
    for sequence in json("name_cases.json")["keyset_sequences"].as_array().unwrap() {
        let mut keys = KeySet::new();
        sequence.as_array().unwrap().iter().for_each(|step| apply(&mut keys, step));
    }
}

#[test]
fn renaming_a_root_written_with_a_percent_keeps_whole_parts() {
    let mut keys = set(&[("user:/#0/a", "", &[]), ("user:/b", "", &[])]);
    assert_eq!(keys.rename(&name("user:/%"), &name("user:/x")), Ok(2));
    assert_eq!(names(&keys), ["user:/x/#0/a", "user:/x/b"]);
}

/// A name, a value and metakeys.
type Described<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

fn set(keys: &[Described<'_>]) -> KeySet {
    keys.iter()
        .map(|(key, value, metas)| {
            let mut key = Key::new(name(key));
            key.set_string(value).unwrap();
            metas.iter().for_each(|(meta, value)| key.set_meta(meta, value).unwrap());
            key
        })
        .collect()
}

fn value(keys: &mut KeySet, key: &str) -> Option<String> {
    let found = keys.lookup(&name(key))?;
    Some(String::from_utf8(found.value().as_bytes().to_vec()).unwrap())
}

#[test]
fn a_cascading_lookup_tries_proc_dir_user_system_default_and_the_name_itself() {
    let mut all = set(&[
        ("/a", "itself", &[]),
        ("proc:/a", "proc", &[]),
        ("dir:/a", "dir", &[]),
        ("user:/a", "user", &[]),
        ("system:/a", "system", &[]),
        ("default:/a", "default", &[]),
    ]);
    for place in ["proc", "dir", "user", "system", "default"] {
        assert_eq!(value(&mut all, "/a").as_deref(), Some(place));
        all.remove(&name(&format!("{place}:/a"))).unwrap();
    }
    assert_eq!(value(&mut all, "/a").as_deref(), Some("itself"));
}

#[test]
fn a_specification_decides_by_override_namespace_fallback_and_default() {
    let spec: &[(&str, &str)] = &[
        ("override/#0", "/over"),
        ("namespace/#0", "system"),
        ("namespace/#1", "dir"),
        ("fallback/#0", "/missing"),
        ("fallback/#1", "/fall"),
        ("default", "by default"),
    ];
    let mut keys = set(&[
        ("spec:/a", "", spec),
        ("user:/over", "over", &[]),
        ("dir:/a", "dir", &[]),
        ("user:/a", "never", &[]),
        ("user:/fall", "fall", &[]),
    ]);
    for (place, expected) in [("user:/over", "over"), ("dir:/a", "dir"), ("user:/fall", "fall")] {
        assert_eq!(value(&mut keys, "/a").as_deref(), Some(expected));
        keys.remove(&name(place)).unwrap();
    }
    assert_eq!(value(&mut keys, "/a").as_deref(), Some("by default"));
    assert_eq!(keys.get(&name("default:/a")).unwrap().value().as_bytes(), b"by default");
}

#[test]
fn circular_links_terminate() {
    let links = |to| [("override/#0", to), ("override/#1", to), ("fallback/#0", to)];
    let mut keys = set(&[("spec:/a", "", &links("/b")), ("spec:/b", "", &links("/a"))]);
    assert_eq!(value(&mut keys, "/a"), None);
}
