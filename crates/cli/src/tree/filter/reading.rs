//! Filters against an independent implementation of rclone's rules: patterns are generated from their parts, and
//! the implementation works on the parts, by trying every way to match.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::Filter;
use crate::tree::local::scan;

/// A part of a pattern.
#[derive(Debug, Clone)]
enum Part {
    Char(char),
    Slash,
    /// `?`
    One,
    /// `*`
    Name,
    /// `**`
    Any,
    /// `[ab]`, or `[!ab]`
    Class(bool, Vec<char>),
    /// `{…,…}`
    Either(Vec<Vec<Part>>),
}

#[derive(Debug, Clone)]
struct Parts {
    rooted: bool,
    parts: Vec<Part>,
    /// With a `/` at the end.
    directory: bool,
}

fn text(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Char(c) if c.is_ascii_alphanumeric() || "._".contains(*c) => c.to_string(),
        Part::Char(c) => format!("\\{c}"),
        Part::Slash => "/".to_owned(),
        Part::One => "?".to_owned(),
        Part::Name => "*".to_owned(),
        Part::Any => "**".to_owned(),
        Part::Class(not, of) => {
            let members: String = of
                .iter()
                .map(|c| format!("\\{c}").replace("\\a", "a").replace("\\b", "b"))
                .collect();
            format!("[{}{members}]", if *not { "!" } else { "" })
        }
        Part::Either(either) => {
            let either: Vec<_> = either.iter().map(|parts| text(parts)).collect();
            format!("{{{}}}", either.join(","))
        }
    };
    parts.iter().map(one).collect()
}

impl Parts {
    fn text(&self) -> String {
        let (start, end) =
            (if self.rooted { "/" } else { "" }, if self.directory { "/" } else { "" });
        format!("{start}{}{end}", text(&self.parts))
    }

    fn has_any(&self) -> bool {
        fn has_any(parts: &[Part]) -> bool {
            parts.iter().any(|part| match part {
                Part::Any => true,
                Part::Either(either) => either.iter().any(|parts| has_any(parts)),
                _ => false,
            })
        }
        has_any(&self.parts)
    }

    /// Whether the parts match a path: all of it, or its end from a whole name on.
    fn matches(&self, path: &str) -> bool {
        let starts = path.match_indices('/').map(|(at, _)| at + 1).filter(|_| !self.rooted);
        std::iter::once(0).chain(starts).any(|start| matches(&self.parts, &path[start..]))
    }

    /// Whether it leaves a file out.
    fn excludes(&self, file: &str) -> bool {
        let mut above = file.match_indices('/').map(|(at, _)| &file[..at]);
        match self.directory {
            true => above.any(|above| self.matches(above)),
            false if self.has_any() => {
                self.matches(file) || above.any(|above| self.matches(&format!("{above}/")))
            }
            false => self.matches(file),
        }
    }

    fn includes(&self, file: &str) -> bool {
        !self.directory && self.matches(file)
    }
}

fn matches(parts: &[Part], path: &str) -> bool {
    let Some((part, rest)) = parts.split_first() else { return path.is_empty() };
    let ends = (0..=path.len()).filter(|at| path.is_char_boundary(*at));
    let mut chars = path.chars();
    let first = chars.next();
    match part {
        Part::Either(either) => either.iter().any(|parts| {
            let parts: Vec<Part> = parts.iter().chain(rest).cloned().collect();
            matches(&parts, path)
        }),
        Part::Any => ends.into_iter().any(|end| matches(rest, &path[end..])),
        Part::Name => ends
            .take_while(|end| !path[..*end].contains('/'))
            .any(|end| matches(rest, &path[end..])),
        Part::Char(c) => first == Some(*c) && matches(rest, chars.as_str()),
        Part::Slash => first == Some('/') && matches(rest, chars.as_str()),
        Part::One => first.is_some_and(|c| c != '/') && matches(rest, chars.as_str()),
        Part::Class(not, of) => {
            first.is_some_and(|c| c != '/' && of.contains(&c) != *not)
                && matches(rest, chars.as_str())
        }
    }
}

const LETTERS: &[char] = &['a', 'b', '.', '-', '[', '*', ',', 'ü'];

