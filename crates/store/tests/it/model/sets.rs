//! Change sets against the model: all operations in a set; and several concurrent sets, where each commit is equivalent
//! to its changes in sequence at that moment.

use proptest::test_runner::TestRunner;

use super::*;
use crate::changesets::{begun, commit, inside, seen};

/// A history in and out of change sets.
#[derive(Debug, Clone)]
enum Step {
    Do(Op),
    Begin,
    Commit,
    Drop,
}

fn step(scale: &Scale) -> impl Strategy<Value = Step> + use<> {
    prop_oneof![
        12 => op(scale).prop_map(Step::Do),
        2 => Just(Step::Begin),
        1 => Just(Step::Commit),
        1 => Just(Step::Drop),
    ]
}

impl Op {
    /// Whether it can be part of a change set. Some let time pass, which would end it; others are done by upkeep
    /// concurrently.
    fn runs_within(&self) -> bool {
        !matches!(
            self,
            Self::Replicate(..)
                | Self::Trim(..)
                | Self::Drain(..)
                | Self::Default(..)
                | Self::Upload(..)
                | Self::Stage(..)
                | Self::Edit(..)
                | Self::Publish(..)
                | Self::GiveUp(..)
                | Self::Limit(..)
                | Self::Fit
                | Self::Expire
                | Self::Sweep
                | Self::Reopen
        )
    }
}

/// The state outside of a change set while one is open.
struct Outside {
    world: World,
    model: Model,
    replicas: BTreeMap<(u64, u32), Vec<u8>>,
    id: cenote_store::ChangeSetId,
}

impl Pair {
    fn enter(&mut self) -> Outside {
        let (set, id) = begun(&self.world);
        let world = std::mem::replace(&mut self.world, set);
        Outside { world, model: self.model.clone(), replicas: self.replicas.clone(), id }
    }

    /// Others see the state before the set.
    fn assert_unseen(&mut self, outside: &mut Outside) {
        std::mem::swap(&mut self.world, &mut outside.world);
        std::mem::swap(&mut self.model, &mut outside.model);
        self.compare_all();
        self.compare_trash();
        std::mem::swap(&mut self.world, &mut outside.world);
        std::mem::swap(&mut self.model, &mut outside.model);
    }

    fn leave(&mut self, outside: Outside, commits: bool) {
        self.world = outside.world;
        match commits {
            true => drop(commit(&self.world, outside.id).unwrap()),
            false => {
                self.world.store.drop_change_set(&self.world.admin, outside.id).unwrap();
                (self.model, self.replicas) = (outside.model, outside.replicas);
            }
        }
        run(self.world.store.maintain_once(&Default::default())).unwrap();
        self.compare_all();
        self.compare_trash();
        assert_clean(&self.world.store);
    }
}

fn play(world: World, steps: &[Step]) {
    let world = world.with_places(Default::default());
    world.add_group("pair", &["a", "b"]);
    let mut pair = Pair::of(world);
    let mut outside: Option<Outside> = None;
    for (n, step) in steps.iter().enumerate() {
        let seed = n as u64 + 1;
        match (step, outside.take()) {
            // Work that is due after that time, or over a limit, would be done concurrently with the next set, and
            // conflict with its commit.
            (Step::Do(Op::Sweep | Op::Expire | Op::Limit(..)), None) => {}
            (Step::Do(op), None) => pair.apply_and_compare_clocks(op, seed),
            (Step::Do(op), Some(mut open)) => {
                if op.runs_within() {
                    pair.apply_and_compare_clocks(op, seed);
                    pair.assert_unseen(&mut open);
                }
                run(open.world.store.maintain_once(&Default::default())).unwrap();
                outside = Some(open);
            }
            (Step::Begin, None) => outside = Some(pair.enter()),
            (Step::Begin, open) => outside = open,
            (Step::Commit | Step::Drop, None) => {}
            (end, Some(open)) => pair.leave(open, matches!(end, Step::Commit)),
        }
        pair.compare_tree();
        pair.compare_replicas();
        pair.compare_trash();
    }
    if let Some(open) = outside {
        pair.leave(open, true);
    }
    pair.world.sweep();
    pair.compare_all();
    pair.compare_stages();
    assert_clean(&pair.world.store);
    pair.give_all_up();
    everything_goes(&pair.world);
}

