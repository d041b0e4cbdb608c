//! Abandoned work stops.

use cenote_store::{
    AccessChange, At, AvuChange, Conditions, CopyOptions, ErrorKind, Query, Rights, Scope, Waiting,
};

use crate::world::{World, at, avu, kind, path, populated, world};

type Operation = (&'static str, fn(&World) -> cenote_store::Result<()>);

/// Operations that read or change many resources, or one of any size.
const OPERATIONS: &[Operation] = &[
    ("walk", |w| w.store.walk(&w.admin, &at("/"), None, 10).map(drop)),
    ("names", |w| w.store.names(&w.admin, &at("/"), true, None, 10).map(drop)),
    ("list", |w| w.store.list(&w.admin, &at("/"), &Default::default()).map(drop)),
    ("usage", |w| w.store.usage(&w.admin, &at("/")).map(drop)),
    ("search", |w| {
        let query = Query {
            under: at("/"),
            conditions: Vec::new(),
            name: None,
            kind: None,
            text: None,
            after: None,
            limit: 10,
            effort: Query::EFFORT,
        };
        w.store.search(&w.admin, &query).map(drop)
    }),
    ("a query", |w| {
        let reading = w.store.reading(&w.admin)?;
        reading.below(&at("/"))?.try_for_each(|entry| entry.map(drop))
    }),
    ("a change of attributes", |w| {
        let change = [AvuChange::Add(avu("k", "w"))];
        w.store.change_avus(&w.admin, &at("/c/x"), &change, &Conditions::default()).map(drop)
    }),
    ("a change of access", |w| {
        let change = [AccessChange::Grant("u".into(), Rights::OWN.into(), Scope::This)];
        w.store.change_access(&w.admin, &at("/c"), &change).map(drop)
    }),
    ("copy", |w| {
        let recursive = CopyOptions { recursive: true, ..CopyOptions::default() };
        w.store.copy(&w.admin, &at("/c"), &path("/d"), recursive).map(drop)
    }),
    ("move", |w| w.mv("/c", "/d").map(drop)),
    ("removal", |w| w.rm_all("/c")),
    ("open", |w| w.store.open(&w.admin, &at("/c/x"), &Default::default()).map(drop)),
    ("by id", |w| w.store.stat(&w.admin, &At::Id(w.stat("/c")?.id)).map(drop)),
];

#[test]
fn abandoned_operations_stop_and_change_nothing_more() {
    let world = world_with_all();
    let before = world.rows();
    for (name, operation) in OPERATIONS {
        let waiting = Waiting::default();
        let work = waiting.work();
        drop(waiting);
        assert_eq!(kind(work.run(|| operation(&world))), ErrorKind::Unavailable, "{name}");
        assert_eq!(world.rows(), before, "{name}");
    }
    for (name, operation) in OPERATIONS {
        let (world, waiting) = (world_with_all(), Waiting::default());
        waiting.work().run(|| operation(&world)).expect(name);
    }
}

fn world_with_all() -> World {
    let world = world();
    populated(&world);
    world
}
