//! Headers: which files can be opened, and the errors for others.

use cenote_gsd::{Error, HEADER_SIZE, Header, Reader, Version, Writer};
use proptest::prelude::*;

use crate::common::{contents, fixture};

fn with_version(major: u16, minor: u16) -> Vec<u8> {
    let mut bytes = fixture("g5_one.gsd");
    bytes[44..46].copy_from_slice(&minor.to_le_bytes());
    bytes[46..48].copy_from_slice(&major.to_le_bytes());
    bytes
}

#[test]
fn known_versions_are_opened() {
    for (major, minor) in [(2, 0), (2, 1), (2, 2), (2, 65_535)] {
        let reader = Reader::open(with_version(major, minor)).expect("open");
        assert_eq!(reader.header().gsd_version(), Version::new(major, minor));
        assert_eq!(contents(&reader).expect("read").len(), 1);
    }
}

#[test]
fn old_files_are_opened() {
    for version in [(0, 3), (1, 0), (1, 65_535)] {
        let mut bytes = fixture("g1_one.gsd");
        bytes[44..46].copy_from_slice(&u16::to_le_bytes(version.1));
        bytes[46..48].copy_from_slice(&u16::to_le_bytes(version.0));
        let reader = Reader::open(bytes).expect("open");
        assert_eq!(contents(&reader).expect("read")[0].name, b"a");
    }
}

#[test]
fn unknown_versions_are_named_in_the_error() {
    for (major, minor) in [(0, 0), (0, 2), (0, 4), (0, 65_535), (3, 0), (65_535, 65_535)] {
        let error = Reader::open(with_version(major, minor)).expect_err("unknown");
        assert!(matches!(error, Error::UnsupportedVersion(..)));
        assert!(error.to_string().contains(&format!("{major}.{minor}")), "{error}");
    }
}

#[test]
fn opening_to_write_makes_a_file_current() {
    for (before, after) in [((2, 0), (2, 1)), ((2, 1), (2, 1)), ((2, 2), (2, 2))] {
        let writer = Writer::open_in(with_version(before.0, before.1)).expect("open");
        let bytes = writer.close().expect("close");
        let version = Reader::open(bytes).expect("open").header().gsd_version();
        assert_eq!(version, Version::new(after.0, after.1));
    }
    let old = Writer::open_in(fixture("g1_one.gsd")).expect("open");
    assert_eq!(old.close().expect("close"), fixture("g1_one.gsd"));
}

#[test]
fn texts_are_truncated_to_63_bytes() {
    let long = "x".repeat(200);
    let writer = Writer::create_in(Vec::new(), &long, &long, Version::new(1, 2)).expect("create");
    let header = writer.reader().header();
    assert_eq!(header.application(), "x".repeat(63).as_bytes());
    assert_eq!(header.schema(), "x".repeat(63).as_bytes());
    assert_eq!(header.schema_version(), Version::new(1, 2));
}

#[test]
fn other_files_are_reported_as_not_gsd() {
    for bytes in [Vec::new(), vec![0; 255], vec![0; 256], b"GSD".repeat(1000)] {
        assert!(matches!(Reader::open(bytes), Err(Error::NotGsd(_))));
    }
}

#[test]
fn a_name_list_too_long_for_memory_is_refused() {
    /// Endless zeros after a header.
    struct Endless(Vec<u8>);

    impl cenote_gsd::Source for Endless {
        fn size(&self) -> std::io::Result<u64> {
            Ok(u64::MAX)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
            buffer.fill(0);
            let start = (offset as usize).min(self.0.len());
            let end = (start + buffer.len()).min(self.0.len());
            buffer[..end - start].copy_from_slice(&self.0[start..end]);
            Ok(())
        }
    }

    let mut header = fixture("g5_one.gsd")[..256].to_vec();
    header[32..40].copy_from_slice(&(1_u64 << 50).to_le_bytes());
    let error = Reader::open(Endless(header)).map(drop).expect_err("a petabyte of names");
    assert!(error.to_string().contains("is too long, at byte 32"), "{error}");
}

proptest! {
    #[test]
    fn a_header_is_written_as_it_was_read(mut bytes in proptest::collection::vec(any::<u8>(), HEADER_SIZE)) {
        bytes[..8].copy_from_slice(&0x65DF_65DF_65DF_65DF_u64.to_le_bytes());
        bytes[44..48].copy_from_slice(&0x0002_0001_u32.to_le_bytes());
        let bytes: [u8; HEADER_SIZE] = bytes.try_into().expect("that long");
        prop_assert_eq!(Header::decode(&bytes).expect("decode").encode(), bytes);
    }
}
