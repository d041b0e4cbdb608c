//! Any text is a GenQuery statement or an error.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = cenote_query::genquery::check(text);
});
