//! Listings with details of each entry, and walks by pages.

use cenote_store::{
    AccessChange, At, DetailedPage, ListOptions, Moment, Name, PastEntry, Rights, Scope, Stat,
    Statement, Term, WalkCursor,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::world::{World, at, cases, path, world};

const MIB: usize = 1 << 20;

fn stated(text: usize) -> [Statement; 1] {
    [Statement {
        subject: None,
        predicate: "http://x/p".into(),
        object: Term::string("x".repeat(text)),
        unit: None,
    }]
}

fn page(world: &World, after: Option<Name>, limit: usize) -> DetailedPage {
    let options = ListOptions { after, limit };
    world.store.list_detailed(&world.admin, &at("/c"), &options, true).unwrap()
}

proptest! {
    #![proptest_config(cases(12))]

    /// Each entry once, in order, with the same details as when read individually, in pages of
    /// bounded size.
    #[test]
    fn a_listing_with_descriptions_equals_reading_each_individually(
        sizes in vec(prop_oneof![0usize..3, 20_000usize..70_000, MIB - 100..MIB + 100], 0..12),
        limit in 1usize..20,
    ) {
        let world = world();
        world.mkdir("/c");
        for (n, size) in sizes.iter().enumerate() {
            world.put(&format!("/c/{n:02}"), b"");
            // A term is at most a mebibyte long.
            for part in (0..*size).step_by(MIB / 2) {
                let [mut statement] = stated((size - part).min(MIB / 2));
                statement.predicate += &part.to_string();
                world.state(&format!("/c/{n:02}"), &[statement]);
            }
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let DetailedPage { page, details } = page(&world, after, limit);
            prop_assert_eq!(page.entries.len(), details.len());
            prop_assert!(page.entries.len() <= limit);
            let texts = details.iter().flat_map(|detail| detail.description.iter().flatten());
            let bytes: usize = texts.map(|statement| statement.object.text().len()).sum();
            prop_assert!(bytes < 5 * MIB + 1_000, "{}", bytes);
            for (entry, detail) in page.entries.iter().zip(details) {
                let at = At::Id(entry.id);
                prop_assert_eq!(detail.rights, world.store.rights(&world.admin, &at).unwrap());
                let (stat, graph) = world.store.graph(&world.admin, &at).unwrap();
                prop_assert_eq!(&stat, entry);
                match detail.description {
                    Some(description) => prop_assert_eq!(description, graph),
                    None => prop_assert!(graph.iter().map(|s| s.object.text().len()).sum::<usize>() > MIB - 200),
                }
            }
            seen.extend(page.entries.iter().map(|entry| entry.resource.name.clone()));
            prop_assert!(page.next.is_none() || !page.entries.is_empty(), "a page gets on");
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let expected: Vec<String> = (0..sizes.len()).map(|n| format!("{n:02}")).collect();
        prop_assert_eq!(seen, expected);
    }
}

#[test]
fn a_page_ends_when_its_descriptions_reach_four_mebibytes() {
    let world = world();
    world.mkdir("/c");
    for n in 0..12 {
        world.put(&format!("/c/{n:02}"), b"");
        world.state(&format!("/c/{n:02}"), &stated(MIB - 200));
    }
    let first = page(&world, None, 100);
    assert_eq!(first.page.entries.len(), 5);
    assert_eq!(first.page.next, Some(Name::new("04").unwrap()));
    assert!(first.details.iter().all(|detail| detail.description.is_some()));
}

#[test]
fn a_listing_omits_descriptions_that_the_caller_may_not_read() {
    let world = world();
    world.mkdir("/c");
    for name in ["/c/hidden", "/c/seen"] {
        world.put(name, b"");
        world.state(name, &stated(5));
    }
    let user = world.user("u");
    let grant = |to: &str, rights: Rights| {
        let change = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
        world.store.change_access(&world.admin, &at(to), &change).unwrap();
    };
    grant("/c", Rights::LIST);
    grant("/c/seen", Rights::READ_DESCRIPTION);
    let listed =
        world.store.list_detailed(&user, &at("/c"), &ListOptions::default(), true).unwrap();
    let names: Vec<_> = listed.page.entries.iter().map(|entry| &*entry.resource.name).collect();
    assert_eq!(names, ["seen"]);
    assert_eq!(listed.details[0].rights, Rights::READ_DESCRIPTION);
    assert_eq!(listed.details[0].description, Some(stated(5).into()));
}

/// A complete walk in pages of two, with a change after the first.
fn walked(world: &World, top: &At, between: impl Fn()) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.walk(&world.admin, top, after.as_ref(), 2).unwrap();
        if after.is_none() {
            between();
        }
        names.extend(page.entries.iter().map(|entry: &Stat| entry.resource.name.clone()));
        after = page.next;
        if after.is_none() {
            return names;
        }
    }
}

