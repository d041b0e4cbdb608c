//! Blob ids: one spelling each.

use cenote_blob::{BlobId, BlobIdError};
use proptest::prelude::*;

#[test]
fn an_id_is_printed_as_32_lower_case_digits() {
    let mut bytes = [0; 16];
    (bytes[0], bytes[1], bytes[15]) = (0xab, 0xcd, 0x0f);
    let id = BlobId::from_bytes(bytes);
    assert_eq!(id.to_string(), "abcd000000000000000000000000000f");
    assert_eq!(format!("{id:?}"), "BlobId(abcd000000000000000000000000000f)");
}

#[test]
fn another_spelling_is_refused() {
    let upper = "ABCD000000000000000000000000000f";
    let other = ["", "ab", upper, &"0".repeat(33), &"g".repeat(32), &"é".repeat(16)];
    for text in other {
        assert_eq!(text.parse::<BlobId>(), Err(BlobIdError), "{text}");
    }
}

proptest! {
    #[test]
    fn an_id_is_read_back_from_its_text(bytes: [u8; 16]) {
        let id = BlobId::from_bytes(bytes);
        prop_assert_eq!(id.to_string().parse::<BlobId>(), Ok(id));
        prop_assert_eq!(id.to_bytes(), bytes);
    }

    #[test]
    fn ids_are_printed_as_they_were_read(text in "[0-9a-fA-F]{30,34}|.{0,40}") {
        if let Ok(id) = text.parse::<BlobId>() {
            prop_assert_eq!(id.to_string(), text);
        }
    }
}
