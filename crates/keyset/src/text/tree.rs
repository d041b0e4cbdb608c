//! Values to be written to JSON and TOML, and how name parts are spelled there.

/// The member for what a plain value cannot represent.
pub(super) const KEY: &str = "@";

/// A value that is not in a document yet.
#[derive(Clone, Debug)]
pub(super) enum Tree {
    Null,
    Bool(bool),
    /// The text of a number that the format can represent.
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Table(Vec<(String, Tree)>),
}

impl Tree {
    /// Nested tables of these names around a value.
    pub(super) fn nested(names: &[String], value: Self) -> Self {
        let around = |value, name: &String| Self::Table(vec![(name.clone(), value)]);
        names.iter().rev().fold(value, around)
    }

    /// The same within a member `@`.
    pub(super) fn own(full: Self) -> Self {
        Self::Table(vec![(KEY.to_owned(), full)])
    }
}

/// The member name for a part: `@` alone is reserved, and names that start with two are escaped.
pub(super) fn escape(part: &str) -> String {
    let is_taken = part == KEY || part.starts_with("@@");
    if is_taken { format!("{KEY}{part}") } else { part.to_owned() }
}

/// The part for a member name; `None` for the member `@`.
pub(super) fn unescape(name: &str) -> Option<&str> {
    match name {
        KEY => None,
        name if name.starts_with("@@") => name.strip_prefix(KEY),
        name => Some(name),
    }
}

/// A member name in this program's spelling: `@@id` becomes `@id`.
pub(super) fn own_name(name: &str) -> String {
    unescape(name).map_or_else(|| KEY.to_owned(), escape)
}

/// The name part of an array element: `#0`, `#_10`, ….
pub(super) fn element(index: usize) -> String {
    let digits = index.to_string();
    format!("#{}{digits}", "_".repeat(digits.len() - 1))
}

/// The index of an array element.
pub(super) fn element_index(part: &str) -> Option<usize> {
    let index = part.strip_prefix('#')?.trim_start_matches('_').parse().ok()?;
    (element(index) == part).then_some(index)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_round_trip(part in "@{0,4}[a-z]{0,2}") {
            let name = escape(&part);
            prop_assert_eq!(unescape(&name), Some(part.as_str()));
            prop_assert_eq!(own_name(&name), name);
        }

        #[test]
        fn elements_round_trip(index in 0_usize..1_000_000) {
            prop_assert_eq!(element_index(&element(index)), Some(index));
        }
    }

    #[test]
    fn only_whole_indices_are_elements() {
        for part in ["", "#", "#01", "#10", "#__10", "#_1", "#a", "#+1", "1"] {
            assert_eq!(element_index(part), None, "{part}");
        }
    }

    #[test]
    fn names_of_linked_data_are_unchanged() {
        for name in ["@id", "@context", "id"] {
            assert_eq!((unescape(name), escape(name)), (Some(name), name.to_owned()));
        }
    }
}