#[test]
fn a_walk_resumes_at_its_cursor_despite_moves_and_removals() {
    let planted = || {
        let world = world();
        for each in ["/a", "/a/b", "/a/b/c1", "/a/b/c2", "/a/d", "/a/d/e"] {
            world.mkdir(each);
        }
        let top = At::Id(world.stat("/a").unwrap().id);
        (world, top)
    };
    let all = ["b", "c1", "c2", "d", "e"];
    let (world, top) = planted();
    assert_eq!(walked(&world, &top, || ()), all);
    // The top is renamed, or moved with its ancestors.
    assert_eq!(walked(&world, &top, || drop(world.mv("/a", "/0").unwrap())), all);
    let (world, top) = planted();
    world.mkdir("/z");
    assert_eq!(walked(&world, &top, || drop(world.mv("/a", "/z/a").unwrap())), all);
    // The last entry of the page was removed with its collection; entries were added before and
    // after it.
    let (world, top) = planted();
    let changed = walked(&world, &top, || {
        world.rm_all("/a/b").unwrap();
        world.mkdir("/a/a");
        world.mkdir("/a/c");
    });
    assert_eq!(changed, ["b", "c1", "c", "d", "e"]);
}

#[test]
fn a_cursor_has_to_be_below_the_top() {
    let cursor = |top: &str, after: &str| WalkCursor::after(&path(top), &path(after));
    assert!(cursor("/a", "/a/b").is_some() && cursor("/a", "/a").is_some());
    assert!(cursor("/a", "/ab").is_none() && cursor("/a/b", "/a").is_none());
}

/// The name after which a page begins is one that the caller saw, now and as of a moment.
#[test]
fn no_page_of_a_listing_ends_at_a_hidden_name() {
    let world = world();
    let user = world.user("u");
    world.mkdir("/c");
    let grant = |what: &str, rights: Rights| world.grant(what, "u", rights, Scope::This);
    grant("/c", Rights::LIST.union(Rights::READ_DESCRIPTION));
    let names = ["a", "b", "c", "d", "e", "f", "g"];
    for name in names {
        world.put(&format!("/c/{name}"), b"1");
    }
    for shown in ["c", "e"] {
        grant(&format!("/c/{shown}"), Rights::READ_DESCRIPTION);
    }
    let moment = Moment::Position(world.store.newest_change().unwrap());
    for limit in 1..=names.len() {
        let (mut now, mut past, mut after) = (Vec::new(), Vec::new(), None);
        loop {
            let options = ListOptions { after, limit };
            let page = world.store.list(&user, &at("/c"), &options).unwrap();
            now.extend(page.entries.iter().map(|entry| entry.resource.name.clone()));
            after = page.next;
            let Some(next) = &after else { break };
            assert_eq!(now.last().unwrap(), next.as_str());
        }
        let mut after = None::<String>;
        loop {
            let part = (after.as_deref(), limit);
            let page = world.store.list_as_of(&user, &path("/c"), moment, part).unwrap();
            let name = |entry: &PastEntry| entry.path().names().last().unwrap().to_string();
            past.extend(page.entries.iter().map(name));
            after = page.next;
            let Some(next) = &after else { break };
            assert_eq!(past.last(), Some(next));
        }
        assert_eq!((now, past), (vec!["c".into(), "e".into()], vec!["c".into(), "e".into()]));
    }
}
