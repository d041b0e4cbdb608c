//! Removed resources have the same rows however a query finds them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::MemoryEngine;
use cenote_query::genquery::{Limits, Options, Trash, Zone, genquery1};
use cenote_store::{
    At, Avu, AvuChange, Caller, Conditions, CreateOptions, Draft, Expected, Parts, PutOptions,
    Received, RemoveOptions, Store, StorePath,
};
use proptest::prelude::*;

fn path(path: &str) -> StorePath {
    path.parse().unwrap()
}

struct World {
    store: Store,
    rods: Caller,
}

impl World {
    fn new() -> Self {
        let parts = Parts::new(MemoryEngine::default(), Place::memory("main"));
        let store = Store::create_new(parts, "rods", "rods").unwrap();
        let rods = store.authenticate_password("rods", "rods").unwrap();
        store.make_home(&rods, "rods").unwrap();
        Self { store, rods }
    }

    fn put(&self, at: &str) {
        let (above, _) = path(at).split_last().map(|(above, name)| (above, name.clone())).unwrap();
        let options = CreateOptions { parents: true, exist_ok: true, ..CreateOptions::default() };
        // A name in the path may be an object; the put then fails.
        if self.store.create(&self.rods, &above, Draft::Collection, options).is_err() {
            return;
        }
        let bytes = Received::inline(b"x", &Expected::default()).unwrap();
        let Ok(stat) = self.store.publish(&self.rods, path(at), &bytes, &PutOptions::default())
        else {
            return;
        };
        let avu = Avu { attribute: "k".into(), value: at.into(), unit: None };
        let change = [AvuChange::Add(avu)];
        let any = Conditions::default();
        self.store.change_avus(&self.rods, &At::Id(stat.id), &change, &any).unwrap();
    }

    fn remove(&self, at: &str) {
        let keep = Some(Duration::from_secs(3_600));
        let options = RemoveOptions { recursive: true, keep, ..RemoveOptions::default() };
        // The history may remove a missing resource.
        let _ = self.store.remove(&self.rods, &path(at).into(), &options);
    }

    fn query(&self, query: &str) -> Vec<Vec<String>> {
        let reading = self.store.reading(&self.rods).unwrap();
        let zone = Zone { name: "z".into(), ..Zone::default() };
        let options = Options { count: usize::MAX, ..Options::default() };
        genquery1(&reading, &zone, query, options, Limits::NONE).unwrap()
    }
}

/// Few paths, so that they coincide: in the home, outside, and in the trash collection of an earlier
/// version.
const PATHS: &str = "/(home/rods|lab|trash/home/rods)(/[ab]){1,3}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn each_removed_resource_has_one_path_for_all_queries(
        history in proptest::collection::vec((any::<bool>(), PATHS), 1..24)
    ) {
        let world = World::new();
        for (puts, at) in &history {
            if *puts { world.put(at) } else { world.remove(at) }
        }
        let all = world.query("select COLL_NAME, DATA_NAME, DATA_ID, COLL_ID, META_DATA_ATTR_VALUE");
        let mut paths: Vec<_> = all.iter().map(|row| (&row[0], &row[1])).collect();
        paths.dedup();
        prop_assert_eq!(paths.len(), all.len(), "no two have one path");
        let reading = world.store.reading(&world.rods).unwrap();
        let (trash, removed) = (Trash::read(&reading).unwrap(), reading.removed());
        for item in removed.filter_map(|item| item.unwrap()) {
            let stat = trash.stat_of(item.id).unwrap().unwrap();
            prop_assert_eq!(trash.stat(&stat.path).unwrap().map(|stat| stat.id), Some(item.id));
            prop_assert!(reading.stat(&(&stat.path).into()).unwrap().is_none());
        }
        for row in &all {
            let (collection, name, value) = (&row[0], &row[1], &row[4]);
            let own: Vec<_> = all.iter().filter(|row| row[0] == *collection).cloned().collect();
            let columns = "select COLL_NAME, DATA_NAME, DATA_ID, COLL_ID, META_DATA_ATTR_VALUE where";
            let there = format!("COLL_NAME = '{collection}'");
            prop_assert_eq!(&world.query(&format!("{columns} {there}")), &own);
            let this = world.query(&format!("{columns} {there} and DATA_NAME = '{name}'"));
            prop_assert_eq!(&this, &vec![row.clone()]);
            let pattern = world.query(&format!("{columns} COLL_NAME like '{collection}%'"));
            prop_assert!(pattern.contains(row));
            let stated = world.query(&format!(
                "{columns} META_DATA_ATTR_NAME = 'k' and META_DATA_ATTR_VALUE = '{value}'"
            ));
            prop_assert!(stated.contains(row));
            let above = world.query(&format!("select COLL_NAME, COLL_ID where {there}"));
            prop_assert_eq!(above, vec![vec![collection.clone(), row[3].clone()]]);
        }
    }
}
