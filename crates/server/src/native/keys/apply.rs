//! The effect of a body on a key. A law: the body of an answer changes nothing.

use std::collections::BTreeMap;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_keyset::Key;

use crate::native::json::KeyChange;
use crate::problem::Problem;

/// The metakey that a binary key has, and no other.
const BINARY: &str = "binary";

pub(super) fn apply(change: &KeyChange, key: &mut Key) -> Result<(), Problem> {
    let name = key.name().to_string();
    if change.name.as_ref().is_some_and(|given| *given != name) {
        return Err(Problem::invalid(format!("the body has a different key than {name}"))
            .with_hint("a key cannot be renamed: put the new one, and remove the old one"));
    }
    set_value(change, key)?;
    change.meta.as_ref().map_or(Ok(()), |wanted| set_meta(wanted, key))
}

fn set_value(change: &KeyChange, key: &mut Key) -> Result<(), Problem> {
    match (&change.value, &change.base64, change.binary) {
        (Some(_), Some(_), _) => Err(Problem::invalid("a value is either `value` or `base64`")),
        (Some(_), None, Some(true)) => {
            Err(Problem::invalid("give the value of a binary key as `base64`"))
        }
        (Some(text), None, _) => set_text(key, text.as_bytes()),
        (None, Some(base64), Some(false)) => set_text(key, &bytes(base64)?),
        (None, Some(base64), _) => {
            key.set_binary(bytes(base64)?);
            Ok(())
        }
        (None, None, Some(true)) => {
            key.set_binary(b"");
            Ok(())
        }
        (None, None, Some(false)) => {
            Err(Problem::invalid("a key that is not binary has a `value`"))
        }
        (None, None, None) => Ok(()),
    }
}

fn set_text(key: &mut Key, text: &[u8]) -> Result<(), Problem> {
    key.set_string(text).map_err(|error| Problem::invalid(error.to_string()))
}

fn bytes(base64: &str) -> Result<Vec<u8>, Problem> {
    let bytes = BASE64_STANDARD.decode(base64);
    bytes.map_err(|error| Problem::invalid(format!("invalid `base64`: {error}")))
}

/// Gives the key these metakeys; those that are as wanted stay, and stay shared.
fn set_meta(wanted: &BTreeMap<String, String>, key: &mut Key) -> Result<(), Problem> {
    let invalid = |error: &dyn std::fmt::Display| Problem::invalid(format!("`meta`: {error}"));
    let is_binary = key.value().is_binary();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let there = key.borrow().meta().map(|meta| (meta.name().to_vec(), text(meta.value())));
    let there: Vec<_> = there.collect();
    let mut missing = wanted.clone();
    for (name, value) in there {
        let metakey = text(&name);
        match missing.get(&metakey) {
            Some(same) if *same == value => drop(missing.remove(&metakey)),
            None if metakey != BINARY => {
                key.remove_meta(&name).map_err(|error| invalid(&error))?;
            }
            _ => {}
        }
    }
    for (name, value) in missing {
        key.set_meta(&name, &value).map_err(|error| invalid(&error))?;
    }
    match key.value().is_binary() == is_binary {
        true => Ok(()),
        false => Err(Problem::invalid("a key with the metakey `binary` must be binary")
            .with_hint("send its value in `base64`")),
    }
}

#[cfg(test)]
mod tests {
    use cenote_keyset::KeyName;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::native::json::KeyBody;

    fn key() -> Key {
        let mut key = Key::new(KeyName::new("user:/a").unwrap());
        key.set_string("old").unwrap();
        key.set_meta("type", "long").unwrap();
        key
    }

    fn changed(key: &Key, body: Value) -> Result<Key, Problem> {
        let (change, mut key) = (serde_json::from_value(body).unwrap(), key.clone());
        apply(&change, &mut key).map(|()| key)
    }

    fn shown(key: &Key) -> Value {
        serde_json::to_value(KeyBody::from(key.borrow())).unwrap()
    }

    fn any_key() -> impl Strategy<Value = Key> {
        let value = proptest::option::of((any::<bool>(), "[^\0]{0,4}", any::<Vec<u8>>()));
        let meta = proptest::collection::vec(("[a-z/#0-9]{0,4}", "[^\0]{0,3}"), 0..4);
        (value, meta).prop_map(|(value, meta)| {
            let mut key = key();
            match value {
                Some((true, text, _)) => key.set_string(text).unwrap(),
                Some((false, _, bytes)) => key.set_binary(bytes),
                None => {}
            }
            for (name, value) in meta {
                key.set_meta(name, value).unwrap();
            }
            key
        })
    }

    proptest! {
        #[test]
        fn sending_back_a_response_changes_nothing(key in any_key()) {
            prop_assert_eq!(&changed(&key, shown(&key)).unwrap(), &key);
            prop_assert_eq!(&changed(&key, json!({})).unwrap(), &key);
        }

        #[test]
        fn a_body_turns_any_key_into_the_one_it_describes(from in any_key(), to in any_key()) {
            let made = changed(&from, shown(&to)).unwrap();
            let binary = to.value().is_binary();
            prop_assert_eq!(shown(&made), shown(&to), "{}", binary);
        }

        #[test]
        fn any_body_is_accepted_or_refused(
            value: Option<String>, base64 in proptest::option::of("[A-D=]{0,8}"), binary: Option<bool>,
            meta in proptest::option::of(proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4)),
        ) {
            let change = KeyChange { name: None, value, base64, binary, meta };
            let _ = apply(&change, &mut key());
        }
    }

    #[test]
    fn omitted_fields_are_unchanged() {
        let key = changed(&key(), json!({"value": "new"})).unwrap();
        assert_eq!(shown(&key)["meta"], json!({"type": "long"}));
        let key = changed(&key, json!({"meta": {"unit": "K"}})).unwrap();
        assert_eq!(
            (&shown(&key)["value"], &shown(&key)["meta"]),
            (&json!("new"), &json!({"unit": "K"}))
        );
        let null = changed(&key, json!({"binary": true})).unwrap();
        assert_eq!(shown(&null)["base64"], Value::Null);
        assert_eq!(shown(&null)["meta"], json!({"binary": "", "unit": "K"}));
    }

    #[test]
    fn an_unchanged_metakey_stays_shared() {
        let other =
            changed(&key(), json!({"value": "x", "meta": {"type": "long", "a": "b"}})).unwrap();
        let meta = |key: &Key| key.borrow().meta_key("type").unwrap().borrow().value().as_ptr();
        let mut twin = key();
        twin.share_meta(other.borrow().meta_key("type").unwrap());
        let twin = changed(&twin, json!({"value": "y", "meta": {"type": "long"}})).unwrap();
        assert_eq!(meta(&twin), meta(&other));
    }

    #[test]
    fn contradictory_bodies_are_refused() {
        for body in [
            json!({"value": "a", "base64": "YQ=="}),
            json!({"value": "a", "binary": true}),
            json!({"value": "a\0"}),
            json!({"base64": "AA==", "binary": false}),
            json!({"base64": "*"}),
            json!({"binary": false}),
            json!({"name": "user:/b"}),
            json!({"meta": {"binary": ""}}),
            json!({"meta": {"a\\": ""}}),
            json!({"meta": {"a": "\0"}}),
        ] {
            let refused = changed(&key(), body.clone()).unwrap_err();
            assert_eq!(refused.status(), 400, "{body}");
        }
    }
}
