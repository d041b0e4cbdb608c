//! Zips that are read, and such that are not.

use std::io::Write;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::super::Bytes;
use super::*;

/// A zip in a directory for a while.
struct Made {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

fn kept(bytes: &[u8]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("crate.zip");
    std::fs::write(&path, bytes).unwrap();
    Made { _dir: dir, path }
}

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        match name.strip_suffix('/') {
            Some(name) => writer.add_directory(name, options).unwrap(),
            None => {
                writer.start_file(*name, options).unwrap();
                writer.write_all(bytes).unwrap();
            }
        }
    }
    writer.finish().unwrap().into_inner()
}

fn read_all(bytes: &[u8]) -> Result<(Found, Vec<u8>)> {
    let made = kept(bytes);
    let mut zip = Zip::open(&made.path)?;
    Ok((zip.read_all()?, zip.metadata()?))
}

fn refusal(bytes: &[u8]) -> String {
    match read_all(bytes) {
        Ok(_) => panic!("it was read"),
        Err(error) => error.to_string(),
    }
}

const PLAIN: [(&str, &[u8]); 4] =
    [(METADATA, b"{}"), ("ro-crate-preview.html", b"x"), ("a b/c.txt", b"three"), ("empty/", b"")];

/// Puts other bytes in the place of all that are the same.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if &bytes[at..at + from.len()] == from {
            bytes[at..at + from.len()].copy_from_slice(to);
            found += 1;
        }
    }
    assert!(found > 0);
    bytes
}

#[test]
fn files_and_directories_are_found_also_in_one_at_the_top() {
    let (found, metadata) = read_all(&zipped(&PLAIN)).unwrap();
    let places: Vec<_> = found.keys().map(Place::text).collect();
    assert_eq!(
        (places, &*metadata),
        (["", "a b", "a b/c.txt", "empty"].map(String::from).to_vec(), &b"{}"[..])
    );
    let bytes = found[&Place::of("a b/c.txt").unwrap()].as_ref().unwrap();
    assert_eq!(bytes, &digest(&b"three"[..], 5).unwrap());
    let inner: Vec<_> = PLAIN.iter().map(|(name, bytes)| (format!("top/{name}"), *bytes)).collect();
    let inner: Vec<_> = inner.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    assert_eq!(read_all(&zipped(&inner)).unwrap().0, found);
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in ["../x", "/etc/x", "a/../x", "a//x", "./x", "a/./x", "..", "a/..", "/"] {
        let message = refusal(&zipped(&[PLAIN[0], (name, b"1")]));
        assert!(message.contains("leads out of the crate"), "{name}: {message}");
        assert!(message.contains("nothing was imported"), "{message}");
    }
}

#[test]
fn two_of_a_name_are_refused() {
    let two = replaced(&zipped(&[PLAIN[0], ("a", b"1"), ("b", b"2")]), b"b", b"a");
    assert!(refusal(&two).contains("uplicate"), "{}", refusal(&two));
    for entries in [[("a", b"1".as_slice()), ("a/b", b"2")], [("a/", b""), ("a", b"2")]] {
        let message = refusal(&zipped(&[&[PLAIN[0]], &entries[..]].concat()));
        assert!(message.contains("both a file and a directory"), "{message}");
    }
}

#[test]
fn links_are_refused() {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let message = refusal(&writer.finish().unwrap().into_inner());
    assert!(message.contains("neither a file nor a directory"), "{message}");
}

#[test]
fn a_zip_that_becomes_too_large_is_refused_before_it_is_unpacked() {
    let zeros = vec![0; 1 << 20];
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    writer.start_file("zeros", options).unwrap();
    for _ in 0..1 + (UNSUSPECTED >> 20) {
        writer.write_all(&zeros).unwrap();
    }
    let message = refusal(&writer.finish().unwrap().into_inner());
    assert!(message.contains("200 times as large"), "{message}");
}

#[test]
fn damage_is_found() {
    let whole = zipped(&PLAIN);
    for length in [0, 10, whole.len() / 2, whole.len() - 1] {
        refusal(&whole[..length]);
    }
    let stored = {
        let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        writer.start_file("a", options).unwrap();
        writer.write_all(b"many bytes").unwrap();
        writer.finish().unwrap().into_inner()
    };
    refusal(&replaced(&stored, b"many bytes", b"many bytse"));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(at: usize, byte: u8, any: Vec<u8>) {
        let _ = read_all(&any);
        let mut bytes = zipped(&PLAIN);
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok((found, _)) = read_all(&bytes) {
            let as_is = |bytes: &Bytes| *bytes == digest(&b"three"[..], 5).unwrap();
            prop_assert!(found.values().flatten().all(as_is));
        }
    }
}
