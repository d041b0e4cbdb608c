//! Every golden file is read as intended and written identically, to the byte.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::{Format, KeySet, Names, ReadOptions, WriteOptions, read, write};
use common::{assert_keys, bytes, json, key_set, name};
use serde_json::Value;

struct Golden {
    file: String,
    format: Format,
    about: Value,
}

fn golden() -> Vec<Golden> {
    let mut all = Vec::new();
    for about in json("index.json").as_array().unwrap() {
        for file in about["files"].as_object().unwrap().keys() {
            let id = about["id"].as_str().unwrap();
            let format = Format::from_name(file.rsplit('.').next().unwrap()).unwrap();
            all.push(Golden { file: file.clone(), format, about: json(&format!("{id}.json")) });
        }
    }
    assert!(all.len() > 40, "the golden files are there");
    all
}

impl Golden {
    fn parent(&self) -> cenote_keyset::KeyName {
        name(self.about["parent"].as_str().unwrap())
    }

    fn has_config(&self, key: &str) -> bool {
        self.about["config"].as_array().unwrap().iter().any(|name| name == key)
    }

    fn read(&self, strict: bool) -> KeySet {
        let options = ReadOptions { strict, full_names: self.has_config("user:/fullname") };
        read(bytes(&self.file), &self.parent(), self.format, options).unwrap()
    }

    fn write(&self, keys: &KeySet, names: Names) -> Vec<u8> {
        let mut out = Vec::new();
        let options = WriteOptions { names };
        write(keys, &self.parent(), self.format, options, &mut out).unwrap();
        out
    }

    fn names(&self) -> Names {
        match () {
            () if self.has_config("user:/fullname") => Names::Full,
            () if self.has_config("user:/noparent") => Names::Cascading,
            () if self.loses_letters() => Names::UpstreamRelative,
            () => Names::Relative,
        }
    }

    /// Below a root parent the real quickdump drops the first letter of each name.
    fn loses_letters(&self) -> bool {
        self.format == Format::Quickdump && self.parent().is_root()
    }

    /// Cases in which the file itself does not contain what was written.
    fn lost_by_writer(&self) -> bool {
        self.loses_letters() || self.has_config("user:/noparent")
    }
}

#[test]
fn reading_returns_what_was_written() {
    for golden in golden() {
        let keys = golden.read(false);
        let expected = if golden.lost_by_writer() {
            &golden.about["files"][&golden.file]["read_back_differs"]
        } else {
            &golden.about["written"]
        };
        assert_keys(&keys, expected, &golden.file);
    }
}

#[test]
fn strict_reading_accepts_what_the_real_writers_write_in_utf8() {
    for golden in golden().iter().filter(|golden| {
        golden.about["id"].as_str().unwrap().starts_with("ns_")
            || ["basic", "shared_meta", "bench200", "arrays"]
                .contains(&golden.about["id"].as_str().unwrap())
    }) {
        assert_eq!(golden.read(true), golden.read(false), "{}", golden.file);
    }
}

#[test]
fn writing_individually_created_keys_gives_the_same_bytes() {
    for golden in golden() {
        let keys = key_set(&golden.about["written"]);
        let written = golden.write(&keys, golden.names());
        assert_eq!(written, bytes(&golden.file), "{}", golden.file);
    }
}

#[test]
fn rewriting_what_was_read_gives_the_same_bytes() {
    for golden in golden().iter().filter(|golden| !golden.lost_by_writer()) {
        let written = golden.write(&golden.read(false), golden.names());
        assert_eq!(written, bytes(&golden.file), "{}", golden.file);
    }
}

#[test]
fn names_below_a_root_parent_keep_their_first_letter() {
    for golden in golden().iter().filter(|golden| golden.loses_letters()) {
        let keys = key_set(&golden.about["written"]);
        let written = golden.write(&keys, Names::Relative);
        let again = read(written, &golden.parent(), golden.format, ReadOptions::default()).unwrap();
        assert_keys(&again, &golden.about["written"], &golden.file);
    }
}

#[test]
fn sharing_survives_changes_of_other_keys() {
    for golden in golden().iter().filter(|golden| !golden.lost_by_writer()) {
        let mut keys = golden.read(false);
        // Every key is replaced with an owned copy of itself.
        let copies: Vec<_> =
            keys.iter().map(|key| key.to_key().renamed(key.name().to_name())).collect();
        keys.extend(copies);
        let written = golden.write(&keys, golden.names());
        assert_eq!(written, bytes(&golden.file), "{}", golden.file);
    }
}
