//! Histories of changes determined by a seed, and their results: for writers to an open store, and for writers over
//! HTTP.

#[path = "../../../kv/tests/disk/dice.rs"]
pub(crate) mod dice;

use std::collections::BTreeMap;

pub(crate) use self::dice::Dice;

/// One change by one writer: the same for the writer and for the verification.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Put(String, Vec<u8>),
    Upload(String, Vec<u8>),
    Write(String, u64, Vec<u8>),
    Append(String, Vec<u8>),
    Truncate(String, u64),
    /// Through a stage: writes bytes from an offset on, and truncates it.
    Stage(String, u64, Vec<u8>, u64),
    Move(String, String),
    Copy(String, String),
    Remove(String),
    Describe(String, String),
    MakeTree(String, Vec<u8>),
    RemoveTree(String),
    /// Remove, and restore from the trash: two changes.
    Undone(String),
    /// Several in one change set.
    Together(Vec<Op>),
}

/// The writer whose removals are moved to the trash.
pub(crate) const KEEPING: u64 = 1;

/// The changes of one step of a writer.
pub(crate) fn op(seed: u64, writer: u64, step: u64) -> Op {
    let mut dice = Dice::new(&[seed, writer, step]);
    match dice.below(12) {
        0 => Op::Together((0..3).map(|_| one(&mut dice, writer, step)).collect()),
        _ => one(&mut dice, writer, step),
    }
}

fn one(dice: &mut Dice, writer: u64, step: u64) -> Op {
    let name = |dice: &mut Dice| format!("f{}", dice.below(5));
    let tree = |dice: &mut Dice| format!("t{}", dice.below(2));
    match dice.below(15) {
        0..=2 => Op::Put(name(dice), sized(dice)),
        3 => Op::Upload(name(dice), sized(dice)),
        4 => {
            let (name, at, size) = (name(dice), dice.below(3_000), 1 + dice.below(2_000));
            Op::Write(name, at, bytes(dice, size))
        }
        5 | 6 => Op::Append(name(dice), {
            let size = 1 + dice.below(2_000);
            bytes(dice, size)
        }),
        7 => Op::Truncate(name(dice), dice.below(3_000)),
        8 => Op::Move(name(dice), name(dice)),
        9 => Op::Copy(name(dice), name(dice)),
        10 if writer == KEEPING && dice.below(2) == 0 => Op::Undone(name(dice)),
        10 => Op::Remove(name(dice)),
        11 => Op::Describe(name(dice), step.to_string()),
        12 => Op::MakeTree(tree(dice), bytes(dice, 300)),
        13 => {
            let (name, at, run) = (name(dice), dice.below(3_000), sized(dice));
            Op::Stage(name, at, run, dice.below(100_000))
        }
        _ if writer == KEEPING && dice.below(2) == 0 => Op::Undone(tree(dice)),
        _ => Op::RemoveTree(tree(dice)),
    }
}

/// Mostly small, now and then too large for the catalog.
fn sized(dice: &mut Dice) -> Vec<u8> {
    let size = if dice.below(4) == 0 { 66_000 + dice.below(50_000) } else { dice.below(3_000) };
    bytes(dice, size)
}

fn bytes(dice: &mut Dice, size: u64) -> Vec<u8> {
    let words = (0..size.div_ceil(8)).flat_map(|_| dice.roll().to_le_bytes());
    words.take(size as usize).collect()
}

/// The objects of one writer: bytes, and the value of the attribute `step`.
pub(crate) type Objects = BTreeMap<String, (Vec<u8>, Option<String>)>;

/// The result of a change.
pub(crate) fn apply(objects: &mut Objects, op: &Op) {
    match op {
        Op::Stage(name, at, run, size) => {
            apply(objects, &Op::Write(name.clone(), *at, run.clone()));
            apply(objects, &Op::Truncate(name.clone(), *size));
        }
        Op::Put(name, bytes) | Op::Upload(name, bytes) => {
            objects.entry(name.clone()).or_default().0.clone_from(bytes);
        }
        Op::Write(name, at, run) => {
            if let Some((bytes, _)) = objects.get_mut(name) {
                let end = *at as usize + run.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at as usize..end].copy_from_slice(run);
            }
        }
        Op::Append(name, run) => {
            if let Some((bytes, _)) = objects.get_mut(name) {
                bytes.extend(run);
            }
        }
        Op::Truncate(name, size) => {
            if let Some((bytes, _)) = objects.get_mut(name) {
                bytes.resize(*size as usize, 0);
            }
        }
        Op::Move(from, to) => {
            if let Some(moved) = objects.remove(from) {
                objects.insert(to.clone(), moved);
            }
        }
        Op::Copy(from, to) => {
            if let Some(copy) = objects.get(from).filter(|_| from != to).cloned() {
                objects.insert(to.clone(), copy);
            }
        }
        Op::Remove(name) => drop(objects.remove(name)),
        Op::Describe(name, value) => {
            if let Some((_, step)) = objects.get_mut(name) {
                *step = Some(value.clone());
            }
        }
        Op::MakeTree(name, bytes) => {
            for leaf in ["a", "b"] {
                objects.entry(format!("{name}/{leaf}")).or_default().0.clone_from(bytes);
            }
        }
        Op::RemoveTree(name) => objects.retain(|path, _| !path.starts_with(&format!("{name}/"))),
        Op::Undone(_) => {}
        Op::Together(ops) => ops.iter().for_each(|op| apply(objects, op)),
    }
}

/// The permitted states while a change is in progress.
pub(crate) fn states(before: &Objects, op: &Op) -> Vec<Objects> {
    let mut states = vec![before.clone()];
    if let Op::Undone(name) = op {
        let below = format!("{name}/");
        let mut removed = before.clone();
        removed.retain(|path, _| path != name && !path.starts_with(&below));
        states.push(removed);
    }
    let mut after = before.clone();
    apply(&mut after, op);
    states.push(after);
    states
}
