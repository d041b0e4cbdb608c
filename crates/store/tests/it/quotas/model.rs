//! Random histories: after each step, each quota equals a recount over the tree and the trash.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use cenote_store::{
    At, CopyOptions, Kind, MoveOptions, Prune, PutOptions, QuotaOf, RemoveOptions, ResourceId,
    RestoreOptions, Retention, Stat, Versioning, Where,
};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{bytes, hard, on, resources};
use crate::world::{World, assert_clean, at, cases, noise, path, world};

#[derive(Debug, Clone)]
enum Step {
    Mkdir(String),
    Put(String, usize),
    Append(String, usize),
    Cut(String, u64),
    Remove(String, bool),
    Move(String, String),
    Copy(String, String),
    Restore(Index, Option<String>),
    Empty(Index),
    Describe(String),
    KeepVersion(String),
    Prune(String, u32),
    Forget(String, Index),
    Return(String, Index),
    Versioning(String, bool),
    Set(String, u64, bool),
    Unset(String),
    Expire,
    Reopen,
    Jobs,
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![2 => "/[ab]", 3 => "/[ab]/[abc]", 3 => "/[ab]/[abc]/[ab]"]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => name().prop_map(Step::Mkdir),
        6 => (name(), 0..150usize).prop_map(|(to, size)| Step::Put(to, size)),
        2 => (name(), 0..100usize).prop_map(|(to, size)| Step::Append(to, size)),
        1 => (name(), 0..100u64).prop_map(|(to, size)| Step::Cut(to, size)),
        4 => (name(), any::<bool>()).prop_map(|(of, forever)| Step::Remove(of, forever)),
        6 => (name(), name()).prop_map(|(from, to)| Step::Move(from, to)),
        2 => (name(), name()).prop_map(|(from, to)| Step::Copy(from, to)),
        3 => (any::<Index>(), proptest::option::of(name()))
            .prop_map(|(which, to)| Step::Restore(which, to)),
        1 => any::<Index>().prop_map(Step::Empty),
        1 => name().prop_map(Step::KeepVersion),
        3 => name().prop_map(Step::Describe),
        1 => (name(), 0..3u32).prop_map(|(of, keep)| Step::Prune(of, keep)),
        1 => (name(), any::<Index>()).prop_map(|(of, which)| Step::Forget(of, which)),
        1 => (name(), any::<Index>()).prop_map(|(of, which)| Step::Return(of, which)),
        1 => (name(), any::<bool>()).prop_map(|(of, each)| Step::Versioning(of, each)),
        3 => (name(), 0..600u64, any::<bool>()).prop_map(|(of, most, what)| Step::Set(of, most, what)),
        1 => name().prop_map(Step::Unset),
        1 => Just(Step::Expire),
        1 => Just(Step::Reopen),
        1 => Just(Step::Jobs),
    ]
}

/// Bytes and resources.
type Amount = (u64, u64);

struct Model {
    world: World,
    /// The quotas that each resource in the trash counts for, by when those were set.
    removed: BTreeMap<ResourceId, (BTreeSet<(ResourceId, u64)>, Amount)>,
    /// The quotas, and when they were set.
    set: BTreeMap<ResourceId, u64>,
    steps: u64,
}

impl Model {
    fn new() -> Self {
        let world = world();
        world.keep_removed("/", 3_600);
        for collection in ["/a", "/b", "/a/a"] {
            world.mkdir(collection);
        }
        world.versioned("/a");
        Self { world, removed: BTreeMap::new(), set: BTreeMap::new(), steps: 0 }
    }

    fn walk(&self) -> Vec<Stat> {
        self.world.store.walk(&self.world.admin, &at("/"), None, 10_000).unwrap().entries
    }