/// A change, made with or without a set; refusals are results, too.
fn perform(world: &World, op: &Op, seed: u64) -> Answer {
    let (store, admin) = (&world.store, &world.admin);
    let any = Conditions::default();
    kind_of(match op {
        Op::Create(to, _, parents) => {
            let options = CreateOptions { parents: *parents, ..CreateOptions::default() };
            store.create(admin, to, Draft::Collection, options).map(drop)
        }
        Op::Put(to, size, parents) => {
            let options = PutOptions { parents: *parents, ..PutOptions::default() };
            world.try_put(admin, &to.to_string(), &noise(*size, seed), options).map(drop)
        }
        Op::Append(to, size) => {
            world.write_at(&to.to_string(), Where::Append, &noise(*size, seed)).map(drop)
        }
        Op::Patch(to, at, size) => {
            let place = Where::Offset(*at as u64);
            world.write_at(&to.to_string(), place, &noise(*size, seed)).map(drop)
        }
        Op::Truncate(to, size) => world.truncate(&to.to_string(), *size as u64).map(drop),
        Op::Move(from, to, replace) => {
            let options =
                MoveOptions { replace: *replace, versions: true, ..MoveOptions::default() };
            store.relocate(admin, &from.into(), to, options).map(drop)
        }
        Op::Copy(from, to, replace) => {
            let options = CopyOptions { replace: *replace, ..CopyOptions::default() };
            store.copy(admin, &from.into(), to, options).map(drop)
        }
        Op::CopyDescription(from, to) => {
            store.copy_description(admin, &from.into(), &to.into(), &any).map(drop)
        }
        Op::Remove(what, recursive) => {
            let options =
                RemoveOptions { recursive: *recursive, versions: true, ..RemoveOptions::default() };
            store.remove(admin, &what.into(), &options).map(drop)
        }
        Op::Describe(what, change) => {
            store.change_avus(admin, &what.into(), std::slice::from_ref(change), &any).map(drop)
        }
        Op::Keep(what, keeps) => {
            let versioning =
                Some(keeps.then_some(Versioning::EachChange(cenote_store::Retention::default())));
            let change = AttributeChange { versioning, ..AttributeChange::default() };
            store.set_attributes(admin, &what.into(), &change).map(drop)
        }
        Op::Retain(Some(what), retains) => {
            let keep_removed = Some(Some(if *retains { 3_600 } else { 0 }));
            let change = AttributeChange { keep_removed, ..AttributeChange::default() };
            store.set_attributes(admin, &what.into(), &change).map(drop)
        }
        _ => return Err(ErrorKind::Invalid),
    })
}

/// The maximum number of open change sets.
const SETS: usize = 3;

/// One step of several writers: those of the sets, and one outside of them.
#[derive(Debug, Clone)]
enum Turn {
    Within(usize, Op),
    Directly(Op),
    Commit(usize),
    Drop(usize),
}

fn turn(scale: &Scale) -> impl Strategy<Value = Turn> + use<> {
    prop_oneof![
        12 => (0..SETS, op(scale)).prop_map(|(n, op)| Turn::Within(n, op)),
        2 => op(scale).prop_map(Turn::Directly),
        4 => (0..SETS).prop_map(Turn::Commit),
        1 => (0..SETS).prop_map(Turn::Drop),
    ]
}

/// A set, and the changes in it that were not refused.
struct Open {
    world: World,
    id: cenote_store::ChangeSetId,
    done: Vec<(Op, u64)>,
}

/// A store with change sets, and another one on which each set's changes are made when it is committed.
struct Twins {
    world: World,
    serial: World,
    sets: [Option<Open>; SETS],
    commits: u64,
    conflicts: u64,
}

