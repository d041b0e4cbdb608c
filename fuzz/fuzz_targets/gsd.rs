//! Any bytes as a GSD file: open, read everything, check, repack, recover, upgrade.
#![no_main]

use cenote_gsd::{Reader, Writer, recover};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = Reader::open(bytes) {
        for entry in reader.entries().flatten() {
            let _ = reader.read_vec(&entry);
            let _ = reader.find_id(entry.frame(), entry.name_id());
            let _ = reader.frame(entry.frame());
        }
        let _ = reader.check();
        let _ = reader.repack(Vec::new(), |_, _| {});
    }
    let _ = recover(&bytes, Vec::new(), |_, _| ());
    if let Ok(mut writer) = Writer::open_in(bytes.to_vec()) {
        let _ = writer.upgrade();
        let _ = writer.close();
    }
});
