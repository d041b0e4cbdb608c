use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\x08\0aaaaaaaaaaaaaaaaaaaaaaaa";
const GZIP: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n\0\0";
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0";
const TIFF: &[u8] = b"II*\0\x08\0\0\0";

fn guessed(name: &str, bytes: &[u8]) -> Option<String> {
    guess(name, Sniffed::of(bytes))
}

/// The name, the first bytes, and the type.
const TABLE: &[(&str, &[u8], Option<&str>)] = &[
    // The name alone.
    ("a.csv", b"", Some("text/csv")),
    ("A.CSV", b"", Some("text/csv")),
    ("a.b.json", b"", Some("application/json")),
    ("a.gsd", b"", Some("application/x-gsd")),
    ("a.pdb", b"", Some("chemical/x-pdb")),
    ("a", b"", None),
    ("", b"", None),
    (".csv", b"", None),
    ("a.", b"", None),
    ("a.dat", b"", None),
    ("a.no-such-extension", b"", None),
    // The bytes alone.
    ("a", PNG, Some("image/png")),
    ("a", b"plain words\n", Some("text/plain")),
    ("a", b"#!/bin/sh\n", Some("text/x-shellscript")),
    ("a", b"<?xml version=\"1.0\"?><a/>", Some("text/xml")),
    ("a", b"<!DOCTYPE html><title>a</title>", Some("text/html")),
    ("a", b"EKDB\0\0\0\x03", Some("application/vnd.elektra.quickdump")),
    ("a", b"kdbOpen 2\n", Some("application/vnd.elektra.dump")),
    ("a", b"\xdf\x65\xdf\x65\xdf\x65\xdf\x65\0", Some("application/x-gsd")),
    ("a", HDF5, Some("application/x-hdf5")),
    ("a", b"\x93NUMPY\x01\0", Some("application/x-npy")),
    ("a", b"PAR1\x15\0", Some("application/vnd.apache.parquet")),
    ("a", OLE, Some("application/x-ole-storage")),
    ("a", b"\0\x01\x02\x03", None),
    ("a.dat", b"\0\x01\x02\x03", None),
    ("a.dat", b"1 2 3\n", Some("text/plain")),
    // Charsets, of text alone and where they show.
    ("a.csv", b"a,b\n", Some("text/csv")),
    ("a.csv", "é,b\n".as_bytes(), Some("text/csv; charset=utf-8")),
    ("a.csv", b"\xe9,b\n", Some("text/csv")),
    ("a.txt", b"\xff\xfea\0b\0", Some("text/plain; charset=utf-16")),
    ("a", b"\xfe\xff\0a\0b", Some("text/plain; charset=utf-16")),
    ("a", b"\xfe\xff\0a\0", None),
    ("a", b"\xe9t\xe9\n", Some("text/plain")),
    ("a.json", "\"é\"".as_bytes(), Some("application/json")),
    ("a.svg", "<svg>é</svg>".as_bytes(), Some("image/svg+xml")),
    // The name says more than the bytes.
    ("a.csv", b"<a>,<b>\n", Some("text/csv")),
    ("a.svg", b"<?xml version=\"1.0\"?><svg/>", Some("image/svg+xml")),
    ("a.txt", b"<html><script>", Some("text/plain")),
    ("a.md", b"# Heading\n", Some("text/markdown")),
    ("a.sh", b"#!/bin/sh\n", Some("application/x-sh")),
    ("a.jar", ZIP, Some("application/java-archive")),
    (
        "a.docx",
        ZIP,
        Some("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ),
    ("a.doc", OLE, Some("application/msword")),
    ("a.xls", OLE, Some("application/vnd.ms-excel")),
    ("a.nc", HDF5, Some("application/x-netcdf")),
    ("a.nef", TIFF, Some("image/x-nikon-nef")),
    ("a.wav", b"RIFF\0\0\0\0WAVE", Some("audio/wav")),
    ("a.pgm", b"P2\n1 1\n1\n0\n", Some("image/x-portable-graymap")),
    ("a.crt", b"-----BEGIN CERTIFICATE-----\n", Some("application/x-x509-ca-cert")),
    ("a.nc", b"\0\x01\x02\x03", Some("application/x-netcdf")),
    // The bytes contradict the name.
    ("a.jpg", PNG, Some("image/png")),
    ("a.ico", PNG, Some("image/png")),
    ("a.csv", PNG, Some("image/png")),
    ("a.svg", PNG, Some("image/png")),
    ("a.html", GZIP, Some("application/gzip")),
    ("a.tar", GZIP, Some("application/gzip")),
    ("a.svgz", GZIP, Some("application/gzip")),
    ("a.docx", PNG, Some("image/png")),
    ("a.json", b"%PDF-1.7\n", Some("application/pdf")),
    ("a.quickdump", b"kdbOpen 2\n", Some("application/vnd.elektra.dump")),
    ("a.png", b"plain words\n", Some("text/plain")),
    ("a.pdf", b"plain words\n", Some("text/plain")),
    ("a.zip", b"<html> </html>", Some("text/html")),
    ("a.ts", b"const a = 1;\n", Some("text/plain")),
    ("a.csv", b"\0\x01\x02\x03", None),
    ("a.json", b"\0\x01\x02\x03", None),
    // A signature of two letters in a text is chance.
    ("bmi.csv", b"BMI,weight\n", Some("text/csv")),
    ("a", b"MZ is a country code\n", Some("text/plain")),
    ("a", b"EKDB is a key database\n", Some("text/plain")),
];

#[test]
fn the_table_of_guesses() {
    for (name, bytes, kind) in TABLE {
        let shown = String::from_utf8_lossy(bytes);
        assert_eq!(guessed(name, bytes).as_deref(), *kind, "{name}: {shown:?}");
    }
}

#[test]
fn an_explicit_type_is_not_a_guess() {
    let png = Sniffed::of(PNG);
    let stated = MediaType::stated_or_guessed(Some("text/x"), "a.jpg", png);
    assert_eq!(stated, MediaType { text: Some("text/x".into()), guessed: false });
    let guess = MediaType::stated_or_guessed(None, "a.jpg", png);
    assert_eq!(guess, MediaType { text: Some("image/png".into()), guessed: true });
    assert_eq!(MediaType::stated_or_guessed(None, "a", Sniffed::Binary), MediaType::default());
}

#[test]
fn a_character_truncated_at_the_end_of_the_sample_is_text() {
    for cut in 0..4 {
        let text = "a".repeat(cut) + &"𝄞é".repeat(2_000);
        assert!(text.len() > FirstBytes::MOST);
        assert_eq!(guessed("a", text.as_bytes()).unwrap(), "text/plain; charset=utf-8", "{cut}");
    }
}

/// Names with and without known extensions.
fn name() -> impl Strategy<Value = String> {
    let known = select(&["csv", "html", "docx", "doc", "png", "mp4", "ttf", "gz", "Json", "é", ""]);
    prop_oneof![".{0,40}", (".{0,9}", known).prop_map(|(stem, known)| format!("{stem}.{known}"))]
}

/// Random bytes, also after known prefixes, such as nested archives, whose headers are parsed.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let starts: [&[u8]; 9] = [PNG, ZIP, GZIP, HDF5, OLE, TIFF, b"\xff\xfe", b"<?xml", b"%PDF-"];
    let entry = (
        select(&["[Content_Types].xml", "_rels/.rels", "word/a", "docProps", "mimetype"]),
        any::<[u8; 26]>(),
    )
        .prop_map(|(name, head)| [b"PK\x03\x04", &head[..], name.as_bytes()].concat());
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..600),
        (select(starts.to_vec()), proptest::collection::vec(any::<u8>(), 0..600))
            .prop_map(|(start, rest)| [start, &rest].concat()),
        proptest::collection::vec(entry, 0..6).prop_map(|entries| entries.concat()),
        ".{0,300}".prop_map(String::into_bytes),
    ]
}

