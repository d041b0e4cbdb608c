//! From a resource to an entry of a tar archive: what the header has no room for (long names,
//! nanoseconds, the checksum, the media type) stands in a pax record before it.

use std::io;

use cenote_store::{Kind, Stat, StorePath, Time};
use tokio_tar::{EntryType, Header};

use super::batch_entry::{MEDIA_TYPE, SHA256};
use crate::layer::conditional::quoted;

/// The pax record with the id of the resource.
const ID: &str = "CENOTE.id";
/// The pax record with the entity tag of the content.
const ETAG: &str = "CENOTE.etag";

/// The header of a resource below `above`, and its pax records.
pub(crate) fn entry_header(
    stat: &Stat,
    mtime: Time,
    above: &StorePath,
) -> io::Result<(Header, Vec<u8>)> {
    let resource = &stat.resource;
    let (kind, mode) = match resource.kind {
        Kind::Collection => (EntryType::Directory, 0o755),
        Kind::Link => (EntryType::Symlink, 0o777),
        Kind::Object | Kind::Description => (EntryType::Regular, 0o644),
    };
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_mode(resource.mode.unwrap_or(mode));
    header.set_mtime(mtime.secs().max(0).unsigned_abs());
    header.set_size(stat.size());
    header.set_path(format!("resource-{}", stat.id))?;
    header.set_cksum();
    let nanos = mtime.nanos().rem_euclid(1_000_000_000);
    let mut records = record("path", &relative(stat, above));
    records.extend(record("mtime", &format!("{}.{nanos:09}", mtime.secs().max(0))));
    if let Some(target) = &resource.target {
        records.extend(record("linkpath", target));
    }
    records.extend(record(ID, &stat.id.to_string()));
    if let Some(tag) = stat.content_tag() {
        records.extend(record(ETAG, &quoted(&tag)));
    }
    if let Some(content) = &resource.content {
        let sha256 = content.digests.sha256.map(|sha256| record(SHA256, &hex::encode(sha256)));
        // The type is guessed again when the archive is uploaded.
        let media_type = content.stated_media_type().map(|text| record(MEDIA_TYPE, text));
        records.extend([sha256, media_type].into_iter().flatten().flatten());
    }
    Ok((header, records))
}

fn relative(stat: &Stat, above: &StorePath) -> String {
    let names = stat.path.names().iter().skip(above.names().len()).map(|name| name.as_str());
    names.collect::<Vec<_>>().join("/")
}

/// The header of the pax records themselves.
pub(crate) fn extended(records: &[u8]) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::XHeader);
    header.set_path("pax")?;
    header.set_mode(0o644);
    header.set_size(records.len() as u64);
    header.set_cksum();
    Ok(header)
}

/// One record: its own length in decimal, the key and the value.
fn record(key: &str, value: &str) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while rest + length.to_string().len() != length {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_record_begins_with_its_own_length(key in "[a-z]{1,9}", value in "[a-z]{0,1200}") {
            let record = record(&key, &value);
            let text = String::from_utf8(record.clone()).unwrap();
            let (length, rest) = text.split_once(' ').unwrap();
            prop_assert_eq!(length.parse::<usize>().unwrap(), record.len());
            prop_assert_eq!(rest, format!("{key}={value}\n"));
        }
    }
}
