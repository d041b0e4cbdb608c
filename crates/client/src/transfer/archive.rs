//! Many small files as one tar archive in memory (POSIX pax, as accepted by `POST /v1/batch`).

use bytes::Bytes;
use jiff::Timestamp;
use tar::{Builder, EntryType, Header};

use super::tree::{Item, Source};
use crate::{Error, Result, Sha256Digest};

/// An archive, and the outcome for each item.
pub(super) struct Archive {
    pub(super) bytes: Bytes,
    /// For each item, in order: its digest if it has content, or why it is not in the archive.
    pub(super) packed: Vec<Result<Option<Sha256Digest>>>,
}

impl Archive {
    /// Reads the items' files and packs them; blocks.
    pub(super) fn pack(items: &[Item]) -> Self {
        let size = items.iter().map(|item| item.size() as usize + 2_048).sum();
        let mut builder = Builder::new(Vec::with_capacity(size));
        let packed = items.iter().map(|item| append(&mut builder, item)).collect();
        let bytes = builder.into_inner().expect("a vector takes every write").into();
        Self { bytes, packed }
    }
}

fn append(builder: &mut Builder<Vec<u8>>, item: &Item) -> Result<Option<Sha256Digest>> {
    let (entry_type, bytes, link) = match &item.source {
        Source::Directory => (EntryType::Directory, Bytes::new(), None),
        Source::Link(target) => (EntryType::Symlink, Bytes::new(), Some(target.as_str())),
        Source::File(file) => (EntryType::Regular, file.read()?.into(), None),
        Source::Bytes(bytes) => (EntryType::Regular, bytes.clone(), None),
    };
    let digest = item.has_content().then(|| Sha256Digest::of(&bytes));
    let extensions = extensions(item, link, digest);
    let extensions = extensions.iter().map(|(name, value)| (*name, value.as_bytes()));
    builder.append_pax_extensions(extensions).expect("a vector takes every write");
    let header = header(item, entry_type, bytes.len() as u64);
    builder.append(&header, bytes.as_ref()).expect("a vector takes every write");
    Ok(digest)
}

/// What a plain header cannot represent: long names, nanoseconds, digests.
fn extensions(
    item: &Item,
    link: Option<&str>,
    digest: Option<Sha256Digest>,
) -> Vec<(&'static str, String)> {
    let mut extensions = vec![("path", item.relative.clone())];
    extensions.extend(link.map(|link| ("linkpath", link.to_owned())));
    extensions.extend(item.mtime.map(|mtime| ("mtime", pax_time(mtime))));
    extensions.extend(digest.map(|digest| ("CENOTE.sha256", digest.to_string())));
    extensions
}

/// Seconds with nine decimals. For times before 1970 the fraction counts towards the epoch.
fn pax_time(time: Timestamp) -> String {
    let nanos = time.as_nanosecond();
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    format!("{sign}{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}

/// The name does not matter: the extension has the real one.
fn header(item: &Item, entry_type: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_path("entry").expect("a short plain name fits");
    header.set_entry_type(entry_type);
    header.set_size(size);
    header.set_mode(item.mode.unwrap_or(0o644));
    header.set_mtime(item.mtime.map_or(0, |mtime| mtime.as_second().max(0) as u64));
    header.set_cksum();
    header
}

/// Whether an item is in the archive.
pub(super) fn is_packed(packed: &Result<Option<Sha256Digest>, Error>) -> bool {
    packed.is_ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::LocalFile;
    use super::*;

    fn item(relative: &str, source: Source) -> Item {
        Item { relative: relative.into(), source, mode: Some(0o640), mtime: None }
    }

    #[test]
    fn entries_round_trip_in_order_with_names_of_any_length() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "bytes").unwrap();
        let long = format!("d/{}/é", "n".repeat(300));
        let items = [
            item("d", Source::Directory),
            item(&long, Source::File(LocalFile::new(&path).unwrap())),
            item("gone", Source::File(LocalFile { size: 9, ..LocalFile::new(&path).unwrap() })),
            item("link", Source::Link("../elsewhere".into())),
        ];
        let archive = Archive::pack(&items);
        assert_eq!(
            archive.packed.iter().map(is_packed).collect::<Vec<_>>(),
            [true, true, false, true]
        );
        let mut reader = tar::Archive::new(archive.bytes.as_ref());
        let entries: Vec<_> = reader
            .entries()
            .unwrap()
            .map(|entry| {
                let mut entry = entry.unwrap();
                let mut bytes = String::new();
                entry.read_to_string(&mut bytes).unwrap();
                (entry.path().unwrap().display().to_string(), bytes)
            })
            .collect();
        let expected = [("d", ""), (&long, "bytes"), ("link", "")];
        assert_eq!(entries, expected.map(|(name, bytes)| (name.to_owned(), bytes.to_owned())));
    }

    #[test]
    fn times_keep_their_nanoseconds_on_both_sides_of_the_epoch() {
        for (nanos, text) in
            [(1_500_000_001, "1.500000001"), (-1, "-0.000000001"), (0, "0.000000000")]
        {
            assert_eq!(pax_time(Timestamp::from_nanosecond(nanos).unwrap()), text);
        }
    }
}
