//! Any bytes as the file of a backup: refused, or read.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cenote_store::fuzzing::read_backup(bytes));
