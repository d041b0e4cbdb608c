//! What a path in an inventory may be: relative, with `/` between names, and no name that leads elsewhere.

use std::collections::BTreeSet;

/// Why a path cannot be one of an inventory.
pub(crate) fn wrong(path: &str) -> Option<&'static str> {
    let is_led_elsewhere = |name: &str| name == "." || name == "..";
    match path {
        "" => Some("a path is empty"),
        _ if path.starts_with('/') || path.ends_with('/') => {
            Some("a path begins or ends with a slash")
        }
        _ if path.contains('\0') => Some("a path has a null character"),
        _ if path.split('/').any(str::is_empty) => Some("a path has an empty name"),
        _ if path.split('/').any(is_led_elsewhere) => Some("a path has a name that is . or .."),
        _ => None,
    }
}

/// A path that is also a directory above another one of these.
pub(crate) fn conflict<'a>(paths: &BTreeSet<&'a str>) -> Option<&'a str> {
    let above = |path: &'a str| path.match_indices('/').map(move |(end, _)| &path[..end]);
    paths.iter().flat_map(|path| above(path)).find(|above| paths.contains(above))
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_outside_the_object_are_invalid() {
        for path in ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.", ".", "a\0b"] {
            assert!(wrong(path).is_some(), "{path:?}");
        }
        for path in ["a", "a/b", ".a/b..", "a\\..\\b", "..."] {
            assert!(wrong(path).is_none(), "{path:?}");
        }
    }

    #[test]
    fn a_file_is_not_a_directory() {
        assert_eq!(conflict(&BTreeSet::from(["a", "a/b"])), Some("a"));
        assert_eq!(conflict(&BTreeSet::from(["a.b", "a/b", "A"])), None);
    }

    proptest! {
        #[test]
        fn a_path_stays_below_its_base(path in "[./a\\\\]{0,12}") {
            let is_below = |part| matches!(part, Component::Normal(_));
            prop_assert!(wrong(&path).is_some() || Path::new(&path).components().all(is_below));
        }
    }
}