proptest! {
    /// Never a panic, always one type, which is valid in a header.
    #[test]
    fn any_name_and_any_bytes_have_one_guess(name in name(), bytes in bytes(), cut in 0..600_usize) {
        let whole = guessed(&name, &bytes);
        prop_assert_eq!(&guessed(&name, &bytes.clone()), &whole);
        let is_plain = |kind: &String| kind.is_ascii() && !kind.contains(char::is_control) && kind.contains('/');
        prop_assert!(whole.iter().all(is_plain), "{whole:?}");
        guessed(&name, &bytes[..cut.min(bytes.len())]);
    }

    /// However the bytes arrive: in order, and in overlapping parts.
    #[test]
    fn the_sample_does_not_depend_on_the_chunks(bytes in bytes(), cut in 0..600_usize) {
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        let mut appended = FirstBytes::default();
        [first, second].iter().for_each(|run| appended.append(run));
        let mut laid = FirstBytes::default();
        laid.lay(0, &bytes);
        laid.lay(first.len() as u64, &vec![0; second.len()]);
        laid.lay(first.len() as u64, second);
        laid.lay(FirstBytes::MOST as u64, b"beyond");
        laid.lay(u64::MAX, b"far beyond");
        prop_assert_eq!(appended.sniff(), Sniffed::of(&bytes));
        prop_assert_eq!(laid.sniff(), Sniffed::of(&bytes));
    }

    /// Bytes after the first ones do not matter.
    #[test]
    fn bytes_after_the_sample_do_not_matter(name in name(), start in bytes(), rest in bytes()) {
        let start = [&start[..], b"a"].concat();
        let start: Vec<u8> = start.into_iter().cycle().take(FirstBytes::MOST).collect();
        prop_assert_eq!(guessed(&name, &start), guessed(&name, &[start.as_slice(), &rest].concat()));
    }
}

#[test]
fn a_byte_that_does_not_occur_in_text_makes_a_content_binary_wherever_it_is() {
    for byte in 0..=u8::MAX {
        let is_control = byte < 0x20 && !b"\t\n\x0c\r\x1b".contains(&byte);
        for at in [0, 1, 255, 256, 999] {
            let mut bytes = [b'a'; 1_000];
            bytes[at] = byte;
            let is_binary =
                matches!(Sniffed::of(&bytes), Sniffed::Binary | Sniffed::Signature { .. });
            assert_eq!(is_binary, is_control, "{byte:#x} at {at}");
        }
    }
}
