//! Extended attributes: any bytes round-trip, alongside other statements.

use bytes::Bytes;
use cenote_store::{
    Avu, Caller, Conditions, ErrorKind, Graph, Result, Stat, Statement, Term, Xattr,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::world::{World, assert_clean, at, avu, cases, kind, world};

fn set(world: &World, name: &str, value: &[u8], conditions: &Conditions) -> Result<Stat> {
    let xattr = Xattr { name: name.into(), value: Bytes::copy_from_slice(value) };
    world.store.set_xattr(&world.admin, &at("/a"), &xattr, conditions)
}

fn get(world: &World, name: &str) -> Result<Bytes> {
    Ok(world.store.xattr(&world.admin, &at("/a"), name)?.2)
}

fn all(world: &World) -> Vec<(String, Vec<u8>)> {
    let (_, all) = world.store.xattrs(&world.admin, &at("/a")).unwrap();
    all.into_iter().map(|xattr| (xattr.name, xattr.value.to_vec())).collect()
}

fn always() -> Conditions {
    Conditions::default()
}

fn tagged(tag: &str) -> Conditions {
    Conditions { if_match: Some(tag.into()), ..Conditions::default() }
}

fn absent() -> Conditions {
    Conditions { if_absent: true, ..Conditions::default() }
}

/// Names as used by programs, and some that look like IRIs, or like the stored form of names.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z.]{1,9}", "[ -~]{1,5}", "\\PC{1,4}", "(http:|cenote:attribute/)[a-z%]{1,3}"]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof!["\\PC{0,30}", "cenote:/a", "_:b"].prop_map(String::into_bytes);
    prop_oneof![vec(any::<u8>(), 0..2_000), text]
}

proptest! {
    #![proptest_config(cases(32))]

    /// With any other statements, also if the description is so large that it is split into rows.
    #[test]
    fn any_bytes_round_trip_and_nothing_else_changes(
        xattrs in btree_map(name(), value(), 0..6),
        spread: bool,
    ) {
        let world = world();
        world.put("/a", b"");
        let about_a_part = Statement {
            subject: Some("#part".into()),
            predicate: "http://x/p".into(),
            object: Term::string(if spread { "x".repeat(40_000) } else { "x".into() }),
            unit: None,
        };
        world.state("/a", std::slice::from_ref(&about_a_part));
        for (name, value) in &xattrs {
            set(&world, name, b"other\xff", &always()).unwrap();
            set(&world, name, value, &always()).unwrap();
            prop_assert_eq!(&get(&world, name).unwrap(), value);
        }
        let expected: Vec<_> = xattrs.clone().into_iter().collect();
        prop_assert_eq!(all(&world), expected);
        for (name, value) in &xattrs {
            prop_assert_eq!(&get(&world, name).unwrap(), value, "after the others were set");
            world.store.remove_xattr(&world.admin, &at("/a"), name, &always()).unwrap();
            prop_assert_eq!(kind(get(&world, name)), ErrorKind::NotFound);
        }
        let left = world.store.graph(&world.admin, &at("/a")).unwrap().1;
        prop_assert_eq!(left, Graph::from([about_a_part]));
        assert_clean(&world.store);
    }
}

#[test]
fn an_extended_attribute_is_an_attribute_in_every_other_view() {
    let world = world();
    world.put("/a", b"");
    set(&world, "text", "grün".as_bytes(), &always()).unwrap();
    set(&world, "binary", b"\x00\xff", &always()).unwrap();
    let shown = world.store.avus(&world.admin, &at("/a")).unwrap();
    assert_eq!(shown, [avu("binary", "AP8="), avu("text", "grün")]);
    // Of several values the first is shown, and all are replaced.
    world.describe("/a", "text", "a");
    assert_eq!(get(&world, "text").unwrap(), "a");
    set(&world, "text", b"new", &always()).unwrap();
    let texts = world.store.avus(&world.admin, &at("/a")).unwrap();
    let texts: Vec<&Avu> = texts.iter().filter(|avu| avu.attribute == "text").collect();
    assert_eq!(texts, [&avu("text", "new")]);
    // A name that no file system accepts is still an attribute.
    world.describe("/a", &"n".repeat(251), "v");
    assert_eq!(all(&world).len(), 2);
}

#[test]
fn a_condition_applies_to_the_attribute_or_the_description() {
    let world = world();
    let stat = world.put("/a", b"");
    assert_eq!(kind(set(&world, "x", b"1", &tagged("*"))), ErrorKind::Precondition);
    set(&world, "x", b"1", &absent()).unwrap();
    assert_eq!(kind(set(&world, "x", b"2", &absent())), ErrorKind::Precondition);
    set(&world, "y", b"1", &absent()).unwrap();
    let new = set(&world, "x", b"2", &tagged("*")).unwrap();
    let stale = tagged(&stat.description_tag());
    assert_eq!(kind(set(&world, "x", b"3", &stale)), ErrorKind::Precondition);
    set(&world, "x", b"3", &tagged(&new.description_tag())).unwrap();
    let removed = |conditions: &Conditions| {
        world.store.remove_xattr(&world.admin, &at("/a"), "x", conditions)
    };
    assert_eq!(kind(removed(&stale)), ErrorKind::Precondition);
    removed(&tagged("*")).unwrap();
    assert_eq!(kind(removed(&always())), ErrorKind::NotFound);
    assert_eq!(all(&world), [("y".to_owned(), b"1".to_vec())]);
}

#[test]
fn attributes_that_no_file_system_accepts_are_refused_without_changes() {
    let world = world();
    world.put("/a", b"");
    let before = world.rows();
    let long = "n".repeat(Xattr::MAX_NAME + 1);
    for (name, value, expected) in [
        ("", &b"x"[..], ErrorKind::Invalid),
        ("a\0b", b"x", ErrorKind::Invalid),
        (&long, b"x", ErrorKind::Invalid),
        ("x", &[0; Xattr::MAX_VALUE + 1], ErrorKind::TooLarge),
    ] {
        assert_eq!(kind(set(&world, name, value, &always())), expected);
        assert_eq!(world.rows(), before);
    }
    set(&world, &long[1..], &[0xff; Xattr::MAX_VALUE], &always()).unwrap();
    assert_eq!(get(&world, &long[1..]).unwrap().len(), Xattr::MAX_VALUE);
}

#[test]
fn extended_attributes_require_the_rights_of_the_description() {
    let world = world();
    world.put("/a", b"");
    set(&world, "x", b"1", &always()).unwrap();
    let user = world.user("u");
    let refusals = |caller: &Caller, name: &str| {
        let xattr = Xattr { name: name.into(), value: "2".into() };
        [
            world.store.xattr(caller, &at("/a"), name).err(),
            world.store.set_xattr(caller, &at("/a"), &xattr, &always()).err(),
            world.store.remove_xattr(caller, &at("/a"), name, &always()).err(),
        ]
    };
    // Whether there is an attribute of this name is as hidden as the resource.
    let missing = world.store.stat(&user, &at("/a")).unwrap_err().to_string();
    for name in ["x", "none"] {
        for error in refusals(&user, name) {
            let error = error.unwrap();
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::NotFound, missing.clone()));
        }
    }
}
