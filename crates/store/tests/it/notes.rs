//! Notes of openings.

use std::collections::BTreeMap;

use cenote_store::{
    AccessChange, Act, At, CopyOptions, CreateOptions, Draft, ErrorKind, Expected, MoveOptions,
    Notes, Part, PutOptions, ResourceId, Result, Rights, Scope, UploadOptions,
};
use proptest::prelude::*;

use super::world::{World, assert_clean, at, cases, kind, once, path, run, world};

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
fn a_change_of_notes_is_atomic() {
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
fn a_change_of_notes_requires_the_rights_of_its_operation() {
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
fn of_two_conflicting_changes_one_is_retried() {
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

/// Names the resource of the commit.
fn name(name: &str) -> (&'static str, impl Fn(&mut Notes<'_>) -> Result<()> + Send + use<>) {
    let name = name.to_owned();
    ("dx", move |notes: &mut Notes<'_>| {
        let resource = notes.resource().unwrap();
        notes.put_about(resource, &name, "open".into())
    })
}

fn name_resource(world: &World, of: &str, as_name: &str) -> Result<()> {
    let (opening, also) = name(as_name);
    world.store.change_notes_about(&world.admin, &at(of), opening, also)
}

fn named(world: &World, name: &str) -> Result<String> {
    let (stat, note) = world.store.named_by(&world.admin, "dx", name)?;
    assert_eq!(note, "open");
    Ok(stat.path.to_string())
}

/// The names of a resource, according to the notes about it.
fn names_of(world: &World, of: &At) -> Vec<String> {
    let reading = world.store.reading(&world.admin).unwrap();
    let stat = reading.stat(of).unwrap().unwrap();
    let notes = reading.notes_about("dx", &stat).unwrap();
    notes.into_iter().map(|note| note.name).collect()
}

#[test]
fn a_note_about_a_resource_is_found_by_name_and_by_resource() {
    let world = world();
    world.put("/x", b"");
    world.put("/y", b"");
    for (of, as_name) in [("/x", "file-1/project-a"), ("/y", "file-1/project-b"), ("/x", "alias")] {
        name_resource(&world, of, as_name).unwrap();
    }
    assert_eq!(named(&world, "alias").unwrap(), "/x");
    assert_eq!(names_of(&world, &at("/x")), ["alias", "file-1/project-a"]);
    // One object in several places: each of its names refers to its own resource.
    let reading = world.store.reading(&world.admin).unwrap();
    let places = reading.named("dx", "file-1/", 10).unwrap();
    let places: Vec<_> = places.iter().map(|(stat, _)| stat.path.to_string()).collect();
    assert_eq!(places, ["/x", "/y"]);
    // A rename changes no name; another opening has its own names.
    world.mv("/x", "/z").unwrap();
    assert_eq!(named(&world, "alias").unwrap(), "/z");
    assert_eq!(kind(world.store.named_by(&world.admin, "d", "alias")), ErrorKind::NotFound);
    assert!(world.store.notes("dx", "").unwrap().is_empty(), "they are apart from other notes");
    assert_clean(&world.store);
}

#[test]
fn a_name_belongs_to_one_resource() {
    let world = world();
    world.keep_removed("/", 86_400);
    world.put("/x", b"");
    world.put("/y", b"");
    name_resource(&world, "/x", "file-1").unwrap();
    name_resource(&world, "/x", "file-1").unwrap();
    assert_eq!(kind(name_resource(&world, "/y", "file-1")), ErrorKind::Exists);
    world.discard("/x");
    assert_eq!(kind(name_resource(&world, "/y", "file-1")), ErrorKind::Exists, "in the trash");
    world.store.empty_trash(&world.admin).unwrap();
    name_resource(&world, "/y", "file-1").unwrap();
    let (opening, _) = name("file-1");
    let removed = world.store.change_notes_about(&world.admin, &at("/y"), opening, |notes| {
        assert_eq!(notes.named("file-1")?.unwrap().resource, notes.resource().unwrap());
        notes.remove_named("file-1")?;
        notes.about(notes.resource().unwrap())
    });
    assert!(removed.unwrap().is_empty());
    assert_eq!(kind(named(&world, "file-1")), ErrorKind::NotFound);
    assert_clean(&world.store);
}

type Change = fn(&World, &str) -> Result<ResourceId>;

/// All operations that create or change a resource with notes about it.
const CHANGES: [(&str, Change); 5] = [
    ("create", |w, n| {
        let options = CreateOptions { parents: true, ..CreateOptions::default() };
        let done =
            w.store.create_with(&w.admin, &path("/new/c"), Draft::Description, options, name(n));
        done.map(|stat| stat.id)
    }),
    ("put", |w, n| {
        let options = PutOptions::default();
        w.store.precheck_put(&w.admin, path("/p"), &options).unwrap();
        let received = run(w.store.receive(once(b"bytes"), &options)).unwrap();
        w.store.publish_with(&w.admin, path("/p"), &received, &options, name(n)).map(|stat| stat.id)
    }),
    ("upload", |w, n| {
        let options = UploadOptions::default();
        let upload = w.store.begin_upload(&w.admin, path("/u"), &options).unwrap().id;
        let any = Expected::default();
        run(w.store.put_part(&w.admin, upload, 0, once(b"bytes"), &any)).unwrap();
        let (opening, also) = name(n);
        let also = move |notes: &mut Notes<'_>, _: &[Part]| also(notes);
        let done = run(w.store.complete_upload_with(&w.admin, upload, None, opening, also));
        if done.is_err() {
            w.store.abandon_upload(&w.admin, upload).unwrap();
        }
        done.map(|stat| stat.id)
    }),
    ("copy", |w, n| {
        let options = CopyOptions::default();
        let done = w.store.copy_with(&w.admin, &at("/x"), &path("/copy"), &options, name(n));
        done.map(|stat| stat.id)
    }),
    ("move", |w, n| {
        let options = MoveOptions { replace: true, ..MoveOptions::default() };
        let done = w.store.relocate_with(&w.admin, &at("/x"), &path("/other"), options, name(n));
        done.map(|done| done.stat.id)
    }),
];

#[test]
fn notes_and_the_change_of_their_resource_are_one_commit() {
    for (what, change) in CHANGES {
        let world = world();
        world.put("/x", b"x");
        world.put("/other", b"other");
        world.put("/owner", b"");
        name_resource(&world, "/owner", "taken").unwrap();
        let seen =
            |world: &World| world.store.walk(&world.admin, &at("/"), None, 100).unwrap().entries;
        let before = seen(&world);
        assert_eq!(kind(change(&world, "taken")), ErrorKind::Exists, "{what}");
        assert_eq!(seen(&world), before, "{what} changed something");
        assert_clean(&world.store);
        let id = change(&world, "new").unwrap();
        assert_eq!(names_of(&world, &At::Id(id)), ["new"], "{what}");
        assert_clean(&world.store);
    }
}

#[test]
fn a_name_is_as_hidden_as_its_resource() {
    let world = world();
    world.put("/x", b"");
    name_resource(&world, "/x", "file-1").unwrap();
    let user = world.user("u");
    let answer = |name: &str| world.store.named_by(&user, "dx", name).unwrap_err().to_string();
    assert_eq!(answer("file-1").replace("file-1", "file-2"), answer("file-2"));
    let reading = world.store.reading(&user).unwrap();
    assert!(reading.named("dx", "", 10).unwrap().is_empty());
    let grant = [AccessChange::Grant("u".into(), Rights::READ_OBJECT.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/x"), &grant).unwrap();
    assert_eq!(world.store.named_by(&user, "dx", "file-1").unwrap().0.path, path("/x"));
    let (opening, also) = name("file-3");
    let denied = world.store.change_notes_about(&user, &at("/x"), opening, also);
    assert_eq!(kind(denied), ErrorKind::Denied);
}

/// Operations on resources that have names, and on their children.
#[derive(Debug, Clone)]
enum Step {
    Put(usize),
    Name(usize, u8),
    Remove(usize),
    Move(usize, usize),
    Restore,
    Purge,
    Reopen,
}

const PLACES: [&str; 6] = ["/a", "/b", "/d/a", "/d/b", "/d/e/a", "/d/e"];

fn step() -> impl Strategy<Value = Step> {
    let place = 0..PLACES.len();
    prop_oneof![
        3 => place.clone().prop_map(Step::Put),
        4 => (place.clone(), 0u8..5).prop_map(|(at, name)| Step::Name(at, name)),
        3 => place.clone().prop_map(Step::Remove),
        2 => (place.clone(), place).prop_map(|(from, to)| Step::Move(from, to)),
        2 => Just(Step::Restore),
        1 => Just(Step::Purge),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(cases(48))]

    /// In any history a name refers to its resource while that is in the tree, is kept while it is in the trash, and is
    /// free once it is purged.
    #[test]
    fn names_live_as_long_as_their_resources(steps in prop::collection::vec(step(), 1..40), keeps: bool) {
        let mut world = world();
        if keeps {
            world.keep_removed("/", 86_400);
        }
        let mut names = BTreeMap::<String, ResourceId>::new();
        for step in steps {
            let rm = |world: &World, at: &str| world.rm_all(at);
            match step {
                Step::Put(at) => {
                    let options = PutOptions { parents: true, ..PutOptions::default() };
                    drop(world.try_put(&world.admin, PLACES[at], b"x", options));
                }
                Step::Name(at, name) => {
                    let (name, id) = (format!("file-{name}"), world.stat(PLACES[at]).map(|s| s.id));
                    let Ok(id) = id else { continue };
                    let owner = *names.entry(name.clone()).or_insert(id);
                    prop_assert_eq!(name_resource(&world, PLACES[at], &name).is_ok(), owner == id);
                }
                Step::Remove(at) => drop(rm(&world, PLACES[at])),
                Step::Move(from, to) => {
                    let options = MoveOptions { replace: true, ..MoveOptions::default() };
                    let moved = at(PLACES[from]);
                    drop(world.store.relocate(&world.admin, &moved, &path(PLACES[to]), options));
                }
                Step::Restore => {
                    for item in world.trash_of(&world.admin) {
                        let options = Default::default();
                        drop(world.store.restore_removed(&world.admin, item.id, &options));
                    }
                }
                Step::Purge => drop(world.store.empty_trash(&world.admin).unwrap()),
                Step::Reopen => world = world.reopened(),
            }
            world.store.run_jobs().unwrap();
            // A purged resource has no records left.
            names.retain(|_, id| world.rows().iter().any(|(key, _)| **key == *crate::raw::key(b'N', &[id.0])));
            for n in 0..5 {
                let name = format!("file-{n}");
                let leads_to = world.store.named_by(&world.admin, "dx", &name).ok().map(|(stat, _)| stat.id);
                let expected = names.get(&name).copied();
                let in_tree = expected.filter(|id| world.store.stat(&world.admin, &At::Id(*id)).is_ok());
                prop_assert_eq!(leads_to, in_tree);
            }
        }
        assert_clean(&world.store);
        world.store.empty_trash(&world.admin).unwrap();
        drop(world.rm_all("/a"));
        drop(world.rm_all("/b"));
        drop(world.rm_all("/d"));
        world.store.empty_trash(&world.admin).unwrap();
        world.store.run_jobs().unwrap();
        prop_assert!(world.table(b'A').is_empty() && world.table(b'a').is_empty());
    }
}