fn part() -> impl Strategy<Value = Part> {
    let char = || prop::sample::select(LETTERS);
    let plain = prop_oneof![
        6 => char().prop_map(Part::Char),
        2 => Just(Part::Slash),
        1 => Just(Part::One),
        2 => Just(Part::Name),
        1 => Just(Part::Any),
        1 => (any::<bool>(), prop::collection::vec(char(), 1..3)).prop_map(|(not, of)| Part::Class(not, of)),
    ];
    plain.prop_recursive(2, 8, 3, |inner| {
        let parts = prop::collection::vec(inner, 0..3);
        prop::collection::vec(parts, 1..3).prop_map(Part::Either)
    })
}

/// Stars that meet, and a slash at either end, mean something else than their parts.
fn is_plain(parts: &[Part]) -> bool {
    let text = text(parts);
    let is_empty_or_slashed = text.is_empty() || text.starts_with('/') || text.ends_with('/');
    !(is_empty_or_slashed || text.contains("{{") || merges(parts))
}

/// Whether a `*` is next to another star, also across the brace of an alternative.
fn merges(parts: &[Part]) -> bool {
    let text = text(parts).replace("\\*", "x");
    text.contains("***")
        || parts.windows(2).any(|two| matches!(two, [Part::Name, Part::Name]))
        || parts.iter().any(
            |part| matches!(part, Part::Either(either) if either.iter().any(|parts| merges(parts))),
        )
}

fn parts() -> impl Strategy<Value = Parts> {
    (any::<bool>(), prop::collection::vec(part(), 1..6), any::<bool>())
        .prop_map(|(rooted, parts, directory)| Parts { rooted, parts, directory })
        .prop_filter("it means its parts", |made| is_plain(&made.parts))
}

fn name() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(LETTERS), 1..4)
        .prop_map(String::from_iter)
        .prop_filter("a name", |name| name != "." && name != "..")
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..5).prop_map(|names| names.join("/"))
}

fn filter(include: &[Parts], exclude: &[Parts]) -> Filter {
    let texts = |patterns: &[Parts]| patterns.iter().map(Parts::text).collect::<Vec<_>>();
    Filter::new(&texts(include), &texts(exclude)).unwrap()
}

fn patterns() -> impl Strategy<Value = (Vec<Parts>, Vec<Parts>)> {
    (prop::collection::vec(parts(), 0..2), prop::collection::vec(parts(), 0..3))
}

/// Whether the rules let a file take part.
fn allowed(include: &[Parts], exclude: &[Parts], file: &str) -> bool {
    !exclude.iter().any(|pattern| pattern.excludes(file))
        && (include.is_empty() || include.iter().any(|pattern| pattern.includes(file)))
}

proptest! {
    #[test]
    fn a_filter_agrees_with_an_independent_implementation(
        (include, exclude) in patterns(),
        paths in prop::collection::vec(path(), 1..20),
    ) {
        let filter = filter(&include, &exclude);
        for path in &paths {
            let takes = !filter.excludes_above(path) && filter.takes(path);
            let texts = || exclude.iter().map(Parts::text).collect::<Vec<_>>();
            prop_assert_eq!(takes, allowed(&include, &exclude, path), "{} {:?}", path, texts());
        }
        for (pattern, made) in filter.exclude.iter().zip(&exclude) {
            let acts = paths.iter().any(|path| made.excludes(path));
            prop_assert!(acts || pattern.is_unused(), "{} has matched nothing", made.text());
        }
    }

    #[test]
    fn a_directory_is_searched_if_its_paths_may_match(
        (include, exclude) in patterns(),
        paths in prop::collection::btree_set(path(), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut files = BTreeSet::new();
        for path in paths {
            let at = dir.path().join(&path);
            // A file cannot have the path of an existing directory.
            if std::fs::create_dir_all(at.parent().unwrap()).is_ok() && std::fs::write(at, "").is_ok() {
                files.insert(path);
            }
        }
        let found = scan(dir.path(), &filter(&include, &exclude)).unwrap().tree;
        let found: BTreeSet<_> = found.into_iter().filter(|(_, entry)| !entry.is_directory()).map(|(path, _)| path).collect();
        let allowed: BTreeSet<_> = files.into_iter().filter(|file| allowed(&include, &exclude, file)).collect();
        prop_assert_eq!(found, allowed);
    }
}
