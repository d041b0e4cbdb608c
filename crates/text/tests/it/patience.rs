//! An index that takes longer than a search may wait.

use std::cell::Cell;

use cenote_text::{NotReady, TextIndex};

use super::world::World;

#[test]
fn what_was_made_is_kept_and_goes_on() {
    let world = World::new();
    for n in 0..2_500 {
        world.mkdir(&format!("/thing {n}")).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let mut percents = Vec::new();
    let found = loop {
        // Each time another process, that waits for one step.
        let index = TextIndex::in_directory(dir.path().join("text"));
        match index.lead(&world.store, &|| false) {
            Ok(lead) => break world.found(&world.admin, "thing", Some(lead.as_ref())),
            Err(NotReady::Making(percent)) => percents.push(percent),
            Err(other) => panic!("{other}"),
        }
        assert!(percents.len() < 10, "{percents:?}");
    };
    assert_eq!(found.len(), 2_500);
    assert!(percents.len() >= 3 && percents.is_sorted() && percents[0] > 0, "{percents:?}");
}

#[test]
fn a_search_that_waits_for_another_fails_when_patience_ends() {
    let world = World::new();
    for n in 0..1_500 {
        world.mkdir(&format!("/thing {n}")).unwrap();
    }
    let index = TextIndex::in_memory();
    let called = Cell::new(false);
    let lead = index.lead(&world.store, &|| {
        // While this one has the turn, another comes.
        let other = index.lead(&world.store, &|| false);
        assert!(matches!(other, Err(NotReady::Making(_))));
        called.set(true);
        true
    });
    assert!(lead.is_ok() && called.get());
}

#[test]
fn many_searches_at_a_time_share_one_index() {
    let world = World::new();
    for n in 0..1_500 {
        world.mkdir(&format!("/thing {n}")).unwrap();
    }
    let index = TextIndex::in_memory();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                assert_eq!(world.led(&index, &world.admin, "thing").len(), 1_500);
            });
        }
        scope.spawn(|| {
            for n in 0..50 {
                let name = format!("/other {n}");
                world.mkdir(&name).unwrap();
                assert!(world.led(&index, &world.admin, &format!("other {n}")).contains(&name));
            }
        });
    });
}
