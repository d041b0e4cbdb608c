//! Random histories.

use cenote_store::{RestoreOptions, TrashOptions};
use cenote_text::TextIndex;
use proptest::prelude::*;

use super::world::World;

const PATHS: [&str; 6] =
    ["/red", "/red/blue", "/green", "/green/red box", "/blue", "/blue/box-green"];
const TEXTS: [&str; 5] = ["Red box", "a blue BOX", "green", "box; red, blue", ""];
const WORDS: [&str; 4] = ["red", "blue", "green", "box"];

/// What happens to the store, or to the index.
#[derive(Debug, Clone)]
enum Step {
    Make(usize),
    Describe(usize, usize),
    Move(usize, usize),
    Remove(usize, bool),
    Restore,
    Share(usize, bool),
    Search,
    Interrupt,
    Restart,
    Delete,
    Damage(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let path = 0..PATHS.len();
    prop_oneof![
        5 => path.clone().prop_map(Step::Make),
        4 => (path.clone(), 0..TEXTS.len()).prop_map(|(path, text)| Step::Describe(path, text)),
        3 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Move(from, to)),
        2 => (path.clone(), any::<bool>()).prop_map(|(path, permanent)| Step::Remove(path, permanent)),
        2 => Just(Step::Restore),
        2 => (path, any::<bool>()).prop_map(|(path, shared)| Step::Share(path, shared)),
        4 => Just(Step::Search),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Restart),
        1 => Just(Step::Delete),
        1 => any::<u8>().prop_map(Step::Damage),
    ]
}

struct Run {
    world: World,
    dir: tempfile::TempDir,
    index: TextIndex,
}

impl Run {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let index = TextIndex::in_directory(dir.path().join("text"));
        Self { world: World::new(), dir, index }
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Search => self.search(),
            Step::Interrupt => drop(self.index.lead(&self.world.store, &|| false)),
            Step::Restart => self.reopen(),
            Step::Delete => {
                let _ = std::fs::remove_dir_all(self.dir.path().join("text"));
                self.reopen();
            }
            Step::Damage(byte) => {
                self.damage(*byte);
                self.reopen();
            }
            // A step that the store refuses changes nothing.
            change => drop(self.change(change)),
        }
    }

    fn change(&self, step: &Step) -> cenote_store::Result<()> {
        let world = &self.world;
        match step {
            Step::Make(path) => world.mkdir(PATHS[*path]),
            Step::Describe(path, text) => world.describe(PATHS[*path], &[TEXTS[*text]]),
            Step::Move(from, to) => world.mv(PATHS[*from], PATHS[*to]),
            Step::Remove(path, permanent) => world.rm(PATHS[*path], *permanent),
            Step::Restore => self.restore(),
            Step::Share(path, shared) => world.share(PATHS[*path], *shared),
            _ => Ok(()),
        }
    }

    fn restore(&self) -> cenote_store::Result<()> {
        let world = &self.world;
        let items = world.store.trash(&world.admin, &TrashOptions::default())?.items;
        let Some(item) = items.first() else { return Ok(()) };
        let options = RestoreOptions::default();
        world.store.restore_removed(&world.admin, item.id, &options).map(drop)
    }

    fn reopen(&mut self) {
        self.index = TextIndex::in_memory();
        self.index = TextIndex::in_directory(self.dir.path().join("text"));
    }

    /// Changes one byte of one file of an index that nobody has open.
    fn damage(&mut self, byte: u8) {
        self.index = TextIndex::in_memory();
        let Ok(files) = std::fs::read_dir(self.dir.path().join("text")) else { return };
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        let Some(file) = files.get(usize::from(byte) % files.len().max(1)) else { return };
        let mut bytes = std::fs::read(file).unwrap();
        if let Some(at) = usize::from(byte).checked_rem(bytes.len()) {
            bytes[at] ^= 1;
        }
        std::fs::write(file, bytes).unwrap();
    }

    fn search(&self) {
        let world = &self.world;
        let lead = self.index.lead(&world.store, &|| true).unwrap();
        for caller in [&world.admin, &world.user] {
            for word in WORDS {
                let expected = world.scanned(caller, word);
                assert_eq!(world.found(caller, word, Some(lead.as_ref())), expected, "{word}");
                assert_eq!(world.found(caller, word, None), expected, "{word} without an index");
            }
            let both = |lead| world.found(caller, "red \"blue bo*\"", lead);
            assert_eq!(both(Some(lead.as_ref())), both(None));
        }
    }
}

/// Few cases by default; `PROPTEST_CASES` overrides this.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig::with_cases(cases.unwrap_or(48))
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn searches_agree_with_a_scan_after_any_history(steps in proptest::collection::vec(step(), 1..40)) {
        let mut run = Run::new();
        steps.iter().for_each(|step| run.take(step));
        run.search();
    }
}
