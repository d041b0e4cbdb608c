//! Every prefix of every small golden file is read as by the real readers, except as listed in `docs/keyset.md`.
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use std::io::Read;

use cenote_keyset::{Format, KeyRef, KeySet, ReadOptions, ValueRef, read};
use common::{bytes, hex, json, name};
use serde_json::Value;

/// The real reader's result for the prefixes of a file whose length is from `first` to `last` bytes.
struct Row {
    first: usize,
    last: usize,
    /// `error`, `crash`, or the number of keys and their digest.
    result: String,
}

/// The rows of each file: its name is on a line before them.
fn table() -> Vec<(String, Vec<Row>)> {
    let (packed, mut text) = (bytes("prefixes.tsv.gz"), String::new());
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    let mut files: Vec<(String, Vec<Row>)> = Vec::new();
    for line in text.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            [file] => files.push((file.into(), Vec::new())),
            [first, last, result] => files.last_mut().unwrap().1.push(Row {
                first: first.parse().unwrap(),
                last: last.parse().unwrap(),
                result: result.into(),
            }),
            _ => panic!("{line}"),
        }
    }
    files
}

/// Keys as text: names unescaped, strings without their NUL, everything in hex.
fn described(keys: &KeySet) -> String {
    let mut text = String::new();
    for key in keys {
        text += &format!("{} ", hex(&key.name().unescaped()));
        text += &match key.value() {
            ValueRef::String(value) => format!("s{} ", hex(value)),
            ValueRef::Binary(value) => format!("b{} ", hex(value)),
            ValueRef::Null => "n ".into(),
        };
        for meta in key.meta() {
            text += &format!("{}={} ", hex(meta.name()), hex(meta.value()));
        }
        text.push('\n');
    }
    text
}

/// Whether any metakey has a name that the real `keySetMeta` wrongly considers invalid.
fn is_misread_upstream(keys: &KeySet) -> bool {
    let misread = |name: &[u8]| matches!(name, [b'\\', b'%' | b'.', ..]);
    keys.iter().flat_map(KeyRef::meta).any(|meta| misread(meta.name()))
}

/// Whether the result of the real reader depends on uninitialised memory, or contains more than the file: the file
/// ends within the lengths of a command, or long before the end of a binary value.
fn is_refused_here(prefix: &[u8]) -> bool {
    let line = prefix.rsplit(|byte| *byte == b'\n').next().unwrap();
    let words: Vec<_> = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).collect();
    let lengths_cut = match words[..] {
        [b"$key", ..] => words.len() < 4,
        [b"$meta" | b"$copymeta", ..] => words.len() < 3,
        _ => false,
    };
    lengths_cut || missing_of_binary(prefix).is_some_and(|missing| missing > prefix.len())
}

/// How many bytes are missing from the last key's binary value.
fn missing_of_binary(prefix: &[u8]) -> Option<usize> {
    const COMMAND: &[u8] = b"$key binary ";
    let at = prefix.windows(COMMAND.len()).rposition(|window| window == COMMAND)? + COMMAND.len();
    let line = prefix[at..].split(|byte| *byte == b'\n').next()?;
    let lengths = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let (name, value) = (lengths.0.parse::<usize>().ok()?, lengths.1.parse::<usize>().ok()?);
    (at + line.len() + 1 + name + 1 + value).checked_sub(prefix.len())
}

/// 64-bit FNV-1a, folded.
fn digest(text: &str) -> u32 {
    let mix = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
    (hash ^ hash >> 32) as u32
}

/// The result as written in a row.
fn result(keys: Option<&KeySet>) -> String {
    keys.map_or("error".into(), |keys| format!("{} {:08x}", keys.len(), digest(&described(keys))))
}

fn about<'a>(index: &'a Value, file: &str) -> &'a Value {
    let has = |about: &&Value| about["files"].get(file).is_some();
    index.as_array().unwrap().iter().find(has).unwrap()
}

#[test]
fn every_prefix_is_read_as_the_real_reader_reads_it() {
    let index = json("index.json");
    for (file, rows) in table() {
        let (whole, about) = (bytes(&file), about(&index, &file));
        let format = Format::from_name(file.rsplit('.').next().unwrap()).unwrap();
        let is_dump = format == Format::Dump;
        let full_names = about["config"] == serde_json::json!(["user:/fullname"]);
        let options = ReadOptions { full_names, ..ReadOptions::default() };
        let parent = name(about["parent"].as_str().unwrap());
        for Row { first, last, result: real } in rows {
            for prefix in (first..=last).map(|length| &whole[..length]) {
                let refused = real == "crash" || (is_dump && is_refused_here(prefix));
                let keys = read(prefix.to_vec(), &parent, format, options).ok();
                if !keys.as_ref().is_some_and(is_misread_upstream) {
                    let real = if refused { "error" } else { &real };
                    let length = prefix.len();
                    assert_eq!(result(keys.as_ref()), real, "the first {length} bytes of {file}");
                }
            }
        }
    }
}
