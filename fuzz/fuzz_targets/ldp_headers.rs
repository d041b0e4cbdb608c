//! Any bytes as the headers that the linked-data opening reads (Prefer, Digest, Want-Digest, Link), and as conditions
//! of a search.

#![no_main]

libfuzzer_sys::fuzz_target!(|value: &[u8]| cenote_server::fuzzing::read_headers(value));
