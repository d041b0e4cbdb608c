//! Any bytes as the frames that a broker sends.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cenote_server::fuzzing::read_stomp(bytes));
