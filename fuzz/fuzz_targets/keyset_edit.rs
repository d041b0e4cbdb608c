//! Any bytes as a document of a text format, edited: one value set, or one key removed.
#![no_main]

use cenote_keyset::{Format, KeyName, ReadOptions, edit, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u16, bool, &[u8])| {
    let (format, at, sets, document) = input;
    let format = [Format::Json, Format::Toml, Format::Ini][usize::from(format % 3)];
    let parent = KeyName::new("user:/p").unwrap();
    let Ok(keys) = read(document.to_vec(), &parent, format, ReadOptions::default()) else { return };
    assert_eq!(edit(document, &keys, &parent, format).unwrap(), document);
    let Some(key) = keys.at(usize::from(at) % keys.len().max(1)) else { return };
    let (mut key, mut changed) = (key.to_key(), keys.clone());
    changed.remove(&key.name().to_name());
    if sets {
        key.set_string("7").unwrap();
        changed.append(key);
    }
    if let Ok(edited) = edit(document, &changed, &parent, format) {
        let again = read(edited, &parent, format, ReadOptions::default()).unwrap();
        assert_eq!(again.len(), changed.len());
    }
});
