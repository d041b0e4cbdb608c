//! What one client may find, after answers of which some never came.
//!
//! Invariant: a change that was answered has happened in every state that is left; one that was refused in none; one without an answer
//! may have happened once, until [`LATE`] steps later.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// After so many steps nothing of an earlier request can be under way any more.
const LATE: usize = 12;

/// So many of the last requests are shown with a failure.
const RECENT: usize = 80;

/// The objects in the collection of one client.
pub(crate) type Tree = BTreeMap<String, Item>;

/// An object.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    /// Sizes and seeds of its parts.
    parts: Vec<(usize, usize)>,
    pub(crate) note: Option<usize>,
    /// Values of another attribute.
    pub(crate) values: BTreeSet<usize>,
    /// The parts of contents of which a version was kept.
    kept: BTreeSet<Vec<(usize, usize)>>,
}

/// A change of one object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    Put(String, usize, usize),
    Append(String, usize, usize),
    Move(String, String),
    Remove(String),
    Note(String, usize),
    /// Another value of an attribute.
    Add(String, usize),
    /// Of the content as it is.
    Keep(String),
    /// A content in two parts, with sizes and seed, which takes several requests.
    Upload(String, [usize; 2], usize),
    /// Contents that are put through another opening.
    Replace(String, usize, usize),
    /// Contents that are put together, with sizes and seeds.
    Set(Vec<(String, usize, usize)>),
}

impl Item {
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|(size, _)| size).sum()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        bytes_of(&self.parts)
    }

    /// The sizes of the versions that were kept, each once.
    pub(crate) fn kept_sizes(&self) -> BTreeSet<usize> {
        self.kept.iter().map(|parts| parts.iter().map(|(size, _)| size).sum()).collect()
    }

    /// Whether these are the bytes of a version that was kept.
    pub(crate) fn has_kept(&self, bytes: &[u8]) -> bool {
        self.kept.iter().any(|parts| bytes_of(parts) == bytes)
    }
}

fn bytes_of(parts: &[(usize, usize)]) -> Vec<u8> {
    parts.iter().flat_map(|(size, seed)| bytes(*size, *seed)).collect()
}

/// Bytes of which neither end is that of another size.
pub(crate) fn bytes(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|at| b'a' + ((at * 7 + seed * 3 + at / 26) % 26) as u8).collect()
}

impl Change {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Put(..) => "put",
            Self::Append(..) => "append",
            Self::Move(..) => "move",
            Self::Remove(_) => "remove",
            Self::Note(..) => "attribute",
            Self::Add(..) => "iRODS AVU",
            Self::Keep(_) => "version",
            Self::Upload(..) => "upload",
            Self::Replace(..) => "LDP PUT",
            Self::Set(_) => "change set",
        }
    }

    /// The status of the answer, and the state after it.
    pub(crate) fn of(&self, tree: &Tree) -> (u16, Tree) {
        let mut after = tree.clone();
        let status = self.change(&mut after);
        (status, after)
    }

    fn change(&self, tree: &mut Tree) -> u16 {
        match self {
            Self::Put(name, size, seed) => put(tree, name, vec![(*size, *seed)], [201, 200]),
            Self::Replace(name, size, seed) => put(tree, name, vec![(*size, *seed)], [201, 204]),
            Self::Upload(name, [first, second], seed) => {
                put(tree, name, vec![(*first, *seed), (*second, *seed + 1)], [200, 200])
            }
            Self::Set(all) => {
                for (name, size, seed) in all {
                    put(tree, name, vec![(*size, *seed)], [200, 200]);
                }
                200
            }
            Self::Append(name, size, seed) => {
                on(tree, name, |item| item.parts.push((*size, *seed)))
            }
            Self::Note(name, note) => on(tree, name, |item| item.note = Some(*note)),
            Self::Add(name, value) => on(tree, name, |item| item.values.extend([*value])),
            Self::Keep(name) => on(tree, name, |item| item.kept.extend([item.parts.clone()])),
            Self::Move(from, to) => move_to(tree, from, to),
            Self::Remove(name) => match tree.remove(name) {
                Some(_) => 204,
                None => 404,
            },
        }
    }
}

/// Replaces a content; the status is the first one for a new object.
fn put(tree: &mut Tree, name: &str, parts: Vec<(usize, usize)>, status: [u16; 2]) -> u16 {
    let known = tree.contains_key(name);
    tree.entry(name.to_owned()).or_default().parts = parts;
    status[usize::from(known)]
}