    fn amount(&self, stat: &Stat) -> Amount {
        let versions = self.world.store.versions(&self.world.admin, &At::Id(stat.id)).unwrap();
        let (mut bytes, mut next) = (stat.size(), stat.resource.content.as_ref());
        for version in &versions {
            let content = version.content.as_ref();
            // A content counts once, however often it was described.
            if content.map(|content| content.stamp) != next.map(|next| next.stamp) {
                bytes += content.map_or(0, |content| content.size);
            }
            next = content;
        }
        (bytes, 1)
    }

    fn below(&self, top: &Stat, itself: bool) -> Amount {
        let entries = self
            .walk()
            .into_iter()
            .filter(|stat| stat.path.starts_with(&top.path) && (itself || stat.id != top.id));
        let amounts = entries.map(|stat| self.amount(&stat));
        amounts.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// The quotas that a resource counts for, by the collections above it.
    fn counts_for(&self, stat: &Stat) -> BTreeSet<(ResourceId, u64)> {
        let above = self
            .walk()
            .into_iter()
            .filter(|other| other.id != stat.id && stat.path.starts_with(&other.path));
        above.filter_map(|other| Some((other.id, *self.set.get(&other.id)?))).collect()
    }

    fn run(&mut self, step: &Step) {
        self.steps += 1;
        let World { store, admin, .. } = &self.world;
        match step {
            Step::Mkdir(to) => drop(self.world.try_mkdir(admin, to)),
            Step::Put(to, size) => {
                drop(self.world.try_put(
                    admin,
                    to,
                    &noise(*size, self.steps),
                    PutOptions::default(),
                ));
            }
            Step::Append(to, size) => {
                drop(self.world.write_at(to, Where::Append, &noise(*size, self.steps)));
            }
            Step::Cut(to, size) => drop(self.world.truncate(to, *size)),
            Step::Remove(of, permanent) => self.remove(of, *permanent),
            Step::Move(from, to) => self.relocate(from, to),
            Step::Copy(from, to) => {
                let options =
                    CopyOptions { recursive: true, replace: true, ..CopyOptions::default() };
                drop(store.copy(admin, &at(from), &path(to), options));
            }
            Step::Restore(which, to) => {
                let Some(id) = self.in_trash(which) else { return };
                let options = RestoreOptions { to: to.as_ref().map(|to| path(to)), parents: false };
                if store.restore_removed(admin, id, &options).is_ok() {
                    self.removed.remove(&id);
                }
            }
            Step::Empty(which) => {
                let Some(id) = self.in_trash(which) else { return };
                store.empty_trash_of(admin, id).unwrap();
                store.run_jobs().unwrap();
                self.removed.remove(&id);
            }
            Step::Describe(of) => {
                if self.world.stat(of).is_ok() {
                    self.world.describe(of, "step", &self.steps.to_string());
                }
            }
            Step::KeepVersion(of) => drop(self.world.try_keep(of, None)),
            Step::Prune(of, keep) => {
                let prune = Prune::All(Retention::last(*keep));
                drop(store.prune_versions(admin, &at(of), &prune));
            }
            Step::Forget(of, which) => {
                if let Some(version) = self.version(of, which) {
                    store.prune_versions(admin, &at(of), &Prune::One(version)).unwrap();
                }
            }
            Step::Return(of, which) => {
                if let Some(version) = self.version(of, which) {
                    drop(store.restore_version(admin, &at(of), version));
                }
            }
            Step::Versioning(of, each) => {
                let retention = Retention::default();
                let versioning = match *each {
                    true => Versioning::EachChange(retention),
                    false => Versioning::OnRequest(retention),
                };
                if self.world.stat(of).is_ok_and(|stat| stat.resource.kind == Kind::Collection) {
                    self.world.set_versioning(of, versioning);
                }
            }
            Step::Set(of, most, what) => {
                let limits = if *what { bytes(*most) } else { resources(*most / 40) };
                if let Ok(quota) = store.set_quota(admin, &on(of), hard(limits)) {
                    let QuotaOf::Collection(id) = quota.of else { panic!("{quota:?}") };
                    self.set.entry(id).or_insert(self.steps);
                }
            }
            Step::Unset(of) => {
                if let Ok(stat) = self.world.stat(of)
                    && store.remove_quota(admin, &on(of)).is_ok()
                {
                    self.set.remove(&stat.id);
                }
            }
            Step::Expire => {
                self.world.clock.advance(Duration::from_secs(7_200));
                store.purge_trash().unwrap();
                store.run_jobs().unwrap();
                self.removed.clear();
            }
            Step::Reopen => self.world = self.world.reopened(),
            Step::Jobs => drop(store.run_jobs().unwrap()),
        }
    }

    fn version(&self, of: &str, which: &Index) -> Option<u64> {
        let versions = self.world.store.versions(&self.world.admin, &at(of)).ok()?;
        (!versions.is_empty()).then(|| which.get(&versions).version)
    }

    fn in_trash(&self, which: &Index) -> Option<ResourceId> {
        let ids: Vec<_> = self.removed.keys().collect();
        (!ids.is_empty()).then(|| **which.get(&ids))
    }

    fn remove(&mut self, of: &str, permanent: bool) {
        let Ok(stat) = self.world.stat(of) else { return };
        let (counts, amount) = (self.counts_for(&stat), self.below(&stat, true));
        let options = RemoveOptions {
            recursive: true,
            versions: true,
            permanent,
            ..RemoveOptions::default()
        };
        let removed = self.world.store.remove(&self.world.admin, &at(of), &options).unwrap();
        self.world.store.run_jobs().unwrap();
        if removed.is_some() {
            self.removed.insert(stat.id, (counts, amount));
        }
    }

    /// A move keeps what it replaces in the trash.
    fn relocate(&mut self, from: &str, to: &str) {
        let replaced = self.world.stat(to).ok();
        let replaced =
            replaced.map(|stat| (stat.id, self.counts_for(&stat), self.below(&stat, true)));
        let options = MoveOptions { replace: true, versions: true, parents: false };
        let World { store, admin, .. } = &self.world;
        if let Ok(moved) = store.relocate(admin, &at(from), &path(to), options)
            && let Some((id, counts, amount)) = replaced
            && id != moved.id
        {
            self.removed.insert(id, (counts, amount));
        }
    }

    fn judge(&self, before: &BTreeMap<ResourceId, Amount>) -> BTreeMap<ResourceId, Amount> {
        let quotas = self.world.store.quotas(&self.world.admin, None).unwrap();
        let mut totals = BTreeMap::new();
        for quota in quotas {
            let QuotaOf::Collection(id) = quota.of else { panic!("{quota:?}") };
            let top = self.world.store.stat(&self.world.admin, &At::Id(id)).unwrap();
            let mut expected = self.below(&top, false);
            for (counts, amount) in self.removed.values() {
                if counts.contains(&(id, self.set[&id])) {
                    expected = (expected.0 + amount.0, expected.1 + amount.1);
                }
            }
            let total = quota.total.unwrap();
            let total = (total.bytes, total.resources);
            assert_eq!(total, expected, "{}", quota.name);
            // No addition raises a total above its limit.
            let before = before.get(&id).copied().unwrap_or(total);
            let within = |now: u64, before: u64, most: Option<u64>| {
                most.is_none_or(|most| now <= most.max(before))
            };
            assert!(within(total.0, before.0, quota.hard.bytes), "{quota:?} {before:?}");
            assert!(within(total.1, before.1, quota.hard.resources), "{quota:?} {before:?}");
            totals.insert(id, total);
        }
        totals
    }
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn the_totals_equal_a_recount(steps in prop::collection::vec(step(), 1..40)) {
        let mut model = Model::new();
        let mut totals = BTreeMap::new();
        for step in &steps {
            model.run(step);
            totals = model.judge(&totals);
        }
        assert_clean(&model.world.store);
    }
}
