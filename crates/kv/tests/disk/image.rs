//! The files of a directory, in memory: the state after a kill, and after a power cut or corruption.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A directory in memory, if there is one, in which a sync costs nothing.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Directories and files by their path, directories first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Image {
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) files: BTreeMap<PathBuf, Content>,
}

/// The bytes up to the last one that is not zero, and the length of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) length: u64,
}

impl Content {
    /// The content up to its last byte that is not zero.
    pub(crate) fn new(mut bytes: Vec<u8>, length: u64) -> Self {
        bytes.truncate(used(&bytes));
        Self { bytes, length }
    }

    /// Truncates it to `length`.
    pub(crate) fn truncate(&mut self, length: u64) {
        self.length = length;
        self.bytes.truncate(length as usize);
    }
}

impl Image {
    /// The content of `dir`, as seen by other processes.
    pub(crate) fn of(dir: &Path) -> Self {
        let mut image = Self::default();
        image.add(dir, dir);
        image
    }

    fn add(&mut self, root: &Path, dir: &Path) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            match path.is_dir() {
                true => {
                    self.directories.push(name);
                    self.add(root, &path);
                }
                // Removed meanwhile, in the background.
                false => self.files.extend(read(&path).map(|content| (name, content))),
            }
        }
    }

    /// Makes `dir` have exactly this content.
    pub(crate) fn restore(&self, dir: &Path) {
        let _ = fs::remove_dir_all(dir);
        fs::create_dir_all(dir).unwrap();
        for name in &self.directories {
            fs::create_dir_all(dir.join(name)).unwrap();
        }
        for (name, content) in &self.files {
            let file = File::create(dir.join(name)).unwrap();
            file.write_all_at(&content.bytes, 0).unwrap();
            file.set_len(content.length).unwrap();
        }
    }

    /// One of the files.
    #[allow(dead_code, reason = "not every test that has images changes them")]
    pub(crate) fn file(&mut self, name: impl AsRef<Path>) -> &mut Content {
        self.files.get_mut(name.as_ref()).unwrap()
    }
}

/// The number of bytes up to the last one that is not zero.
pub(crate) fn used(bytes: &[u8]) -> usize {
    const ZEROS: [u8; 4_096] = [0; 4_096];
    let is_zero = |chunk: &&[u8]| **chunk == ZEROS[..chunk.len()];
    let zeros: usize = bytes.rchunks(ZEROS.len()).take_while(is_zero).map(<[u8]>::len).sum();
    let rest = &bytes[..bytes.len() - zeros];
    rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// The content of a file, reading only allocated blocks.
fn read(path: &Path) -> Option<Content> {
    use rustix::fs::{SeekFrom, seek};
    let file = File::open(path).ok()?;
    let (mut bytes, mut end) = (Vec::new(), 0);
    while let Ok(data) = seek(&file, SeekFrom::Data(end)) {
        end = seek(&file, SeekFrom::Hole(data)).unwrap();
        bytes.resize(end as usize, 0);
        file.read_exact_at(&mut bytes[data as usize..], data).ok()?;
    }
    Some(Content::new(bytes, file.metadata().ok()?.len()))
}