fn on(tree: &mut Tree, name: &str, change: impl FnOnce(&mut Item)) -> u16 {
    let Some(item) = tree.get_mut(name) else { return 404 };
    change(item);
    200
}

fn move_to(tree: &mut Tree, from: &str, to: &str) -> u16 {
    if tree.contains_key(from) && tree.contains_key(to) {
        return 409;
    }
    let Some(item) = tree.remove(from) else { return 404 };
    tree.insert(to.to_owned(), item);
    200
}

/// A state, and the changes that may still happen, each with the step of its request.
type State = (Tree, Vec<(usize, Change)>);

/// The states that are possible.
#[derive(Debug)]
pub(crate) struct Possible {
    states: BTreeSet<State>,
    step: usize,
    /// The last requests, and how they were answered.
    recent_requests: VecDeque<String>,
}

impl Possible {
    pub(crate) fn nothing() -> Self {
        Self { states: [State::default()].into(), step: 0, recent_requests: VecDeque::new() }
    }

    /// For people who look for the reason of a failure.
    pub(crate) fn log_request(&mut self, request: String) {
        self.recent_requests.truncate(RECENT - 1);
        self.recent_requests.push_front(format!("{}: {request}", self.step));
    }

    fn assert_possible(&self, what: &str, before: &BTreeSet<State>) {
        let recent_requests = &self.recent_requests;
        assert!(
            !self.states.is_empty(),
            "{what} in one of {before:#?}\nafter {recent_requests:#?}"
        );
    }

    /// A change was answered.
    pub(crate) fn answered(&mut self, change: &Change, status: u16) {
        let before = self.with_late_changes();
        let after = before.iter().filter_map(|(tree, late)| {
            let (expected, after) = change.of(tree);
            (expected == status).then(|| (after, late.clone()))
        });
        self.states = after.collect();
        self.assert_possible(&format!("{change:?} was answered {status}"), &before);
        self.pass();
    }

    /// A change was not answered.
    pub(crate) fn lost(&mut self, change: &Change) {
        let with = |(tree, mut late): State| {
            late.push((self.step, change.clone()));
            (tree, late)
        };
        self.states = std::mem::take(&mut self.states).into_iter().map(with).collect();
        self.pass();
    }

    /// Something was seen that is only so in some states.
    pub(crate) fn saw(&mut self, what: &str, is_so: impl Fn(&Tree) -> bool) {
        let before = self.with_late_changes();
        self.states = before.iter().filter(|(tree, _)| is_so(tree)).cloned().collect();
        self.assert_possible(&format!("{what} was seen"), &before);
        self.pass();
    }

    /// Each state, and what it becomes by any of the changes that may still happen.
    fn with_late_changes(&self) -> BTreeSet<State> {
        let mut found = BTreeSet::new();
        let mut open: Vec<State> = self.states.iter().cloned().collect();
        while let Some(state) = open.pop() {
            for at in 0..state.1.len() {
                let mut late = state.1.clone();
                let (status, after) = late.remove(at).1.of(&state.0);
                if status < 300 {
                    open.push((after, late));
                }
            }
            found.insert(state);
        }
        found
    }

    fn pass(&mut self) {
        self.step += 1;
        let since = self.step.saturating_sub(LATE);
        let states = std::mem::take(&mut self.states).into_iter();
        let kept = states.map(|(tree, mut late)| {
            late.retain(|(step, _)| *step >= since);
            (tree, late)
        });
        self.states = kept.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(seed: usize) -> Change {
        Change::Put("a".to_owned(), 1, seed)
    }

    #[test]
    fn a_change_without_an_answer_has_happened_once_or_not_at_all() {
        let mut possible = Possible::nothing();
        possible.answered(&put(1), 201);
        possible.lost(&put(2));
        possible.saw("the first", |tree| tree["a"].bytes() == bytes(1, 1));
        possible.saw("the second, late", |tree| tree["a"].bytes() == bytes(1, 2));
        let gone = std::panic::catch_unwind(move || {
            possible.saw("the first", |tree| tree["a"].bytes() == bytes(1, 1));
        });
        assert!(gone.is_err(), "nobody makes it undone");
    }

    #[test]
    fn an_answer_tells_what_happened_before() {
        let mut possible = Possible::nothing();
        possible.lost(&put(1));
        possible.answered(&put(2), 201);
        assert_eq!(possible.states.len(), 1, "{possible:?}");
    }
}
