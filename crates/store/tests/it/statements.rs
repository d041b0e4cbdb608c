//! Statements by pattern and links, compared with a scan of every description that the caller may read: random graphs,
//! with random moves, removals and access.

use std::collections::BTreeSet;
use std::sync::Arc;

use cenote_blob::Place;
use cenote_kv::{CountingEngine, MemoryEngine};
use cenote_store::{
    AccessChange, At, Caller, Comparison, Condition, Conditions, CopyOptions, ErrorKind, Graph,
    LinksQuery, Pattern, Quad, Query, ResourceId, RestoreOptions, Rights, Scope, Stat, Statement,
    Term, iri_of, path_of,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::world::{World, assert_clean, at, cases, kind, path, world, world_on};

const PATHS: [&str; 7] = ["/a", "/b", "/c", "/c/x", "/c/y", "/h", "/h/z"];

/// IRIs of existing, former and missing resources, of parts of them, and others.
const IRIS: [&str; 14] = [
    "http://x/1",
    "cenote:/a",
    "cenote:/b",
    "cenote:/%62",
    "cenote:/c/x",
    "cenote:/c/x#p",
    "cenote:/c/x#q",
    "cenote:/h/z",
    "cenote:/h/",
    "cenote:/new",
    "cenote:/nothing",
    "cenote:id/999",
    "",
    "#p",
];

const PREDICATES: [&str; 3] = ["http://p/1", "http://p/2", "cenote:attribute/k"];

fn iri() -> impl Strategy<Value = String> {
    select(&IRIS[..]).prop_map(str::to_owned)
}

fn subject() -> impl Strategy<Value = String> {
    prop_oneof![4 => iri().prop_filter("no text", |iri| !iri.is_empty()), 1 => Just("_:b".to_owned())]
}

fn object() -> impl Strategy<Value = Term> {
    let literal = |datatype: Option<&str>, language: Option<&str>| {
        let (datatype, language) = (datatype.map(str::to_owned), language.map(str::to_owned));
        select(vec!["1", "01", "x", "2020-01-01", "cenote:/a"]).prop_map(move |value: &str| {
            Term::Literal {
                value: value.into(),
                datatype: datatype.clone(),
                language: language.clone(),
            }
        })
    };
    prop_oneof![
        6 => iri().prop_map(Term::Iri),
        2 => literal(None, None),
        1 => literal(Some("http://www.w3.org/2001/XMLSchema#integer"), None),
        1 => literal(None, Some("en")),
        1 => Just(Term::Blank("b".into())),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    (option::of(subject()), select(&PREDICATES[..]), object()).prop_map(
        |(subject, predicate, object)| Statement {
            subject,
            predicate: predicate.into(),
            object,
            unit: None,
        },
    )
}

#[derive(Debug, Clone)]
enum Op {
    /// Adds to a description, as the administrator or as the user.
    State(&'static str, Vec<Statement>, bool),
    Retract(&'static str, usize),
    Move(&'static str, &'static str),
    Remove(&'static str),
    Make(&'static str),
    Grant(&'static str, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let paths = || select(&PATHS[..]);
    let to = select(vec!["/new", "/a", "/c/x", "/h/z", "/b"]);
    prop_oneof![
        8 => (paths(), vec(statement(), 1..4), any::<bool>()).prop_map(|(p, s, b)| Op::State(p, s, b)),
        1 => (paths(), 0usize..4).prop_map(|(p, n)| Op::Retract(p, n)),
        2 => (paths(), to).prop_map(|(p, q)| Op::Move(p, q)),
        1 => paths().prop_map(Op::Remove),
        1 => paths().prop_map(Op::Make),
        2 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Grant(p, n)),
    ]
}

/// Any operation may be refused.
fn apply(world: &World, user: &Caller, op: &Op) {
    let none = Conditions::default();
    let store = &world.store;
    match op {
        Op::State(to, statements, as_user) => {
            let caller = if *as_user { user } else { &world.admin };
            let add = |old: &Graph| Ok(old.iter().chain(statements).cloned().collect());
            drop(store.change_graph(caller, &at(to), &none, add));
        }
        Op::Retract(from, n) => {
            let retract = |old: &Graph| {
                let kept = old.iter().enumerate().filter(|(at, _)| at != n);
                Ok(kept.map(|(_, statement)| statement.clone()).collect())
            };
            drop(store.change_graph(&world.admin, &at(from), &none, retract));
        }
        Op::Move(from, to) => drop(world.mv(from, to)),
        Op::Remove(what) => drop(world.rm_all(what)),
        Op::Make(what) => {
            if world.stat(what).is_err() && path(what).names().len() == 1 {
                world.put(what, b"");
            }
        }
        Op::Grant(on, which) => {
            let rights = [Rights::NONE, Rights::READ_OBJECT, Rights::OWN][*which];
            let grant = [AccessChange::Grant("u".into(), rights.into(), Scope::This)];
            drop(store.change_access(&world.admin, &at(on), &grant));
        }
    }
}

fn planted(ops: &[Op]) -> (World, Caller) {
    let world = world();
    let user = world.user("u");
    for collection in ["/c", "/h"] {
        world.mkdir(collection);
    }
    ["/a", "/b", "/c/x", "/c/y", "/h/z"].iter().for_each(|object| drop(world.put(object, b"")));
    for shared in ["/a", "/c", "/c/x"] {
        let grant = [AccessChange::Grant("u".into(), Rights::MODIFY_OBJECT.into(), Scope::This)];
        world.store.change_access(&world.admin, &at(shared), &grant).unwrap();
    }
    // One predicate has so many statements that they are not looked at together.
    let many = (0..20).map(|n| stated(PREDICATES[0], Term::string(format!("{n} of many"))));
    world.state("/h", &many.collect::<Vec<_>>());
    ops.iter().for_each(|op| apply(&world, &user, op));
    (world, user)
}

fn stated(predicate: &str, object: Term) -> Statement {
    Statement { subject: None, predicate: predicate.into(), object, unit: None }
}

/// Every description that the caller may read, with the resource.
fn descriptions(world: &World, caller: &Caller) -> Vec<(Stat, Graph)> {
    let all = world.store.walk(&world.admin, &at("/"), None, 1_000).unwrap().entries;
    let top = world.stat("/").unwrap();
    let read = |stat: Stat| world.store.graph(caller, &At::Id(stat.id)).ok();
    all.into_iter().chain([top]).filter_map(read).collect()
}

/// An IRI in the form used for comparison: absolute, and in one spelling.
fn absolute(own: &str, iri: &str) -> String {
    match path_of(iri) {
        _ if iri.is_empty() || iri.starts_with('#') => format!("{own}{iri}"),
        Some((path, fragment)) => iri_of(&path) + fragment,
        None => iri.to_owned(),
    }
}

/// The result of a full scan.
pub(crate) fn looked_up(world: &World, caller: &Caller, pattern: &Pattern) -> BTreeSet<Quad> {
    let mut found = BTreeSet::new();
    for (stat, graph) in descriptions(world, caller) {
        let own = iri_of(&stat.path);
        let wanted = |iri: &str| match iri.strip_prefix("cenote:id/") {
            Some(id) => {
                let stat = world.store.stat(caller, &At::Id(ResourceId(id.parse().unwrap())));
                stat.map_or_else(|_| iri.to_owned(), |stat| iri_of(&stat.path))
            }
            None => absolute("?", iri),
        };
        let holds = |statement: &&Statement| {
            let about = absolute(&own, statement.subject.as_deref().unwrap_or_default());
            pattern.of.is_none_or(|of| of == stat.id)
                && pattern.subject.as_deref().is_none_or(|subject| wanted(subject) == about)
                && pattern.predicate.as_ref().is_none_or(|it| *it == statement.predicate)
                && match (&pattern.object, &statement.object) {
                    (None, _) => true,
                    (Some(Term::Iri(iri)), Term::Iri(have)) => wanted(iri) == absolute(&own, have),
                    (Some(wanted), have) => wanted == have,
                }
        };
        let quad = |statement: &Statement| Quad { of: stat.id, statement: statement.clone() };
        found.extend(graph.iter().filter(holds).map(quad));
    }
    found
}

/// The result from the index; fails on duplicates.
pub(crate) fn found(world: &World, caller: &Caller, pattern: &Pattern) -> BTreeSet<Quad> {
    let reading = world.store.reading(caller).unwrap();
    let mut found = BTreeSet::new();
    for quad in reading.statements(pattern).unwrap() {
        if let Some(quad) = quad.unwrap() {
            assert!(found.insert(quad.clone()), "given twice: {quad:?}");
        }
    }
    found
}

/// The resources that link to a resource, in pages of one lookup each; fails on duplicates.
fn linking(world: &World, caller: &Caller, to: &At) -> BTreeSet<Quad> {
    let mut query = LinksQuery { to: to.clone(), after: None, limit: 3, effort: 1 };
    let mut found = BTreeSet::new();
    loop {
        let page = world.store.links(caller, &query).unwrap();
        for linking in page.items {
            for statement in linking.statements {
                let quad = Quad { of: linking.from.id, statement };
                assert!(found.insert(quad.clone()), "given twice: {quad:?}");
            }
        }
        query.after = page.next;
        if query.after.is_none() {
            return found;
        }
    }
}

fn has_attribute(attribute: &str, value: &str) -> Query {
    let condition = Condition {
        attribute: attribute.into(),
        comparison: Comparison::Equal,
        value: value.into(),
        unit: None,
    };
    Query {
        under: at("/"),
        conditions: vec![condition],
        name: None,
        kind: None,
        text: None,
        after: None,
        limit: 100,
        effort: Query::EFFORT,
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn statements_by_pattern_equal_those_of_a_full_scan(
        ops in vec(op(), 1..24),
        patterns in vec((0usize..12, option::of(subject()), option::of(select(&PREDICATES[..])), option::of(object())), 1..6),
    ) {
        let (world, user) = planted(&ops);
        for caller in [&world.admin, &user] {
            for (of, subject, predicate, object) in &patterns {
                let of = PATHS.get(*of).and_then(|of| world.stat(of).ok()).map(|stat| stat.id);
                let predicate = predicate.map(str::to_owned);
                let pattern =
                    Pattern { of, subject: subject.clone(), predicate, object: object.clone() };
                prop_assert_eq!(found(&world, caller, &pattern), looked_up(&world, caller, &pattern), "{:?}", pattern);
            }
            let everything = Pattern::default();
            prop_assert_eq!(found(&world, caller, &everything), looked_up(&world, caller, &everything));
        }
        assert_clean(&world.store);
    }

    #[test]
    fn each_statement_is_found_in_each_index_order(ops in vec(op(), 1..24)) {
        let (world, user) = planted(&ops);
        for caller in [&world.admin, &user] {
            for (stat, graph) in descriptions(&world, caller) {
                let own = iri_of(&stat.path);
                for statement in graph {
                    let object = match &statement.object {
                        Term::Iri(iri) => Term::Iri(absolute(&own, iri)),
                        other => other.clone(),
                    };
                    let subject = absolute(&own, statement.subject.as_deref().unwrap_or_default());
                    let quad = Quad { of: stat.id, statement: statement.clone() };
                    let by_object = Pattern { object: Some(object), ..Pattern::default() };
                    let by_both = Pattern { predicate: Some(statement.predicate.clone()), ..by_object.clone() };
                    let by_subject = Pattern { subject: Some(subject), ..Pattern::default() };
                    for pattern in [by_object, by_both, by_subject] {
                        prop_assert!(found(&world, caller, &pattern).contains(&quad), "{:?} of {:?}", pattern, quad);
                    }
                }
            }
        }
    }

    #[test]
    fn links_to_a_resource_equal_those_shown_with_its_path(ops in vec(op(), 1..24)) {
        let (world, user) = planted(&ops);
        for caller in [&world.admin, &user] {
            let all = descriptions(&world, caller);
            for (target, _) in &all {
                let leads_there = |statement: &&Statement| match &statement.object {
                    Term::Iri(iri) => path_of(iri).is_some_and(|(path, _)| path == target.path),
                    _ => false,
                };
                let of = |(stat, graph): &(Stat, Graph)| {
                    let quad = |it: &Statement| Quad { of: stat.id, statement: it.clone() };
                    graph.iter().filter(leads_there).map(quad).collect::<Vec<_>>()
                };
                let expected: BTreeSet<Quad> = all.iter().flat_map(of).collect();
                prop_assert_eq!(linking(&world, caller, &At::Id(target.id)), expected);
            }
        }
    }

    #[test]
    fn an_attribute_is_found_by_its_displayed_value(ops in vec(op(), 1..24)) {
        let (world, user) = planted(&ops);
        for caller in [&world.admin, &user] {
            let Ok(top) = world.store.stat(caller, &at("/")) else { continue };
            for (stat, _) in descriptions(&world, caller) {
                if stat.id == top.id {
                    continue;
                }
                for shown in world.store.avus(caller, &At::Id(stat.id)).unwrap() {
                    let query = has_attribute(&shown.attribute, &shown.value);
                    let page = world.store.search(caller, &query).unwrap();
                    prop_assert!(page.items.iter().any(|item| item.id == stat.id), "{:?} {:?}", shown, stat.path);
                    let reading = world.store.reading(caller).unwrap();
                    for attribute in [Some(shown.attribute.as_str()), None] {
                        let ids = reading.stating(attribute, Some(&shown.value), 1_000).unwrap().unwrap();
                        prop_assert!(ids.contains(&stat.id.0), "{:?}", shown);
                    }
                }
            }
        }
    }

    #[test]
    fn putting_back_a_description_changes_nothing(ops in vec(op(), 1..24)) {
        let (world, user) = planted(&ops);
        for caller in [&world.admin, &user] {
            for (stat, graph) in descriptions(&world, caller) {
                let before = world.rows();
                let put = |_: &Graph| Ok(graph.clone());
                world.store.change_graph(caller, &At::Id(stat.id), &Conditions::default(), put).unwrap();
                prop_assert_eq!(world.rows(), before);
            }
        }
    }
}

fn link(predicate: &str, to: &str) -> Statement {
    Statement {
        subject: None,
        predicate: predicate.into(),
        object: Term::Iri(to.into()),
        unit: None,
    }
}

fn graph(world: &World, caller: &Caller, of: &str) -> Vec<Statement> {
    world.store.graph(caller, &at(of)).unwrap().1.into_iter().collect()
}

/// Three resources, and a user who may read only `/from`.
fn linked() -> (World, Caller) {
    let world = world();
    let user = world.user("u");
    for path in ["/from", "/to", "/other"] {
        world.put(path, b"");
    }
    let grant = [AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::This)];
    world.store.change_access(&world.admin, &at("/from"), &grant).unwrap();
    (world, user)
}

#[test]
fn a_rename_keeps_every_link_without_rewriting_it() {
    let (world, _) = linked();
    world.mkdir("/far");
    world.state("/from", &[link("http://p/cites", "cenote:/to#part")]);
    let index = |world: &World| [b'I', b'i', b'q', b'G'].map(|table| world.table(table));
    let before = index(&world);
    world.mv("/to", "/far/a b").unwrap();
    assert_eq!(index(&world), before);
    assert_eq!(
        graph(&world, &world.admin, "/from"),
        [link("http://p/cites", "cenote:/far/a%20b#part")]
    );
    let [linking] =
        &linking(&world, &world.admin, &at("/far/a b")).into_iter().collect::<Vec<_>>()[..]
    else {
        panic!("one link")
    };
    assert_eq!(linking.of, world.stat("/from").unwrap().id);
    // The same for what the AVU view shows and changes.
    let shown = world.store.avus(&world.admin, &at("/from")).unwrap();
    assert_eq!(shown[0].value, "cenote:/far/a%20b#part");
    let remove = [cenote_store::AvuChange::Remove(shown[0].clone())];
    world.store.change_avus(&world.admin, &at("/from"), &remove, &Conditions::default()).unwrap();
    assert_eq!(graph(&world, &world.admin, "/from"), []);
}

/// The table of `docs/SEMANTICS.md`.
#[test]
fn links_with_hidden_removed_or_replaced_targets_are_shown_as_documented() {
    let (world, user) = linked();
    let id = world.stat("/to").unwrap().id;
    world.state("/from", &[link("http://p/cites", "cenote:/to")]);
    let shown = |world: &World, caller: &Caller| match &graph(world, caller, "/from")[..] {
        [Statement { object: Term::Iri(iri), .. }] => iri.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&world, &user), "cenote:/to", "hidden: as it was written");
    world.mv("/to", "/secret").unwrap();
    assert_eq!(shown(&world, &user), "cenote:/to", "hidden: the new name is not shown");
    assert_eq!(shown(&world, &world.admin), "cenote:/secret");
    world.mv("/from", "/to").unwrap();
    let shown_at = |world: &World, caller: &Caller| match &graph(world, caller, "/to")[..] {
        [Statement { object: Term::Iri(iri), .. }] => iri.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown_at(&world, &user), format!("cenote:id/{id}"), "the path is of something else");
    world.mv("/to", "/from").unwrap();
    world.keep_removed("/", 86_400);
    let removed = world.discard("/secret").id;
    assert_eq!(shown(&world, &world.admin), "cenote:/to", "in the trash: as it was written");
    let restored = world.store.restore_removed(&world.admin, removed, &RestoreOptions::default());
    assert_eq!(restored.unwrap().id, id);
    assert_eq!(shown(&world, &world.admin), "cenote:/secret", "restored");
    world.keep_removed("/", 0);
    world.rm_all("/secret").unwrap();
    assert_eq!(shown(&world, &world.admin), "cenote:/to", "removed: as it was written");
    world.put("/to", b"another one");
    assert_eq!(shown(&world, &world.admin), format!("cenote:id/{id}"));
    assert_eq!(shown(&world, &user), "cenote:/to");
    assert!(linking(&world, &world.admin, &at("/to")).is_empty(), "not of what came instead");
}

#[test]
fn links_do_not_reveal_hidden_resources() {
    let (world, user) = linked();
    world
        .store
        .change_graph(&user, &at("/from"), &Conditions::default(), |_| {
            Ok([link("http://p/1", "cenote:/to"), link("http://p/1", "cenote:/nothing")].into())
        })
        .unwrap();
    let texts = ["cenote:/nothing", "cenote:/to"].map(|iri| link("http://p/1", iri));
    assert_eq!(graph(&world, &user, "/from"), texts);
    let id = world.stat("/to").unwrap().id;
    for id in [id.0, 999_999] {
        let write = world.store.change_graph(&user, &at("/from"), &Conditions::default(), |_| {
            Ok([link("http://p/1", &format!("cenote:id/{id}"))].into())
        });
        assert_eq!(kind(write), ErrorKind::Invalid);
    }
    let query = LinksQuery { to: at("/to"), after: None, limit: 10, effort: 10 };
    assert_eq!(kind(world.store.links(&user, &query)), ErrorKind::NotFound);
}

#[test]
fn a_statement_about_the_resource_itself_is_recognised_under_any_name() {
    let (world, _) = linked();
    let id = world.stat("/from").unwrap().id;
    let about =
        |subject: String| Statement { subject: Some(subject), ..link("http://p/1", "http://x/1") };
    world.state("/from", &[about("cenote:/from".into()), about(format!("cenote:id/{id}#part"))]);
    assert_eq!(
        graph(&world, &world.admin, "/from"),
        [link("http://p/1", "http://x/1"), about("#part".into()),]
    );
}

/// A scan of the requested values, not of all values of the attribute.
#[test]
fn a_range_of_numbers_or_moments_is_a_range_of_the_index() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    for n in 0..600 {
        let to = format!("/{n}");
        world.put(&to, b"");
        world.describe(&to, "n", &format!("{n}.0"));
        world.describe(&to, "t", &format!("2020-01-01T00:{:02}:{:02}Z", n / 60, n % 60));
    }
    for (attribute, comparison, value) in [
        ("n", Comparison::GreaterOrEqual, "597"),
        ("n", Comparison::Less, "3e0"),
        ("t", Comparison::Greater, "2020-01-01T01:09:56+01:00"),
        ("t", Comparison::LessOrEqual, "2020-01-01T00:00:02Z"),
    ] {
        let mut query = has_attribute(attribute, value);
        query.conditions[0].comparison = comparison;
        query.limit = 3;
        query.effort = 20;
        let mut page = None;
        let cost = engine.cost(|| page = Some(world.store.search(&world.admin, &query).unwrap()));
        assert_eq!(page.unwrap().items.len(), 3, "{attribute} {value}");
        assert!(cost.reads() < 200, "{attribute} {value}: {cost:?}");
    }
}

/// An IRI as it is shown in a copy of `/c` at `/copy`.
fn as_in_copy(iri: &str) -> String {
    match path_of(iri) {
        Some((named, fragment)) if named.starts_with(&path("/c")) => {
            let copy = named.to_string().replacen("/c", "/copy", 1);
            iri_of(&path(&copy)) + fragment
        }
        _ => iri.to_owned(),
    }
}

fn statement_as_in_copy(statement: &Statement) -> Statement {
    let object = match &statement.object {
        Term::Iri(iri) => Term::Iri(as_in_copy(iri)),
        other => other.clone(),
    };
    let subject = statement.subject.as_deref().map(as_in_copy);
    Statement { subject, object, ..statement.clone() }
}

proptest! {
    #![proptest_config(cases(64))]

    /// Text with the IRI of a resource created later is not a link, and stays unchanged.
    #[test]
    fn a_copied_tree_is_described_by_its_own_paths(ops in vec(op(), 1..24)) {
        let (world, _) = planted(&ops);
        let recursive = CopyOptions { recursive: true, ..CopyOptions::default() };
        if world.store.copy(&world.admin, &at("/c"), &path("/copy"), recursive).is_err() {
            return Ok(());
        }
        let sources = descriptions(&world, &world.admin);
        for (stat, graph) in sources.into_iter().filter(|it| it.0.path.starts_with(&path("/c"))) {
            let (copy, _) = path_of(&as_in_copy(&iri_of(&stat.path))).unwrap();
            let (_, copied) = world.store.graph(&world.admin, &copy.into()).unwrap();
            for statement in &graph {
                let is_copied = copied.contains(&statement_as_in_copy(statement));
                prop_assert!(is_copied || copied.contains(statement), "{} {:?}", stat.path, statement);
            }
            prop_assert!(copied.len() <= graph.len());
        }
        assert_clean(&world.store);
    }
}

#[test]
fn links_within_a_copied_tree_refer_to_the_copies() {
    let world = world();
    world.mkdir("/c");
    world.mkdir("/c/d");
    for object in ["/c/x", "/c/d/y", "/out"] {
        world.put(object, b"");
    }
    let state = |of: &str, to: &[&str]| {
        let graph: Graph = to.iter().map(|to| link("http://p/1", to)).collect();
        let none = Conditions::default();
        world.store.change_graph(&world.admin, &at(of), &none, |_| Ok(graph.clone())).unwrap();
    };
    state("/c", &["cenote:/c/d/y#p", "cenote:/out"]);
    state("/c/x", &["cenote:/c/x", "cenote:/c", "cenote:/c/late"]);
    state("/c/d/y", &["cenote:/c/x"]);
    let copy = |from: &str, to: &str| {
        let recursive = CopyOptions { recursive: true, ..CopyOptions::default() };
        world.store.copy(&world.admin, &at(from), &path(to), recursive).unwrap();
    };
    copy("/c", "/k");
    copy("/c/x", "/alone");
    let shown = |of: &str| -> Vec<String> {
        graph(&world, &world.admin, of).iter().map(|it| it.object.text().to_owned()).collect()
    };
    assert_eq!(shown("/k"), ["cenote:/k/d/y#p", "cenote:/out"]);
    assert_eq!(shown("/k/x"), ["cenote:/c/late", "cenote:/k", "cenote:/k/x"], "text stays");
    assert_eq!(shown("/k/d/y"), ["cenote:/k/x"]);
    assert_eq!(shown("/alone"), ["cenote:/alone", "cenote:/c", "cenote:/c/late"]);
    assert_eq!(shown("/c"), ["cenote:/c/d/y#p", "cenote:/out"], "the source is as it was");
    world.mv("/k", "/l").unwrap();
    assert_eq!(shown("/l/d/y"), ["cenote:/l/x"], "they are links");
    assert_clean(&world.store);
}

/// An opening looks for statements with a meaning to it at each request, and hardly any resource has some.
#[test]
fn a_resource_that_no_rare_statement_names_costs_one_look_at_the_index() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    let named = |path: &str| Pattern {
        predicate: Some(PREDICATES[0].into()),
        object: Some(Term::Iri(format!("cenote:{path}"))),
        ..Pattern::default()
    };
    let (one, other) = (world.put("/one", b"").id, world.put("/other", b"").id);
    let cost = |path: &str, by: &[ResourceId]| {
        let reading = world.store.reading(&world.admin).unwrap();
        reading.stat(&at(path)).unwrap();
        engine.cost(|| {
            let quads = reading.statements(&named(path)).unwrap().map(|quad| quad.unwrap());
            let found: Vec<_> = quads.flatten().map(|quad| quad.of).collect();
            assert_eq!(found, by, "{path}");
        })
    };
    assert_eq!(cost("/one", &[]).scans, 1);
    world.state("/one", &[stated(PREDICATES[0], Term::Iri("cenote:/other".into()))]);
    assert_eq!(cost("/one", &[]).scans, 1);
    assert_eq!(cost("/other", &[one]).scans, 1);
    let many = (0..20).map(|n| stated(PREDICATES[0], Term::string(format!("{n}"))));
    world.state("/other", &many.collect::<Vec<_>>());
    assert!(cost("/one", &[]).scans > 1);
    assert_eq!(found(&world, &world.admin, &named("/other")).len(), 1);
    assert_ne!(one, other);
}
