//! Logical paths: the zone's name, then the path in the store.

use cenote_store::{Name, Result, StorePath};

/// The path in the store of a logical path; none outside the zone, or if it is no path.
pub(super) fn parse(zone: &str, lpath: &str) -> Option<StorePath> {
    let path: StorePath = lpath.parse().ok()?;
    let (first, rest) = path.names().split_first()?;
    (first.as_str() == zone).then(|| join(&StorePath::root(), rest)).and_then(Result::ok)
}

/// The logical path of a path in the store.
pub(super) fn of(zone: &str, path: &StorePath) -> String {
    match path.names().is_empty() {
        true => format!("/{zone}"),
        false => format!("/{zone}{path}"),
    }
}

/// A path and names below it.
pub(super) fn join(above: &StorePath, names: &[Name]) -> Result<StorePath> {
    names.iter().try_fold(above.clone(), |path, name| path.join(name.clone()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_in_the_zone_is_nowhere() {
        for lpath in ["", "/", "home", "/other", "/zoned/x", "/z//x", "/z/..", "//z"] {
            assert_eq!(parse("z", lpath), None, "{lpath}");
        }
        assert_eq!(parse("z", "/z"), Some(StorePath::root()));
        assert_eq!(parse("z", "/z/"), Some(StorePath::root()));
    }

    proptest! {
        #[test]
        fn a_logical_path_comes_back(path in "(/[^/\u{0}]{1,5}){0,4}", zone in "[a-zA-Z]{1,8}") {
            let lpath = format!("/{zone}{path}");
            if let Some(parsed) = parse(&zone, &lpath) {
                prop_assert_eq!(of(&zone, &parsed), lpath);
            }
        }
    }
}
