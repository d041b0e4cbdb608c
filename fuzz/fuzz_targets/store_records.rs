//! Any bytes as the body of any record of the catalog: refused, or read back as written.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| cenote_store::fuzzing::read_records(body));
