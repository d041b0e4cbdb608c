//! Any text is a GenQuery statement or an error, in both languages.

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = cenote_query::genquery::check(text);
    if let Ok(canonical) = cenote_query::genquery::canonical(text) {
        let again = cenote_query::genquery::canonical(&canonical);
        assert_eq!(again.ok(), Some(canonical));
    }
});
