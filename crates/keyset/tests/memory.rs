//! Lengths in a damaged file do not cause allocations.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

mod common;

use cenote_keyset::format::{dump, quickdump};
use cenote_keyset::{Format, ReadOptions, read, stream};
use common::{json, name, unhex};

/// The peak address space of this process, in KiB: this includes memory that is only reserved.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.trim_end_matches("kB").trim().parse().unwrap()
}

/// Files of each format with this length in every length field.
fn claims(length: u64) -> Vec<(Format, Vec<u8>)> {
    let quickdump = |head: &[u8], before: &[u8], length: &[u8]| {
        (Format::Quickdump, [b"EKDB\0\0\0", head, before, length, b"x"].concat())
    };
    let dump = |text: &str| (Format::Dump, text.replace('N', &length.to_string()).into_bytes());
    let (fixed, variable) = (length.to_le_bytes(), [&[0][..], &length.to_le_bytes()].concat());
    let places =
        [&b""[..], b"\x03as", b"\x03ab", b"\x03as\x01m", b"\x03as\x01m\x03a", b"\x03as\x01c"];
    let mut files = vec![quickdump(b"\x02", b"", &fixed)];
    files.extend(places.map(|before| quickdump(b"\x03", before, &variable)));
    for line in ["$key string N 1", "$key string 1 N", "$key binary 1 N", "$key binary N N"] {
        files.push(dump(&format!("kdbOpen 2\n{line}\na\nv\n$end\n")));
    }
    for line in ["$meta N 1", "$meta 1 N", "$copymeta N 1", "$copymeta 1 N"] {
        files.push(dump(&format!("kdbOpen 2\n$key string 1 1\na\nv\n{line}\nm\nv\n$end\n")));
    }
    for line in ["keyNew N 2", "keyNew 8 N"] {
        files.push(dump(&format!("kdbOpen 1\nksNew N\n{line}\nuser/ab\0v\0\nkeyEnd\nksEnd\n")));
    }
    files
}

fn read_both_ways(format: Format, file: Vec<u8>) {
    let (options, out) = (ReadOptions::default(), std::io::sink());
    let _ = match format {
        Format::Dump => stream(&file[..], format, options, &mut quickdump::Writer::new(out)),
        _ => stream(&file[..], format, options, &mut dump::Writer::new(out)),
    };
    let _ = read(file, &name("user:/p"), format, options);
}

#[test]
fn no_claimed_length_causes_an_allocation() {
    let lengths = [1 << 27, 1 << 31, (1 << 32) - 1, 1 << 40, 1 << 62, u64::MAX];
    let mut files: Vec<_> = lengths.into_iter().flat_map(claims).collect();
    for case in json("read_cases.json").as_array().unwrap() {
        let format = Format::from_name(case["plugin"].as_str().unwrap()).unwrap();
        files.push((format, unhex(case["input_hex"].as_str().unwrap())));
    }
    let before = peak();
    files.into_iter().for_each(|(format, file)| read_both_ways(format, file));
    assert!(peak() - before < 8 << 10, "{} KiB more", peak() - before);
}
