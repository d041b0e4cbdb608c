//! Notes of openings.

use cenote_store::{Act, ErrorKind};

use super::world::{World, kind, world};

fn names(world: &World, opening: &str, prefix: &str) -> Vec<String> {
    world.store.notes(opening, prefix).unwrap().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn notes_belong_to_their_opening_and_are_found_by_name() {
    let world = world();
    let keep = |opening: &str, name: &str| {
        world
            .store
            .change_notes(&world.admin, Act::Configure, opening, |notes| {
                notes.put(name, "x".into())
            })
            .unwrap();
    };
    for (opening, name) in [("a", "zone/x"), ("a", "zone/y"), ("a", "rule/1"), ("ab", "zone/z")] {
        keep(opening, name);
    }
    assert_eq!(names(&world, "a", "zone/"), ["zone/x", "zone/y"]);
    assert_eq!(names(&world, "a", ""), ["rule/1", "zone/x", "zone/y"]);
    assert_eq!(names(&world, "ab", ""), ["zone/z"]);
    assert_eq!(world.store.note("a", "rule/1").unwrap().unwrap(), "x");
    assert_eq!(world.store.note("ab", "rule/1").unwrap(), None);
}

#[test]
fn a_change_of_notes_is_whole_or_nothing() {
    let world = world();
    let failed = world.store.change_notes(&world.admin, Act::Configure, "a", |notes| {
        notes.put("x", "1".into())?;
        assert_eq!(notes.get("x")?.unwrap(), "1", "it sees its own writes");
        notes.put("", "2".into())
    });
    assert_eq!(kind(failed), ErrorKind::Invalid);
    assert!(names(&world, "a", "").is_empty());
    let large = vec![0; (1 << 20) + 1];
    let failed = world.store.change_notes(&world.admin, Act::Configure, "a", |notes| {
        notes.put("x", large.clone().into())
    });
    assert_eq!(kind(failed), ErrorKind::TooLarge);
}

#[test]
fn a_change_of_notes_needs_what_it_is_to_the_opening() {
    let world = world();
    let user = world.user("ada");
    let denied = world.store.change_notes(&user, Act::Configure, "a", |notes| {
        notes.remove("x");
        Ok(())
    });
    assert_eq!(kind(denied), ErrorKind::Denied);
    let counted =
        world.store.change_notes(&user, Act::Defer, "a", |notes| Ok(notes.all("")?.len()));
    assert_eq!(counted.unwrap(), 0);
    let anonymous = world.store.anonymous().unwrap();
    let denied = world.store.change_notes(&anonymous, Act::Defer, "a", |_| Ok(()));
    assert_eq!(kind(denied), ErrorKind::Denied);
    world.store.tend_notes("a", |notes| notes.put("x", "1".into())).unwrap();
    assert_eq!(names(&world, "a", ""), ["x"]);
}

#[test]
fn of_two_changes_of_what_both_read_one_runs_again() {
    let world = world();
    let add = |times: usize| {
        for _ in 0..times {
            let added = world.store.change_notes(&world.admin, Act::Defer, "a", |notes| {
                let count = notes.all("n/")?.len();
                notes.put(&format!("n/{count:03}"), "x".into())
            });
            added.unwrap();
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| add(20));
        scope.spawn(|| add(20));
    });
    assert_eq!(names(&world, "a", "n/").len(), 40);
}
