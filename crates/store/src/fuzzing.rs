//! What fuzz targets reach of the parsers within.

use crate::backup::FrameReader;
use crate::catalog::{
    BlobRecord, ChangeRecord, Child, GraphRecord, JobRecord, PartRecord, Record, TicketRecord,
    TokenRecord, UploadRecord, VersionRecord,
};
use crate::model::{Content, Extent, Person, PersonId, Resource};

/// Reads the file of a backup.
pub fn read_backup(bytes: &[u8]) {
    let mut reader = FrameReader::default();
    reader.push(bytes);
    while let Ok(Some(_)) = reader.next_frame() {}
}

/// Reads a body as every record there is, framed rightly: each is refused, or reads back as it is
/// written.
pub fn read_records(body: &[u8]) {
    let mut frame = vec![1];
    frame.extend_from_slice(&crc32c::crc32c(body).to_le_bytes());
    frame.extend_from_slice(body);
    read::<Resource>(&frame);
    read::<Child>(&frame);
    read::<Content>(&frame);
    read::<Extent>(&frame);
    read::<BlobRecord>(&frame);
    read::<GraphRecord>(&frame);
    read::<VersionRecord>(&frame);
    read::<ChangeRecord>(&frame);
    read::<Person>(&frame);
    read::<PersonId>(&frame);
    read::<TokenRecord>(&frame);
    read::<TicketRecord>(&frame);
    read::<UploadRecord>(&frame);
    read::<PartRecord>(&frame);
    read::<JobRecord>(&frame);
}

fn read<T: Record + PartialEq + std::fmt::Debug>(frame: &[u8]) {
    if let Ok(record) = T::from_value(frame) {
        let again = T::from_value(&record.to_value()).expect("what was written is read");
        assert_eq!(again, record);
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_record_body_is_decoded_without_a_panic(
            body in prop_oneof![vec(any::<u8>(), 0..64), vec(prop_oneof![0x80u8..0x98, 0u8..24, Just(0xf6)], 0..40)]
        ) {
            super::read_records(&body);
        }
    }
}
