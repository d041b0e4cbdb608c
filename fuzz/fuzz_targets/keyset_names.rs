//! Any bytes as a key name: canonical names are unchanged and ordered like their unescaped forms.
#![no_main]

use cenote_keyset::KeyName;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|names: (Vec<u8>, Vec<u8>)| {
    let (Ok(a), Ok(b)) = (KeyName::new(names.0), KeyName::new(names.1)) else { return };
    assert_eq!(KeyName::new(a.as_bytes()).unwrap().as_bytes(), a.as_bytes());
    assert_eq!(a.cmp(&b), a.unescaped().cmp(&b.unescaped()));
    if let Some(moved) = a.replace_prefix(&b, &b) {
        assert_eq!(moved, a);
    }
});