impl Twins {
    fn assert_same(&self) {
        let [mut left, mut right] = [&self.world, &self.serial].map(seen);
        left.sort();
        right.sort();
        assert_eq!(left, right);
    }

    fn within(&mut self, n: usize, op: &Op, seed: u64) {
        let set = self.sets[n].get_or_insert_with(|| {
            let (world, id) = begun(&self.world);
            Open { world, id, done: Vec::new() }
        });
        set.world = inside(&self.world, set.id);
        let before = seen(&set.world);
        match perform(&set.world, op, seed) {
            Ok(()) => set.done.push((op.clone(), seed)),
            Err(_) => assert_eq!(seen(&set.world), before, "what is refused changes nothing"),
        }
    }

    fn commit(&mut self, n: usize) {
        let Some(set) = self.sets[n].take() else { return };
        match commit(&self.world, set.id) {
            Ok(_) => {
                self.commits += u64::from(!set.done.is_empty());
                for (op, seed) in set.done {
                    assert_eq!(perform(&self.serial, &op, seed), Ok(()), "{op:?}");
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Conflict);
                self.conflicts += 1;
            }
        }
    }

    fn apply(&mut self, turn: &Turn, seed: u64) {
        match turn {
            Turn::Within(n, op) => self.within(*n, op, seed),
            Turn::Directly(op) => {
                let answer = perform(&self.world, op, seed);
                assert_eq!(answer, perform(&self.serial, op, seed));
            }
            Turn::Commit(n) => self.commit(*n),
            Turn::Drop(n) => {
                if let Some(set) = self.sets[*n].take() {
                    self.world.store.drop_change_set(&self.world.admin, set.id).unwrap();
                }
            }
        }
    }
}

fn race(world: World, turns: &[Turn]) -> (u64, u64) {
    let serial = world_on(MemoryEngine::new(), Place::memory("main"));
    let mut twins = Twins { world, serial, sets: Default::default(), commits: 0, conflicts: 0 };
    for (n, turn) in turns.iter().enumerate() {
        twins.apply(turn, n as u64 + 1);
        twins.assert_same();
        run(twins.world.store.maintain_once(&Default::default())).unwrap();
        twins.serial.store.run_jobs().unwrap();
    }
    (0..SETS).for_each(|n| twins.commit(n));
    twins.assert_same();
    twins.world.sweep();
    assert_clean(&twins.world.store);
    (twins.commits, twins.conflicts)
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn a_change_set_agrees_with_the_model(steps in vec(step(&small()), 1..50)) {
        play(world_on(MemoryEngine::new(), Place::memory("main")), &steps);
    }
}

#[test]
fn each_commit_is_equivalent_to_its_changes_in_sequence() {
    let played = std::cell::Cell::new((0, 0));
    let histories = vec(turn(&small()), 1..40);
    // Some runs of random histories have no conflict: then others are played as well.
    for _ in 0..10 {
        let result = TestRunner::new(cases(40)).run(&histories, |turns| {
            let (commits, conflicts) = played.get();
            let (some, others) = race(world_on(MemoryEngine::new(), Place::memory("main")), &turns);
            played.set((commits + some, conflicts + others));
            Ok(())
        });
        result.unwrap();
        if matches!(played.get(), (1.., 1..)) {
            return;
        }
    }
    panic!("(commits, conflicts): {:?}", played.get());
}

proptest! {
    #![proptest_config(cases(3))]

    #[test]
    fn each_commit_is_equivalent_to_its_changes_in_sequence_on_disk(turns in vec(turn(&small()), 1..25)) {
        let dir = tempfile::tempdir().unwrap();
        let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
        let engine = FjallEngine::open(dir.path().join("catalog"), options).unwrap();
        race(world_on(engine, Place::local("main", dir.path().join("contents")).unwrap()), &turns);
    }

    #[test]
    fn each_commit_is_equivalent_to_its_changes_in_sequence_on_postgres(turns in vec(turn(&small()), 1..10)) {
        let Some(config) = fresh_schema() else { return Ok(()) };
        race(world_on(PostgresEngine::open(&config).unwrap(), Place::memory("main")), &turns);
    }
}
