//! From an entry of a tar archive to what the store puts.

use std::borrow::Cow;
use std::io;

use cenote_store::{BatchItem, BatchWhat, Caller, Expected, PutOptions, Store, StorePath, Time};
use tokio::io::AsyncRead;
use tokio_tar::{Entry, EntryType, Header};
use tokio_util::io::ReaderStream;

use crate::native::contents::uploads::digest;
use crate::problem::Problem;

/// The pax record with the SHA-256 of the file, in hexadecimal.
pub(crate) const SHA256: &str = "CENOTE.sha256";
/// The pax record with the media type of the file.
pub(crate) const MEDIA_TYPE: &str = "CENOTE.media_type";
/// Bytes read from the archive at a time.
const CHUNK: usize = 64 << 10;

/// Bytes of the longest name of an entry: that of the deepest path that can be made.
const LONGEST_NAME: usize = 256 * (1 + 1_024);
/// Bytes that are shown of a name that is no path.
const SHOWN: usize = 1_024;

/// Reads a whole entry, which is to be stored at a path with the place and conditions of `each`: its bytes are durable or in
/// memory when this returns. A large entry is refused before it is read if the caller may not store it.
pub(crate) async fn read<R: AsyncRead + Unpin + Send>(
    store: &Store,
    caller: &Caller,
    (path, each): (StorePath, &PutOptions),
    mut entry: Entry<R>,
) -> Result<BatchItem, Problem> {
    let conditions = each.conditions.clone();
    let options = PutOptions { place: each.place, conditions, ..options(&mut entry).await? };
    let what = match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous => {
            let bytes = ReaderStream::with_capacity(&mut entry, CHUNK);
            store.precheck_put(caller, &path, &options)?;
            let received = store.receive(bytes, &options).await?;
            BatchWhat::Object(Box::new(received))
        }
        EntryType::Directory => BatchWhat::Collection,
        EntryType::Symlink => BatchWhat::Link(target(&entry)?),
        _ => return Err(Problem::invalid("the entry is not a file, a directory or a link")),
    };
    Ok(BatchItem { path, what, options })
}

/// The path of an entry below `under`.
pub(crate) fn path(under: &StorePath, name: &[u8]) -> Result<StorePath, Problem> {
    if name.len() > LONGEST_NAME {
        return Err(Problem::invalid("the name of an entry has at most 262,400 bytes"));
    }
    let name = text(name)?;
    let name = name.trim_start_matches("./").trim_end_matches('/');
    let above = under.to_string();
    Ok(format!("{}/{name}", above.trim_end_matches('/')).parse()?)
}

/// A name that is no path, cut where it is very long.
pub(crate) fn shown(name: &[u8]) -> String {
    let cut = if name.len() > SHOWN { "…" } else { "" };
    format!("{}{cut}", String::from_utf8_lossy(&name[..name.len().min(SHOWN)]))
}

fn target<R: AsyncRead + Unpin>(entry: &Entry<R>) -> Result<String, Problem> {
    let target = entry.link_name_bytes().map_err(|error| unreadable(&error))?;
    text(&target.ok_or_else(|| Problem::invalid("the link has no target"))?)
}

fn text(bytes: &[u8]) -> Result<String, Problem> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Problem::invalid("the name is not UTF-8"))
}

async fn options<R: AsyncRead + Unpin>(entry: &mut Entry<R>) -> Result<PutOptions, Problem> {
    let header = entry.header();
    let mode = mode(header).map_err(|error| unreadable(&error))?;
    let mut mtime = header.mtime().ok().and_then(|secs| i64::try_from(secs).ok());
    let mut expected = Expected { length: Some(entry.effective_size()), ..Expected::default() };
    let (mut nanos, mut media_type) = (None, None);
    let records = entry.pax_extensions().await.map_err(|error| unreadable(&error))?;
    for record in records.into_iter().flatten() {
        let record = record.map_err(|error| unreadable(&error))?;
        let value = String::from_utf8_lossy(record.value_bytes());
        match record.key() {
            Ok("mtime") => nanos = Some(time(&value)?),
            Ok(MEDIA_TYPE) => media_type = Some(value.into_owned()),
            Ok(SHA256) => expected.sha256 = Some(digest(&value)?),
            _ => {}
        }
    }
    let mtime = nanos.or(mtime.take().map(Time::from_secs));
    let put = PutOptions { expected, parents: true, media_type, mtime, ..PutOptions::default() };
    Ok(PutOptions { mode, ..put })
}

/// The mode bits, if the header has any.
fn mode(header: &Header) -> io::Result<Option<u32>> {
    let is_empty = header.as_old().mode.iter().all(|byte| *byte == 0);
    if is_empty { Ok(None) } else { header.mode().map(|mode| Some(mode & 0o7777)) }
}

/// Seconds with a fraction, as POSIX has them in pax records.
fn time(text: &str) -> Result<Time, Problem> {
    let wrong = || Problem::invalid(format!("invalid time in seconds: {text:.40}"));
    let (secs, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(secs.strip_prefix('-').unwrap_or(secs)) || !is_number(fraction) {
        return Err(wrong());
    }
    let digits: Cow<'_, str> = format!("{fraction:0<9.9}").into();
    let nanos: i64 = digits.parse().map_err(|_| wrong())?;
    let whole: i64 = secs.parse().map_err(|_| wrong())?;
    let nanos = if secs.starts_with('-') { -nanos } else { nanos };
    let total = whole.checked_mul(1_000_000_000).and_then(|whole| whole.checked_add(nanos));
    total.map(Time::from_nanos).ok_or_else(wrong)
}

/// The archive is not what it should be.
pub(crate) fn unreadable(error: &io::Error) -> Problem {
    Problem::invalid(format!("the archive cannot be read: {error}"))
        .with_hint("send a POSIX tar stream")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pax_times_have_nanoseconds() {
        for (text, nanos) in [
            ("0", 0),
            ("1.5", 1_500_000_000),
            ("1.000000001", 1_000_000_001),
            ("1.0000000019", 1_000_000_001),
            ("-1.5", -1_500_000_000),
        ] {
            assert_eq!(time(text).unwrap().nanos(), nanos, "{text}");
        }
        let wrong =
            ["", "x", "1.x", "99999999999999999999", "1e9", "1.-5000", "1.+5", "+1.5", "-", "--1"];
        for wrong in wrong {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_accepted_or_refused(name: Vec<u8>) {
            let _ = path(&StorePath::root(), &name);
        }

        #[test]
        fn any_time_is_accepted_or_refused(text: String) {
            let _ = time(&text);
        }
    }
}
