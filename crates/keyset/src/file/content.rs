//! The bytes of a file, read into memory: those of a mapped file would change or disappear whenever another program
//! writes it in place.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use memmap2::MmapMut;

/// From this size on, half of the time to read is spent by the kernel allocating memory page by page.
const LARGE: usize = 4 << 20;

/// Reads a whole file whose reported length is `len` bytes.
pub(super) fn read_all(file: &mut File, len: u64) -> io::Result<Bytes> {
    match usize::try_from(len) {
        Ok(len) if len >= LARGE => read_large(file, len),
        len => read_rest(file, len.unwrap_or_default()).map(Bytes::from),
    }
}

/// Reads into huge pages, if the system has them.
fn read_large(file: &mut File, len: usize) -> io::Result<Bytes> {
    let mut memory = MmapMut::map_anon(len)?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    let read = fill(file, &mut memory)?;
    let bytes = Bytes::from_owner(memory).slice(..read);
    match read_rest(file, 0)? {
        rest if rest.is_empty() => Ok(bytes),
        rest => Ok([&bytes[..], &rest].concat().into()),
    }
}

/// Reads until `memory` is full or the file ends; returns the number of bytes read.
fn fill(file: &mut File, memory: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < memory.len() {
        match file.read(&mut memory[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn read_rest(file: &mut File, about: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.reserve_exact(about);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    /// A file of this length, whose last bytes show the order.
    fn file(len: usize) -> (File, Vec<u8>) {
        let content: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        file.rewind().unwrap();
        (file, content)
    }

    #[test]
    fn files_of_all_sizes_are_read_completely() {
        for len in [0, 1, LARGE - 1, LARGE, LARGE + 1, (8 << 20) + 12_345] {
            let (mut file, content) = file(len);
            assert!(read_all(&mut file, len as u64).unwrap() == content, "{len}");
        }
    }

    #[test]
    fn a_file_that_grew_or_shrank_meanwhile_is_read_completely() {
        for expected_len in [0, LARGE - 1, LARGE, LARGE + 1000, 2 * LARGE] {
            let (mut file, content) = file(LARGE + 1000);
            assert!(read_all(&mut file, expected_len as u64).unwrap() == content, "{expected_len}");
        }
    }

    #[test]
    fn an_unreadable_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = File::open(directory.path()).unwrap();
        read_all(&mut file, 0).unwrap_err();
        read_all(&mut file, LARGE as u64).unwrap_err();
    }
}
