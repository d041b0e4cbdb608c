//! The display of sizes, times and modes, and what is escaped in addresses.

use cenote_client::{Resource, ResourceKind};
use indicatif::BinaryBytes;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// What is encoded in a segment of an address: all but the unreserved characters of RFC 3986.
pub(crate) const SEGMENT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A size such as `1.50 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    BinaryBytes(bytes).to_string()
}

/// A time, to the second, where this machine is.
pub(crate) fn time(time: Timestamp) -> String {
    time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// A number with a noun, such as `1 file` or `2 files`.
pub(crate) fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// A length of time in the largest unit that it is a multiple of, such as `7 days`.
pub(crate) fn duration(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let fits = |(unit, _): &(u64, _)| seconds.is_multiple_of(*unit);
    let (unit, word) = units.into_iter().find(fits).unwrap_or((1, "second"));
    count(seconds / unit, word)
}

/// Kind and mode as `ls -l` writes them; dashes where no mode was set.
pub(crate) fn mode(resource: &Resource) -> String {
    let kind = match resource.kind {
        ResourceKind::Collection => 'd',
        ResourceKind::Object => '-',
        ResourceKind::Link => 'l',
        ResourceKind::Description => 'i',
    };
    let bits = resource.mode.unwrap_or(0);
    let letters = (0..9).rev().zip("rwxrwxrwx".chars());
    let shown = letters.map(|(bit, letter)| if bits >> bit & 1 == 1 { letter } else { '-' });
    std::iter::once(kind).chain(shown).collect()
}

/// The name, with a mark that shows its kind.
pub(crate) fn marked(name: &str, resource: &Resource) -> String {
    match (resource.kind, &resource.target) {
        (ResourceKind::Collection, _) => format!("{}/", name.trim_end_matches('/')),
        (ResourceKind::Link, Some(target)) => format!("{name} -> {target}"),
        _ => name.to_owned(),
    }
}

/// One line as `ls -l` has it.
pub(crate) fn long(name: &str, resource: &Resource) -> String {
    let changed = resource.content_modified.or(resource.members_modified).or(resource.modified);
    let when = resource.mtime.or(changed).map(time).unwrap_or_default();
    format!(
        "{} {:<10} {:>12} {when} {}",
        mode(resource),
        resource.owner.as_deref().unwrap_or("-"),
        resource.size.map_or_else(|| "-".to_owned(), |size| size.to_string()),
        marked(name, resource),
    )
}

/// The name of a kind of resource.
pub(crate) fn kind(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::Collection => "collection",
        ResourceKind::Object => "object",
        ResourceKind::Link => "link",
        ResourceKind::Description => "description",
    }
}
