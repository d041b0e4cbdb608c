//! Names and paths: which are allowed, and that they round-trip.

use cenote_store::{CreateOptions, Draft, ErrorKind, Name, StorePath};
use proptest::prelude::*;

use crate::world::{at, cases, kind, path, world};

#[test]
fn the_table_of_names() {
    let long = "x".repeat(1_024);
    for good in ["a", " ", "...", "a\nb", "é", "e\u{301}", "-", "~", "\u{1f9ea}", long.as_str()] {
        assert_eq!(Name::new(good).unwrap().as_str(), good);
    }
    let too_long = "x".repeat(1_025);
    let too_long_in_bytes = "é".repeat(513);
    for bad in ["", ".", "..", "a/b", "/", "a\0b", too_long.as_str(), too_long_in_bytes.as_str()] {
        assert_eq!(kind(Name::new(bad)), ErrorKind::Invalid, "{bad:.8}");
    }
}

#[test]
fn the_table_of_paths() {
    for (given, shown) in [("/", "/"), ("/a", "/a"), ("/a/", "/a"), ("/a/b", "/a/b")] {
        assert_eq!(path(given).to_string(), shown);
    }
    for bad in ["", "a", "/a//b", "/a/.", "/a/../b", "/a//"] {
        assert_eq!(kind(bad.parse::<StorePath>()), ErrorKind::Invalid, "{bad}");
    }
    let deepest = "/a".repeat(16_384);
    assert_eq!(path(&deepest).names().len(), 16_384);
    assert_eq!(kind(format!("{deepest}/a").parse::<StorePath>()), ErrorKind::Invalid);
}

#[test]
fn two_spellings_of_a_character_are_distinct_names() {
    let world = world();
    world.put("/é", b"one");
    world.put("/e\u{301}", b"two");
    assert_eq!(world.read("/é"), b"one");
    assert_eq!(world.names("/").len(), 2);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_name_is_refused_or_round_trips(name in "\\PC{0,20}|[./\\x00a]{0,4}") {
        let world = world();
        let allowed = !(name.is_empty() || name == "." || name == ".." || name.contains(['/', '\0']));
        let made = Name::new(name.clone());
        prop_assert_eq!(made.is_ok(), allowed);
        if let Ok(made) = made {
            let to = StorePath::root().join(made).unwrap();
            let options = CreateOptions::default();
            world.store.create(&world.admin, &to, Draft::Collection, options).unwrap();
            prop_assert_eq!(world.names("/"), [name]);
        }
    }

    #[test]
    fn any_text_is_a_path_or_an_error(text in "[/a.\\x00é]{0,12}") {
        if let Ok(parsed) = text.parse::<StorePath>() {
            prop_assert_eq!(parsed.to_string().parse::<StorePath>().unwrap(), parsed);
        }
    }
}

#[test]
fn the_root_has_no_name() {
    let world = world();
    let root = world.store.stat(&world.admin, &at("/")).unwrap();
    assert_eq!((root.name(), root.path.to_string()), (None, "/".into()));
}
