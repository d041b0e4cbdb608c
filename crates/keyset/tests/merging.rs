//! The three-way merge of one key, as recorded, and of larger sets.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::{Key, KeySet, Side, Strategy, merge};
use common::{json, name};

fn one(root: &str, value: Option<&str>) -> KeySet {
    let key = value.map(|value| {
        let mut key = Key::new(name(root).join("key").unwrap());
        key.set_string(value).unwrap();
        key
    });
    key.into_iter().collect()
}

/// The patterns in the order of the recording: base, our, their.
fn patterns() -> Vec<[Option<&'static str>; 3]> {
    let bases = [(None, [None, Some("1")]), (Some("1"), [None, Some("1")])];
    let mut all = vec![[None, None, Some("1")], [None, Some("1"), None]];
    all.extend([[None, Some("1"), Some("1")], [None, Some("1"), Some("2")]]);
    for their in [None, Some("1"), Some("2")] {
        all.push([bases[1].0, None, their]);
    }
    for our in [Some("1"), Some("2")] {
        for their in [None, Some("1"), Some("2")] {
            all.push([Some("1"), our, their]);
        }
    }
    all.push([Some("1"), Some("2"), Some("3")]);
    all
}

#[test]
fn every_pattern_of_one_key() {
    let cases = json("merge_cases.json");
    let cases = &cases.as_array().unwrap()[1..];
    assert_eq!(cases.len(), patterns().len());
    for (case, [base, our, their]) in cases.iter().zip(patterns()) {
        assert_eq!(case["base"].as_str(), base);
        for (word, strategy) in
            [("abort", Strategy::Abort), ("our", Strategy::Ours), ("their", Strategy::Theirs)]
        {
            let root = name("user:/merged");
            let sets = [one("user:/our", our), one("user:/their", their), one("user:/base", base)];
            let roots = [name("user:/our"), name("user:/their"), name("user:/base")];
            let [ours, theirs, base] =
                [0, 1, 2].map(|at| Side { keys: &sets[at], root: &roots[at] });
            let merged = merge(ours, theirs, base, &root, strategy, false);
            let expected = &case[word];
            assert_eq!(merged.conflicts.len(), expected["conflicts"], "{case}");
            assert_eq!(merged.keys.is_some(), expected["result"] == "merged", "{case}");
            let value = merged.keys.and_then(|keys| {
                let key = keys.get(&root.join("key").unwrap())?;
                Some(String::from_utf8(key.value().as_bytes().to_vec()).unwrap())
            });
            assert_eq!(value.as_deref(), expected["value"].as_str(), "{case} {word}");
        }
    }
}

#[test]
fn identical_changes_can_be_treated_as_agreement() {
    let root = name("user:/");
    let (base, changed) = (one("user:/", Some("1")), one("user:/", Some("2")));
    let side = |keys| Side { keys, root: &root };
    let strict = merge(side(&changed), side(&changed), side(&base), &root, Strategy::Abort, false);
    assert!(strict.keys.is_none());
    assert_eq!(strict.conflicts[0].name, name("user:/key"));
    let agreed = merge(side(&changed), side(&changed), side(&base), &root, Strategy::Abort, true);
    assert_eq!(agreed.keys.unwrap(), changed);
}

#[test]
fn metadata_is_taken_from_the_chosen_key() {
    let root = name("user:/");
    let base = one("user:/", Some("1"));
    let mut key = Key::new(name("user:/key"));
    key.set_string("2").unwrap();
    key.set_meta("comment/#0", "why").unwrap();
    let theirs: KeySet = [key].into_iter().collect();
    let side = |keys| Side { keys, root: &root };
    let merged = merge(side(&base), side(&theirs), side(&base), &root, Strategy::Abort, false);
    assert_eq!(merged.keys.unwrap(), theirs);
}
