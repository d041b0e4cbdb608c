//! Digests match published vectors, however the bytes are split into runs.

use cenote_blob::{Algorithm, Digests, Hasher, append_crc64nvme};
use proptest::prelude::*;

const ALL: [Algorithm; 6] = [
    Algorithm::Md5,
    Algorithm::Sha1,
    Algorithm::Sha512,
    Algorithm::Sha512_256,
    Algorithm::Blake2b,
    Algorithm::Crc32c,
];

fn digests(runs: &[&[u8]], algorithms: &[Algorithm]) -> Digests {
    let mut hasher = Hasher::new(algorithms.iter().copied());
    runs.iter().for_each(|run| hasher.update(run));
    hasher.finish()
}

fn hex(digest: Option<&[u8]>) -> String {
    digest.into_iter().flatten().map(|byte| format!("{byte:02x}")).collect()
}

/// The vectors for "abc": RFC 1321, FIPS 180-4, RFC 7693; the CRC from `crc32c` programs, as RFC 3720 has none for it.
#[test]
fn abc_has_its_published_digests() {
    let abc = digests(&[b"abc"], &ALL);
    let expected = [
        "900150983cd24fb0d6963f7d28e17f72",
        "a9993e364706816aba3e25717850c26c9cd0d89d",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23",
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
         7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        "364b3fb7",
    ];
    for (algorithm, expected) in ALL.into_iter().zip(expected) {
        assert_eq!(hex(abc.get(algorithm)), expected, "{algorithm:?}");
    }
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hex(abc.sha256.as_ref().map(|digest| &digest[..])), sha256);
}

/// The check value of the catalogue of parametrised CRC algorithms, and the first test case of the NVM Command Set
/// Specification 1.0 (4 KiB of zeros).
#[test]
fn the_crc_matches_the_standard() {
    assert_eq!(digests(&[b"123456789"], &[]).crc64nvme, 0xae8b_1486_0a79_9888);
    assert_eq!(digests(&[&[0; 4096]], &[]).crc64nvme, 0x6482_d367_eb22_b64e);
}

#[test]
fn only_requested_digests_are_computed() {
    let digests = digests(&[b"abc"], &[Algorithm::Md5, Algorithm::Md5]);
    assert_eq!(
        digests.others().map(|(algorithm, _)| algorithm).collect::<Vec<_>>(),
        [Algorithm::Md5]
    );
    assert_eq!(digests.get(Algorithm::Sha1), None);
}

proptest! {
    #[test]
    fn splitting_into_runs_does_not_matter(runs: Vec<Vec<u8>>) {
        let whole = runs.concat();
        let runs: Vec<_> = runs.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(digests(&runs, &ALL), digests(&[&whole], &ALL));
    }

    #[test]
    fn the_crc_of_a_whole_can_be_computed_from_those_of_its_parts(parts: Vec<Vec<u8>>) {
        let crc = |bytes: &[u8]| digests(&[bytes], &[]).crc64nvme;
        let joined = parts.iter().fold(0, |before, part| {
            append_crc64nvme(before, crc(part), part.len() as u64)
        });
        prop_assert_eq!(joined, crc(&parts.concat()));
    }
}
