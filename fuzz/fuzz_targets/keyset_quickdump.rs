//! Any bytes as a quickdump file, completely and as a stream, and written again.
#![no_main]

use cenote_keyset::format::dump;
use cenote_keyset::{Format, KeyName, ReadOptions, read, stream, to_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let parent = KeyName::new("user:/p").unwrap();
    let options = ReadOptions::default();
    let _ = stream(bytes, Format::Quickdump, options, &mut dump::Writer::new(std::io::sink()));
    if let Ok(keys) = read(bytes.to_vec(), &parent, Format::Quickdump, options) {
        if let Ok(written) = to_bytes(&keys, &parent, Format::Quickdump) {
            assert_eq!(read(written, &parent, Format::Quickdump, options).unwrap(), keys);
        }
    }
});
