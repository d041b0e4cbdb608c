//! A journal against the notes themselves, through damage.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;

use super::*;
use crate::attr::{Attr, FileKind};

fn state(id: u64, kind: FileKind, tag: Option<String>) -> ResourceState {
    let mtime = UNIX_EPOCH + Duration::new(id * 3, 7);
    let attr = Attr {
        kind,
        size: id * 100,
        mode: 0o640,
        links: 1,
        atime: mtime,
        mtime,
        ctime: mtime,
        etag: tag,
        target: (kind == FileKind::Symlink).then(|| "../a".to_owned()),
        revision: id,
    };
    let state = ResourceState::new(id, &attr);
    assert_eq!(state.attr(), attr);
    state
}

fn any_state() -> impl Strategy<Value = ResourceState> {
    let kinds = prop::sample::select(vec![FileKind::Directory, FileKind::File, FileKind::Symlink]);
    (1..12_u64, kinds, prop::option::of("[ -~]{0,9}"))
        .prop_map(|(id, kind, tag)| state(id, kind, tag))
}

fn any_note() -> impl Strategy<Value = Note> {
    let (id, name) = (0..12_u64, "[a-c]|\\PC{0,6}");
    let entry = || ("[a-c]|\\PC{0,6}", any_state());
    prop_oneof![
        (any_state(), ".*").prop_map(|(root, created)| Note::Root(root, created)),
        (id.clone(), prop::collection::vec(entry(), 0..5))
            .prop_map(|(id, all)| Note::Listed(id, all)),
        (id.clone(), entry()).prop_map(|(id, (name, state))| Note::Put(id, name, state)),
        (id.clone(), name, id).prop_map(|(dir, name, id)| Note::Gone(dir, name, id)),
        Just(Note::Clear),
        "[0-9a-f]{24}".prop_map(Note::Reached),
    ]
}

fn lines(notes: &[Note]) -> Vec<u8> {
    notes.iter().flat_map(Note::encode).collect()
}

proptest! {
    #[test]
    fn a_note_reads_back_and_a_damaged_line_is_ignored(note in any_note(), at: prop::sample::Index, flip in 1..=255_u8) {
        let mut line = note.encode();
        prop_assert_eq!(line.pop(), Some(b'\n'));
        prop_assert!(!line.contains(&b'\n'));
        prop_assert_eq!(Note::decode(&line), Some(note.clone()));
        let at = at.index(line.len());
        line[at] ^= flip;
        prop_assert_eq!(Note::decode(&line), None);
    }

    #[test]
    fn any_bytes_are_read_or_skipped(bytes: Vec<u8>, notes in prop::collection::vec(any_note(), 0..4)) {
        let whole = Tree::read(&lines(&notes));
        let mut damaged = bytes;
        damaged.retain(|byte| *byte != b'\n');
        damaged.push(b'\n');
        damaged.extend(lines(&notes));
        prop_assert_eq!(Tree::read(&damaged), whole);
    }

    /// However much of the end is lost, the rest contains the earlier notes.
    #[test]
    fn a_torn_journal_contains_the_earlier_notes(notes in prop::collection::vec(any_note(), 1..20), cut: prop::sample::Index) {
        let whole = lines(&notes);
        let torn = &whole[..cut.index(whole.len())];
        let kept = torn.iter().filter(|byte| **byte == b'\n').count();
        let or_one_more = [kept, kept + 1].map(|kept| Tree::read(&lines(&notes[..kept])));
        prop_assert!(or_one_more.contains(&Tree::read(torn)));
    }

    /// Rewriting drops nothing reachable from the root, unless there is too much.
    #[test]
    fn a_rewritten_journal_has_the_same_content(notes in prop::collection::vec(any_note(), 0..40), limit in 0..4_000_usize) {
        let tree = Tree::read(&lines(&notes));
        let again = Tree::read(&tree.clone().journal(usize::MAX));
        let Some((root, _)) = tree.root.clone() else { return Ok(()) };
        let all = |tree: Tree| tree.walk(root.id).collect::<BTreeMap<_, _>>();
        prop_assert_eq!((&again.root, &again.position), (&tree.root, &tree.position));
        prop_assert_eq!(all(again), all(tree.clone()));
        let head = Tree { root: tree.root.clone(), position: tree.position.clone(), ..Tree::default() };
        prop_assert!(tree.journal(limit).len() <= limit.max(head.journal(0).len()));
    }
}

#[test]
fn a_journal_is_appended_to_rewritten_and_one_of_few() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::at(dir.path(), "one").unwrap();
    let root = Note::Root(state(1, FileKind::Directory, None), "then".to_owned());
    journal.append(vec![Note::Clear], "1").unwrap();
    assert_eq!(journal.read().unwrap(), Tree::default(), "it was not begun");
    journal.begin(Tree::default(), &[root]).unwrap();
    let name = "n".repeat(200);
    let put = |id| Note::Put(1, name.clone(), state(id, FileKind::File, None));
    for round in 0..200 {
        journal.append((0..100).map(|at| put(round * 100 + at)).collect(), "2").unwrap();
    }
    assert!(fs::metadata(&journal.path).unwrap().len() < SLACK + 100_000, "it was rewritten");
    assert_eq!(journal.read().unwrap().position.as_deref(), Some("2"));
    let (_, root) = journal.read().unwrap().walk(1).next().unwrap();
    assert_eq!(root.names[&name].id, 19_999);
    for other in 0..2 * JOURNALS {
        let other = Journal::at(dir.path(), &other.to_string()).unwrap();
        other.begin(Tree::default(), &[]).unwrap();
    }
    assert!(fs::read_dir(dir.path().join("trees")).unwrap().count() <= JOURNALS);
}
