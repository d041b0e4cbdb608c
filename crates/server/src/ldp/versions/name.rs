//! How versions are named in addresses: by their label, or by their number.
//!
//! Invariant: the name that is shown of a version names it, as long as it is kept and has that label. A label of digits only could be a
//! number, so such a version is shown by its number. Fedora's form of a time (`yyyyMMddHHmmss`) is understood, too.

use cenote_store::Version;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::ldp::request::fault::Fault;

/// Characters that are not encoded in a segment of an address.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The last segment of the address of a version.
pub(crate) fn shown(version: &Version) -> String {
    let is_name = |label: &&String| !is_number(label) && !matches!(label.as_str(), "." | "..");
    match version.label.as_ref().filter(is_name) {
        Some(label) => utf8_percent_encode(label, SEGMENT).to_string(),
        None => version.version.to_string(),
    }
}

/// The version of this name.
pub(super) fn named<'a>(versions: &'a [Version], name: &str) -> Result<&'a Version, Fault> {
    let labelled = || versions.iter().find(|version| version.label.as_deref() == Some(name));
    let found = match is_number(name) {
        false => labelled(),
        true => numbered(versions, name).or_else(|| at(versions, name)).or_else(labelled),
    };
    found.ok_or_else(|| Fault::missing(format!("no such version: {name}")))
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn numbered<'a>(versions: &'a [Version], name: &str) -> Option<&'a Version> {
    let number: u64 = name.parse().ok()?;
    versions.iter().find(|version| version.version == number)
}

/// The last version of a second.
fn at<'a>(versions: &'a [Version], name: &str) -> Option<&'a Version> {
    versions.iter().rfind(|version| {
        let second = Timestamp::from_second(version.time.secs()).unwrap_or_default();
        second.to_zoned(TimeZone::UTC).strftime("%Y%m%d%H%M%S").to_string() == name
    })
}

#[cfg(test)]
mod tests {
    use cenote_store::{PersonId, Time};
    use proptest::prelude::*;

    use super::*;

    fn version(number: u64, label: Option<&str>) -> Version {
        let time = Time::from_secs(1_000_000_000 + number as i64);
        Version {
            version: number,
            content: None,
            modified: time,
            modified_by: PersonId(1),
            kept: time,
            kept_by: None,
            time,
            described: time,
            label: label.map(str::to_owned),
        }
    }

    #[test]
    fn a_number_a_label_and_a_time_name_a_version() {
        let versions = [version(3, None), version(5, Some("v 1")), version(7, Some("3"))];
        let found = |name: &str| named(&versions, name).map(|version| version.version).ok();
        for (name, number) in [("3", 3), ("5", 5), ("v 1", 5), ("7", 7), ("20010909014643", 3)] {
            assert_eq!(found(name), Some(number), "{name}");
        }
        assert_eq!((found(""), found("4"), found("V 1")), (None, None, None));
        assert_eq!(shown(&versions[1]), "v%201");
        assert_eq!(shown(&versions[2]), "7", "its label is the number of another");
    }

    proptest! {
        #[test]
        fn the_displayed_name_identifies_the_version(labels in proptest::collection::hash_set("[^\\pC]{1,4}|[0-9]{1,3}", 1..5)) {
            let versions: Vec<_> =
                (1..).zip(&labels).map(|(number, label)| version(number, Some(label))).collect();
            for version in &versions {
                let shown = shown(version);
                let name = percent_encoding::percent_decode_str(&shown).decode_utf8().unwrap();
                prop_assert_eq!(named(&versions, &name).unwrap(), version);
            }
        }
    }
}
