//! What a collection requires of links: the table of `docs/SEMANTICS.md`, its edges, and random histories against a model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::Place;
use cenote_kv::{CountingEngine, MemoryEngine};
use cenote_store::{
    At, AttributeChange, AvuChange, Caller, Conditions, Dangling, ErrorKind, Graph, LinkIntegrity,
    ResourceId, RestoreOptions, Result, Retention, Rights, Scope, Stat, Statement, Term,
    Versioning, iri_of, path_of,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::changesets::{begun, commit};
use crate::world::{World, assert_clean, at, cases, kind, path, world, world_on};

const CITES: &str = "http://p/cites";

fn link(to: &str) -> Statement {
    let object = Term::Iri(to.into());
    Statement { subject: None, predicate: CITES.into(), object, unit: None }
}

fn require(world: &World, of: &str, integrity: LinkIntegrity) {
    let link_integrity = Some(Some(integrity));
    let change = AttributeChange { link_integrity, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at(of), &change).unwrap();
}

fn cite(world: &World, caller: &Caller, from: &At, to: &str) -> Result<Stat> {
    let add = |old: &Graph| Ok(old.iter().cloned().chain([link(to)]).collect());
    world.store.change_graph(caller, from, &Conditions::default(), add)
}

/// The link targets in the description of `from`, as seen by the caller.
fn cited(world: &World, caller: &Caller, from: &At) -> BTreeSet<String> {
    let (_, graph) = world.store.graph(caller, from).unwrap();
    graph.iter().map(|statement| statement.object.text().to_owned()).collect()
}

fn iris<const N: usize>(iris: [&str; N]) -> BTreeSet<String> {
    iris.map(str::to_owned).into()
}

/// A collection with this setting and an object in it.
fn lab(integrity: LinkIntegrity) -> World {
    let world = world();
    world.mkdir("/lab");
    world.put("/lab/d", b"");
    require(&world, "/lab", integrity);
    world
}

/// The table of `docs/SEMANTICS.md`: a dangling link is written; its target is created, and renamed.
#[test]
fn a_dangling_link_is_text_or_bound_late_or_refused() {
    use LinkIntegrity::{Lenient, None, Strict};
    for (integrity, expected) in [
        (None, Ok(["cenote:/new", "cenote:/new", "cenote:/new"])),
        (Lenient, Ok(["cenote:/new", "cenote:/new", "cenote:/renamed"])),
        (Strict, Err(ErrorKind::Dangling)),
    ] {
        let world = lab(integrity);
        let before = world.rows();
        let written = cite(&world, &world.admin, &at("/lab/d"), "cenote:/new");
        let Ok(expected) = expected else {
            let error = written.unwrap_err();
            assert_eq!((error.kind(), error.hint().is_some()), (ErrorKind::Dangling, true));
            assert_eq!(world.rows(), before, "nothing is written");
            continue;
        };
        let shown = |world: &World| cited(world, &world.admin, &at("/lab/d"));
        assert_eq!(shown(&world), iris([expected[0]]), "{integrity:?}: written");
        world.put("/new", b"");
        assert_eq!(shown(&world), iris([expected[1]]), "{integrity:?}: there");
        world.mv("/new", "/renamed").unwrap();
        assert_eq!(shown(&world), iris([expected[2]]), "{integrity:?}: renamed");
        assert_clean(&world.store);
    }
}

/// A removed resource stays linked under each setting, and a removal is never refused.
#[test]
fn a_removal_leaves_links_unchanged_under_each_setting() {
    use LinkIntegrity::{Lenient, None, Strict};
    for integrity in [None, Lenient, Strict] {
        let world = lab(integrity);
        world.keep_removed("/", 3_600);
        let id = world.put("/to", b"").id;
        cite(&world, &world.admin, &at("/lab/d"), "cenote:/to").unwrap();
        let shown = || cited(&world, &world.admin, &at("/lab/d"));
        let item = world.discard("/to");
        assert_eq!(shown(), iris(["cenote:/to"]), "{integrity:?}");
        let elsewhere = RestoreOptions { to: Some(path("/restored")), parents: false };
        world.store.restore_removed(&world.admin, item.id, &elsewhere).unwrap();
        assert_eq!(shown(), iris(["cenote:/restored"]), "{integrity:?}");
        world.keep_removed("/", 0);
        world.rm("/restored").unwrap();
        assert_eq!(shown(), iris(["cenote:/to"]), "{integrity:?}");
        world.put("/to", b"another");
        assert_eq!(shown(), iris([&format!("cenote:id/{id}")]), "{integrity:?}");
        assert_clean(&world.store);
    }
}

#[test]
fn the_nearest_collection_decides_and_old_statements_are_kept() {
    let world = lab(LinkIntegrity::Strict);
    for free in ["/lab/free", "/lab/free/deep"] {
        world.mkdir(free);
    }
    world.put("/lab/free/deep/d", b"");
    require(&world, "/lab/free", LinkIntegrity::None);
    cite(&world, &world.admin, &at("/lab/free/deep/d"), "cenote:/none").unwrap();
    // Existing statements were written before, and may be written again.
    world.mv("/lab/free/deep/d", "/lab/e").unwrap();
    cite(&world, &world.admin, &at("/lab/e"), "cenote:/none").unwrap();
    cite(&world, &world.admin, &at("/lab/e"), "cenote:/lab/d").unwrap();
    world.cp("/lab/e", "/lab/f").unwrap();
    assert_eq!(cited(&world, &world.admin, &at("/lab/f")), iris(["cenote:/lab/d", "cenote:/none"]));
    for refused in ["cenote:/lab/none", "cenote:/lab/none#part"] {
        assert_eq!(kind(cite(&world, &world.admin, &at("/lab/e"), refused)), ErrorKind::Dangling);
    }
    let by_word = [AvuChange::Link("see".into(), path("/none"))];
    let changed =
        world.store.change_avus(&world.admin, &at("/lab/d"), &by_word, &Conditions::default());
    assert_eq!(kind(changed), ErrorKind::Dangling);
    // Other IRIs, parts of the resource itself, and the text of attributes are not links.
    for taken in ["http://x/1", "#part", "cenote:attribute/x"] {
        cite(&world, &world.admin, &at("/lab/d"), taken).unwrap();
    }
    world.describe("/lab/d", "see", "cenote:/none");
    let inherited = AttributeChange { link_integrity: Some(None), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/lab"), &inherited).unwrap();
    cite(&world, &world.admin, &at("/lab/d"), "cenote:/none").unwrap();
    assert_clean(&world.store);
}

fn grant(world: &World, user: &str, on: &str, rights: Rights) {
    world.grant(on, user, rights, Scope::This);
}

/// Links to hidden resources are refused like links to missing ones; text is bound only to resources that the owner of
/// the description may see.
#[test]
fn refusals_and_late_links_do_not_reveal_hidden_resources() {
    let world = lab(LinkIntegrity::Strict);
    let user = world.user("u");
    world.put("/hidden", b"");
    grant(&world, "u", "/lab/d", Rights::OWN);
    let refused = |to: &str| cite(&world, &user, &at("/lab/d"), to).unwrap_err().to_string();
    assert_eq!(refused("cenote:/hidden").replace("hidden", "missing"), refused("cenote:/missing"));
    require(&world, "/lab", LinkIntegrity::Lenient);
    let owner = AttributeChange { owner: Some("u".into()), ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/lab/d"), &owner).unwrap();
    cite(&world, &user, &at("/lab/d"), "cenote:/late").unwrap();
    world.put("/late", b"");
    world.mv("/late", "/moved").unwrap();
    for caller in [&user, &world.admin] {
        assert_eq!(cited(&world, caller, &at("/lab/d")), iris(["cenote:/late"]));
    }
    // Now the owner can see a resource created there.
    grant(&world, "u", "/moved", Rights::READ_OBJECT);
    world.mv("/moved", "/late").unwrap();
    world.mv("/late", "/moved").unwrap();
    assert_eq!(cited(&world, &user, &at("/lab/d")), iris(["cenote:/moved"]));
    assert_clean(&world.store);
}

/// Nor the clock of the description: what is shown is the same.
#[test]
fn late_binding_updates_no_timestamp_creates_no_version_and_keeps_existing_ones() {
    let world = lab(LinkIntegrity::Lenient);
    let versioning = Some(Some(Versioning::EachChange(Retention::default())));
    let change = AttributeChange { versioning, ..AttributeChange::default() };
    world.store.set_attributes(&world.admin, &at("/lab"), &change).unwrap();
    for to in ["http://x/1", "cenote:/new", "http://x/2"] {
        cite(&world, &world.admin, &at("/lab/d"), to).unwrap();
    }
    let before = world.stat("/lab/d").unwrap();
    world.put("/new", b"");
    assert_eq!(world.stat("/lab/d").unwrap(), before);
    let versions = world.store.versions(&world.admin, &at("/lab/d")).unwrap();
    let expected = [iris(["http://x/1", "cenote:/new"]), iris(["http://x/1"]), iris([])];
    for (version, expected) in versions.iter().zip(expected) {
        world.store.restore_version(&world.admin, &at("/lab/d"), version.version).unwrap();
        assert_eq!(cited(&world, &world.admin, &at("/lab/d")), expected);
    }
    assert_eq!(versions.len(), 3);
    assert_clean(&world.store);
}

#[test]
fn links_in_a_change_set_can_refer_to_resources_created_in_it() {
    let world = lab(LinkIntegrity::Strict);
    require(&world, "/", LinkIntegrity::Lenient);
    world.put("/d", b"");
    let (set, id) = begun(&world);
    cite(&set, &set.admin, &at("/d"), "cenote:/new").unwrap();
    assert_eq!(kind(cite(&set, &set.admin, &at("/lab/d"), "cenote:/new")), ErrorKind::Dangling);
    set.put("/new", b"");
    cite(&set, &set.admin, &at("/lab/d"), "cenote:/new").unwrap();
    commit(&world, id).unwrap();
    world.mv("/new", "/renamed").unwrap();
    for from in ["/d", "/lab/d"] {
        assert_eq!(cited(&world, &world.admin, &at(from)), iris(["cenote:/renamed"]));
    }
    assert_clean(&world.store);
}

#[test]
fn text_in_more_descriptions_than_a_commit_binds_is_bound_by_a_job() {
    let world = world();
    world.mkdir("/lab");
    require(&world, "/lab", LinkIntegrity::Lenient);
    let paths: Vec<String> = (0..1_005).map(|n| format!("/lab/d{n}")).collect();
    for path in &paths {
        world.put(path, b"");
        cite(&world, &world.admin, &at(path), "cenote:/late").unwrap();
        cite(&world, &world.admin, &at(path), "cenote:/late/below").unwrap();
    }
    world.mkdir("/late");
    world.put("/late/below", b"");
    assert!(world.store.pending_jobs().unwrap() > 0);
    world.store.run_jobs().unwrap();
    assert_eq!(world.store.pending_jobs().unwrap(), 0);
    world.mv("/late", "/moved").unwrap();
    for path in &paths {
        let wanted = iris(["cenote:/moved", "cenote:/moved/below"]);
        assert_eq!(cited(&world, &world.admin, &at(path)), wanted, "{path}");
    }
    assert_clean(&world.store);
}

/// A put under late binding, with nothing to bind, costs one more read; otherwise none (`round_trips`).
#[test]
fn late_binding_costs_one_scan_per_created_resource() {
    let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
    let world = world_on(engine.clone(), Place::memory("main"));
    world.mkdir("/lab");
    let made = |to: &str| {
        let cost = engine.cost(|| drop(world.mkdir(to)));
        (cost.snapshots, cost.reads(), cost.commits)
    };
    made("/lab/first");
    require(&world, "/lab", LinkIntegrity::Strict);
    assert_eq!(made("/lab/a"), (1, 1, 1));
    require(&world, "/lab", LinkIntegrity::Lenient);
    assert_eq!(made("/lab/b"), (1, 3, 1));
}

#[derive(Debug, Clone)]
enum Op {
    Make(&'static str, bool),
    Move(&'static str, &'static str),
    Remove(&'static str),
    Restore(Index),
    Cite(&'static str, &'static str),
    Forget(&'static str, Index),
    Require(&'static str, LinkIntegrity),
    Reopen,
}

const PATHS: [&str; 8] = ["/a", "/b", "/a/x", "/a/y", "/a/x/z", "/b/x", "/b/x/z", "/a b"];

fn op() -> impl Strategy<Value = Op> {
    use LinkIntegrity::{Lenient, None, Strict};
    let paths = || select(&PATHS[..]);
    let settings = select(vec![None, Lenient, Lenient, Strict]);
    let collections = select(vec!["/", "/a", "/b", "/a/x"]);
    prop_oneof![
        6 => (paths(), any::<bool>()).prop_map(|(at, object)| Op::Make(at, object)),
        5 => (paths(), paths()).prop_map(|(from, to)| Op::Move(from, to)),
        2 => paths().prop_map(Op::Remove),
        2 => any::<Index>().prop_map(Op::Restore),
        8 => (paths(), paths()).prop_map(|(from, to)| Op::Cite(from, to)),
        1 => (paths(), any::<Index>()).prop_map(|(from, which)| Op::Forget(from, which)),
        2 => (collections, settings).prop_map(|(of, integrity)| Op::Require(of, integrity)),
        1 => Just(Op::Reopen),
    ]
}

/// A path as it was written, and what it is bound to.
type Reference = (&'static str, Option<ResourceId>);

struct Model {
    world: World,
    settings: BTreeMap<ResourceId, LinkIntegrity>,
    references: BTreeMap<ResourceId, BTreeSet<Reference>>,
    trash: Vec<ResourceId>,
}

impl Model {
    fn new() -> Self {
        let world = world();
        world.keep_removed("/", 3_600);
        // Trees to be moved, so that most histories have something to bind.
        ["/a", "/a/x", "/b"].iter().for_each(|tree| drop(world.mkdir(tree)));
        ["/a/x/z", "/b/x", "/a b"].iter().for_each(|object| drop(world.put(object, b"")));
        require(&world, "/", LinkIntegrity::Lenient);
        let settings = BTreeMap::from([(world.stat("/").unwrap().id, LinkIntegrity::Lenient)]);
        Self { world, settings, references: BTreeMap::new(), trash: Vec::new() }
    }

    fn id(&self, at: &str) -> Option<ResourceId> {
        self.world.stat(at).ok().map(|stat| stat.id)
    }

    fn live(&self) -> Vec<Stat> {
        let World { store, admin, .. } = &self.world;
        store.walk(admin, &at("/"), None, 1_000).unwrap().entries
    }

    fn integrity(&self, of: &Stat) -> LinkIntegrity {
        let mut all = self.live();
        all.push(self.world.stat("/").unwrap());
        all.retain(|stat| of.path.starts_with(&stat.path));
        all.sort_by_key(|stat| std::cmp::Reverse(stat.path.names().len()));
        all.iter().find_map(|stat| self.settings.get(&stat.id).copied()).unwrap_or_default()
    }

    /// A resource was created at this path.
    fn came(&mut self, to: &str) {
        let to = path(to);
        for stat in self.live() {
            if self.integrity(&stat) != LinkIntegrity::Lenient {
                continue;
            }
            let bind = |(text, bound): Reference| {
                let there = bound.is_none() && path(text).starts_with(&to);
                (text, bound.or_else(|| self.id(text).filter(|_| there)))
            };
            let references = self.references.get(&stat.id).cloned().unwrap_or_default();
            let bound = references.into_iter().map(bind).collect();
            self.references.insert(stat.id, bound);
        }
    }

    fn shown(&self, (text, bound): Reference) -> String {
        let World { store, admin, .. } = &self.world;
        let Some(id) = bound else { return iri_of(&path(text)) };
        match store.stat(admin, &At::Id(id)) {
            Ok(stat) => iri_of(&stat.path),
            Err(_) if self.id(text).is_some() => format!("cenote:id/{id}"),
            Err(_) => iri_of(&path(text)),
        }
    }

    fn run(&mut self, op: &Op) {
        let World { store, admin, .. } = &self.world;
        match op {
            Op::Make(to, object) => {
                let made = match object {
                    true => self.world.try_put(admin, to, b"", Default::default()),
                    false => self.world.try_mkdir(admin, to),
                };
                // An existing object is overwritten.
                if made.is_ok_and(|made| made.resource.revision == 1) {
                    self.came(to);
                }
            }
            Op::Move(from, to) => {
                if from != to && self.world.mv(from, to).is_ok() {
                    self.came(to);
                }
            }
            Op::Remove(what) => {
                if let Some(id) = self.id(what) {
                    self.world.discard(what);
                    self.trash.push(id);
                }
            }
            Op::Restore(which) if !self.trash.is_empty() => {
                let which = which.index(self.trash.len());
                let id = self.trash[which];
                if let Ok(stat) = store.restore_removed(admin, id, &RestoreOptions::default()) {
                    self.trash.remove(which);
                    self.came(&stat.path.to_string());
                }
            }
            Op::Restore(_) => {}
            Op::Cite(from, to) => self.cite(from, to),
            Op::Forget(from, which) => self.forget(from, which),
            Op::Require(of, integrity) => {
                if let Some(id) = self.id(of) {
                    require(&self.world, of, *integrity);
                    self.settings.insert(id, *integrity);
                }
            }
            Op::Reopen => self.world = self.world.reopened(),
        }
    }

    fn cite(&mut self, from: &str, to: &'static str) {
        let Ok(stat) = self.world.stat(from) else { return };
        let references = self.references.get(&stat.id).cloned().unwrap_or_default();
        let iri = iri_of(&path(to));
        let answer = cite(&self.world, &self.world.admin, &at(from), &iri).map(drop);
        let is_shown = references.iter().any(|reference| self.shown(*reference) == iri);
        let bound = self.id(to);
        if !is_shown && bound.is_none() && self.integrity(&stat) == LinkIntegrity::Strict {
            assert_eq!(kind(answer), ErrorKind::Dangling);
            return;
        }
        answer.unwrap();
        if !is_shown {
            self.references.entry(stat.id).or_default().insert((to, bound));
        }
    }

    fn forget(&mut self, from: &str, which: &Index) {
        let Some(id) = self.id(from) else { return };
        let references = self.references.get(&id).cloned().unwrap_or_default();
        let shown: BTreeSet<_> = references.iter().map(|it| self.shown(*it)).collect();
        if shown.is_empty() {
            return;
        }
        let gone = shown.iter().nth(which.index(shown.len())).unwrap();
        let forget =
            |old: &Graph| Ok(old.iter().filter(|it| it.object.text() != gone).cloned().collect());
        let World { store, admin, .. } = &self.world;
        store.change_graph(admin, &at(from), &Conditions::default(), forget).unwrap();
        let kept = references.into_iter().filter(|it| self.shown(*it) != *gone).collect();
        self.references.insert(id, kept);
    }

    fn judge(&self, step: &Op) {
        for stat in self.live() {
            let references = self.references.get(&stat.id).cloned().unwrap_or_default();
            // The object of a statement about the resource itself is shown like any other.
            let expected: BTreeSet<_> = references.iter().map(|it| self.shown(*it)).collect();
            let seen = cited(&self.world, &self.world.admin, &At::Id(stat.id));
            assert_eq!(seen, expected, "{} after {step:?}", stat.path);
            assert!(seen.iter().all(|iri| iri.starts_with("cenote:id/") || path_of(iri).is_some()));
        }
        assert_eq!(self.unbound(), self.indexed(), "after {step:?}");
    }

    /// The dangling texts and their descriptions, including those in the trash.
    fn unbound(&self) -> BTreeSet<(String, ResourceId)> {
        let of = |(id, references): (&ResourceId, &BTreeSet<Reference>)| {
            let texts = references.iter().filter(|(_, bound)| bound.is_none());
            texts.map(|(text, _)| ((*text).to_owned(), *id)).collect::<Vec<_>>()
        };
        self.references.iter().flat_map(of).collect()
    }

    /// The same according to the index, which distinguishes text from links that are displayed alike.
    fn indexed(&self) -> BTreeSet<(String, ResourceId)> {
        let parts = |key: &Bytes| {
            let (path, id) = key[1..].split_at(key.len() - 10);
            let id = u64::from_be_bytes(id[1..].try_into().unwrap());
            (String::from_utf8(path.to_vec()).unwrap(), ResourceId(id))
        };
        self.world.table(b'l').iter().map(parts).collect()
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn links_are_bound_refused_and_shown_as_in_the_model(ops in vec(op(), 1..40)) {
        let mut model = Model::new();
        for op in &ops {
            model.run(op);
            model.judge(op);
        }
        assert_clean(&model.world.store);
    }
}

/// The links to nothing that an opening leaves out where no collection has a setting are those that others show, kept by changes of the
/// rest.
#[test]
fn an_opening_may_leave_out_links_to_nothing_where_no_collection_has_a_setting() {
    use LinkIntegrity::{Lenient, None, Strict};
    for setting in [Option::None, Some(None), Some(Lenient), Some(Strict)] {
        let world = world();
        world.keep_removed("/", 3_600);
        world.mkdir("/lab");
        world.put("/lab/d", b"");
        let id = world.put("/to", b"").id;
        if let Some(integrity) = setting {
            require(&world, "/lab", integrity);
        }
        let change = |to: &str| {
            let wanted = Graph::from([link(to), link("urn:x")]);
            world.store.change_graph_with(
                &world.admin,
                &at("/lab/d"),
                &Conditions::default(),
                Dangling::LeftOut,
                |_| Ok(wanted.clone()),
            )
        };
        let seen = || {
            let reading = world.store.reading(&world.admin).unwrap().ruled(Dangling::LeftOut);
            let (_, graph) = reading.graph(&at("/lab/d")).unwrap();
            graph.iter().map(|it| it.object.text().to_owned()).collect::<BTreeSet<_>>()
        };
        let all = || cited(&world, &world.admin, &at("/lab/d"));
        change("cenote:/to").unwrap();
        assert_eq!(seen(), iris(["cenote:/to", "urn:x"]));
        let item = world.discard("/to");
        let is_said = setting.is_some();
        assert_eq!(all(), iris(["cenote:/to", "urn:x"]), "others show it");
        assert_eq!(seen().contains("cenote:/to"), is_said, "{setting:?}");
        let written = change("cenote:/none");
        assert_eq!(written.is_err(), setting == Some(Strict), "{setting:?}");
        if setting != Some(Strict) {
            assert_eq!(seen().contains("cenote:/none"), is_said, "{setting:?}");
            assert_eq!(all().contains("cenote:/to"), !is_said, "what is not shown is not replaced");
        }
        let back = RestoreOptions { to: Some(path("/back")), parents: false };
        world.store.restore_removed(&world.admin, item.id, &back).unwrap();
        assert_eq!(item.id, id);
        let is_linked = setting.is_none() || setting == Some(Strict);
        assert_eq!(seen().contains("cenote:/back"), is_linked, "{setting:?}");
        assert_clean(&world.store);
    }
}

/// All links of a description are looked up together, whether they were met before or not.
#[test]
fn writing_many_links_takes_as_many_calls_as_writing_two() {
    let costs = [2, 100].map(|most| {
        let engine = CountingEngine::new(Arc::new(MemoryEngine::new()));
        let world = world_on(engine.clone(), Place::memory("main"));
        world.mkdir("/lab");
        (0..most).for_each(|number| drop(world.put(&format!("/lab/{number}"), b"")));
        world.put("/d", b"");
        let links = (0..most).map(|number| link(&format!("cenote:/lab/{number}")));
        let graph: Graph = links.chain([link("cenote:/lab/none")]).collect();
        let write = |graph: &Graph| {
            let change = |_: &Graph| Ok(graph.clone());
            world.store.change_graph(&world.admin, &at("/d"), &Conditions::default(), change)
        };
        let change = |graph: &Graph| {
            let cost = engine.cost(|| drop(write(graph).unwrap()));
            [cost.snapshots, cost.reads(), cost.commits]
        };
        let empty = Graph::new();
        [change(&graph), change(&empty), change(&graph), change(&empty)]
    });
    println!("{costs:?}");
    assert_eq!(costs[0], costs[1]);
}
