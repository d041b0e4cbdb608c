//! Random trees round-trip.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{everything, objects};
use crate::world::World;

/// Files by their paths, each with its states: the bytes, and the value of an attribute.
fn trees() -> impl Strategy<Value = Vec<(String, Vec<(String, String)>)>> {
    let state = ("[ab]{0,3}", "\\PC{1,5}");
    let path = "([a-c é#%]{1,3}/)?[a-c?~&\"]{1,4}x";
    prop::collection::vec((path, prop::collection::vec(state, 1..3)), 1..4)
}

#[test]
fn a_random_tree_round_trips() {
    let world = World::local();
    let mut runner = TestRunner::deterministic();
    for round in 0..3 {
        let (from, archive, to) = (format!("/t{round}"), format!("a{round}"), format!("/u{round}"));
        world.ok(&["mkdir", &from]);
        world.ok(&["versions", "policy", &from, "on-request"]);
        for (path, states) in trees().new_tree(&mut runner).unwrap().current() {
            let at = format!("{from}/d {path}");
            let parent = &at[..at.rfind('/').unwrap()];
            world.ok(&["mkdir", "-p", parent]);
            for (bytes, value) in states {
                world.file("bytes", bytes);
                world.ok(&["put", "bytes", &format!(":{at}")]);
                world.ok(&["meta", "set", &at, "--", "attribute", &value]);
                world.ok(&["versions", "keep", &at]);
            }
        }
        world.ok(&["export", "ocfl", &from, &archive]);
        let exported = objects(&world, &archive).len();
        world.ok(&["import", "ocfl", &archive, &to]);
        assert_eq!(everything(&world, &from), everything(&world, &to));
        for arguments in [["import", "ocfl", &archive, &to], ["export", "ocfl", &from, &archive]] {
            let checked = world.ok(&[&arguments[..], &["--check"]].concat());
            assert_eq!(checked, format!("{exported} are the same\n"));
        }
    }
}
